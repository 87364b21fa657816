"""Load the gold and predicted sentences that a file of per-sentence counts was computed from.

The *sidecar* of a scores file (its provenance) records the settings of the scoring and the path and
SHA-256 of each input by role.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json, sha256
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.scoring import gate
from tripleaudit.scoring.rows import paired
from tripleaudit.scoring.scores import sidecar_of

ROLES = ("gold", "predictions", "decisions")
"""Recorded inputs; decisions are those of a classifier in front of the extractor."""

Pair = tuple[list[Sentence], list[Sentence]]
"""Gold and predicted sentences."""


def sidecar_in(study: Path, counts: Path) -> Path:
    """Return the path of the provenance that belongs to a counts file of a study."""
    return sidecar_of(study / "scores" / counts.relative_to(study / "counts"))


def study_of(counts: Path) -> Path | None:
    """Return the study folder of a counts file; None if it has no provenance."""
    for folder in counts.parents:
        if folder.name == "counts" and sidecar_in(folder.parent, counts).is_file():
            return folder.parent
    return None


def settings_of(study: Path, counts: Path) -> dict[str, Any]:
    """Return the recorded settings of the scoring that wrote a counts file."""
    settings: dict[str, Any] = read_json(sidecar_in(study, counts)).get("settings", {})
    return settings


def inputs_of(study: Path, counts: Path, roles: Sequence[str] = ROLES) -> dict[str, Path | None]:
    """Return the recorded inputs of a counts file by role; None for missing files.

    Raises:
        UserError: the scores have no provenance, or a file has changed since.
    """
    recorded = read_json(sidecar_in(study, counts)).get("inputs", {})
    return {
        role: _locate_input(study, recorded[role], counts) for role in roles if role in recorded
    }


def scored_sentences(study: Path, counts: Path, ids: Sequence[str]) -> Pair | None:
    """Return gold and predicted sentences in the order of counts; None if files are missing.

    Args:
        study: its folder.
        counts: file of per-sentence counts.
        ids: of the sentences in this file.

    Raises:
        UserError: a file is not the one that was scored.
    """
    if not sidecar_in(study, counts).is_file():
        return None
    settings, files = settings_of(study, counts), inputs_of(study, counts)
    gold_file, prediction_file = files.get("gold"), files.get("predictions")
    if gold_file is None or prediction_file is None or None in files.values():
        return None
    gold, predictions = load_sentences(gold_file), load_sentences(prediction_file)
    if len(predictions) < len(gold):  # the system was queried about some sentences only
        queried = {sentence.id for sentence in predictions}
        gold = [sentence for sentence in gold if sentence.id in queried]
    only_with_triples = settings.get("only_with_triples", False)
    gold, predictions = paired(
        gold, predictions, str(gold_file), str(prediction_file), only_with_triples
    )
    decisions = files.get("decisions")
    if decisions is not None:
        scores = gate.scores_for(predictions, gate.load_decisions(decisions))
        accepted = scores > settings.get("threshold", gate.THRESHOLD)
        predictions = gate.passed(predictions, accepted)
    if [sentence.id for sentence in gold] != list(ids):
        raise UserError(
            f"{gold_file}: has other sentences than {counts}, which was counted from it"
        )
    return gold, predictions


def _locate_input(study: Path, recorded: dict[str, str], counts: Path) -> Path | None:
    """Return the path of a recorded input in the study's folder, which may have been moved.

    The recorded path is shortened from the left until a file of the study matches it.
    """
    recorded_path = Path(recorded["path"])
    # without its root, because an absolute path would lead out of this study
    parts = recorded_path.relative_to(recorded_path.anchor).parts
    for start in range(len(parts)):
        path = Path(study, *parts[start:])
        if path.is_file():
            if sha256(path) != recorded.get("sha256"):
                raise UserError(
                    f"{path}: has changed since {counts} was counted from it; score it again"
                )
            return path
    return None
