"""Inputs of tables: the frames of a study, audits, further files, and the table's options."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.scoring.matching import PRIMARY, check_matching
from tripleaudit.scoring.scores import read_scores
from tripleaudit.tables.result_frames import ResultFrames, count_frame, score_frame
from tripleaudit.tables.study_facts import StudyFacts, read_facts

if TYPE_CHECKING:
    import pandas as pd

OPTIONS: Final = ("matching", "digits", "caption", "style", "by")


@dataclass
class TableInputs:
    """Everything that a builder may read.

    Attributes:
        frames: scores and counts of the study.
        audits: ``(corpus, protocol)`` -> audit (:mod:`tripleaudit.tables.audits`).
        options: of the table, :data:`OPTIONS`.
        files: further files by kind, for tables that need something else.
    """

    frames: ResultFrames = field(default_factory=ResultFrames)
    audits: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    files: dict[str, list[Path]] = field(default_factory=dict)

    @property
    def scores(self) -> "pd.DataFrame":
        """Every score of every run."""
        return self.frames.scores

    @property
    def runs(self) -> "pd.DataFrame":
        """The runs with scores, in the order of the scores file."""
        return self.frames.runs

    @property
    def cells(self) -> "pd.DataFrame":
        """Means over seeds with deviation, interval, seeds, cases and marks.

        docs/reference/python.md describes the columns. ``frames.select_cells`` computes a part.
        """
        return self.frames.select_cells()

    @property
    def counts(self) -> "pd.DataFrame":
        """Correct, predicted and gold triples of every sentence, by run and matching rule."""
        return count_frame(self.frames.count_files)

    @property
    def facts(self) -> StudyFacts:
        """Facts of trainings and systems."""
        return self.frames.facts

    @property
    def reasons(self) -> dict[tuple[str, str, str], str]:
        """``(system, corpus, protocol)`` -> external reason why it finds almost nothing."""
        untrained = self.facts.untrained
        reasons: dict[tuple[str, str, str], str] = {}
        if not untrained:  # the counts need not be read
            return reasons
        for (corpus, protocol, _, _, extractor, _), by_seed in self.frames.counts.items():
            for counts in by_seed.values():
                if extractor in untrained and counts.reasons:
                    key = (extractor, corpus, protocol)
                    reasons.setdefault(key, "; ".join(counts.reasons))
        return reasons

    @property
    def matching(self) -> str:
        """The matching rule of the table."""
        return check_matching(self.options.get("matching", PRIMARY))

    def digits(self, default: int) -> int:
        """The decimals to show."""
        return int(self.options.get("digits", default))


def load_inputs(
    *,
    scores: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    audits: Sequence[str | Path] = (),
    runs: Sequence[str | Path] = (),
    options: Mapping[str, Any] | None = None,
    files: Mapping[str, Sequence[str | Path]] | None = None,
) -> TableInputs:
    """Read the inputs of tables: files of each kind, any of which may be missing.

    Raises:
        UserError: a file is bad, an option is unknown, or an audit occurs twice.
    """
    check_options(options or {})
    return TableInputs(
        frames=ResultFrames(score_frame(read_scores(list(scores))), counts, read_facts(runs)),
        audits=read_audits(audits),
        options=dict(options or {}),
        files={kind: [Path(path) for path in paths] for kind, paths in (files or {}).items()},
    )


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that no table has."""
    for name in options:
        if name not in OPTIONS:
            raise UserError(
                f"options of the table: unknown option {name!r}; expected one of {', '.join(OPTIONS)}"
            )


def read_audits(paths: Iterable[str | Path]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return audits by corpus and protocol."""
    audits: dict[tuple[str, str], dict[str, Any]] = {}
    for path in paths:
        audit = read_json(path)
        keys = audit.get("keys", {}) if isinstance(audit, dict) else {}
        if "corpus" not in keys or "protocol" not in keys:
            raise UserError(f"{path}: not an audit; expected 'keys' with 'corpus' and 'protocol'")
        key = (keys["corpus"], keys["protocol"])
        if key in audits:
            raise UserError(f"{path}: a second audit of corpus {key[0]!r} and protocol {key[1]!r}")
        audits[key] = audit
    return audits
