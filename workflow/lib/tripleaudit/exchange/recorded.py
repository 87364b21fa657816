"""Sentences behind counts, located by the provenance of the scores."""

from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json, sha256
from tripleaudit.scoring.scores import sidecar_of

ROLES = ("gold", "predictions", "decisions")


def sidecar_in(study: Path, counts: Path) -> Path:
    """Return where the provenance of the scores lies that counts of a study belong to."""
    return sidecar_of(study / "scores" / counts.relative_to(study / "counts"))


def inputs_of(study: Path, counts: Path) -> dict[str, Path | None]:
    """Return the recorded files of :data:`ROLES` behind counts; None for missing files.

    Raises:
        UserError: the scores have no provenance, or a file has changed since.
    """
    recorded = read_json(sidecar_in(study, counts)).get("inputs", {})
    return {role: _now(study, recorded[role], counts) for role in ROLES if role in recorded}


def _now(study: Path, recorded: dict[str, str], counts: Path) -> Path | None:
    """Return where a file lies in the study now, whatever folder it was scored in."""
    inside = Path(recorded["path"])
    parts = inside.relative_to(inside.anchor).parts  # an absolute path would lead out of this study
    for start in range(len(parts)):
        path = Path(study, *parts[start:])
        if path.is_file():
            if sha256(path) != recorded.get("sha256"):
                raise UserError(
                    f"{path}: has changed since {counts} was counted from it; score it again"
                )
            return path
    return None
