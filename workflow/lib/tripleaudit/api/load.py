"""The results of a finished study as data frames."""

from tripleaudit.tables.frames import StudyFrames, load

__all__ = ["StudyFrames", "load"]
