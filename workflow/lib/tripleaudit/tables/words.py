"""Words that answers and tables share: lists, and the notes under tables."""

from collections.abc import Iterable, Sequence

from tripleaudit.tables.cells import Cell

NOT_MEASURED = "This was not measured in the study."


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


SHOWN = 4


def several(names: Sequence[str]) -> str:
    """A list that stays short: the first names and how many more there are."""
    names = list(names)
    return listed(names) if len(names) <= SHOWN else f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"


def sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


REPORTED = "“reported” is the value that the paper prints; Δ is measured minus reported."
GAPS = "–: not measured."


def chosen(*notes: str | bool | None) -> tuple[str, ...]:
    """Return the notes that are there: ``condition and "note"`` is left out where the condition fails."""
    return tuple(note for note in notes if note)


def reported_note(cells: Iterable[Cell]) -> str:
    """What is said under a table with values of a paper, empty for others."""
    return REPORTED if any(cell.reported is not None for cell in cells) else ""


def gaps_note(cells: Iterable[Cell]) -> str:
    """What is said under a table with gaps, empty for others."""
    return GAPS if any(cell.value is None and cell.text is None for cell in cells) else ""
