"""The cards of a bundle: what is in it and how good it was, and GenBench's evaluation card filled from the study.

The evaluation card (Hupkes et al. 2023) has the five axes of table 7 of zero-cardinality; each experiment of a study
gets a mark on each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tripleaudit import __version__
from tripleaudit.files import read_json
from tripleaudit.protocols.strata import STRATA
from tripleaudit.scoring.counts import SentenceCounts
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.metrics import micro
from tripleaudit.tables.grid import mark_notes
from tripleaudit.tables.render.escape import markdown
from tripleaudit.tables.render.markup import templates

READS = ("exchange/templates/*",)
TEMPLATES: Final = Path(__file__).parent / "templates"
KEYS: Final = ("corpus", "protocol", "training", "testing", "extractor", "noise", "seed")
AXES: Final[Mapping[str, tuple[str, ...]]] = {
    "Motivation": ("Practical", "Cognitive", "Intrinsic", "Fairness"),
    "Generalisation type": (
        "Compositional", "Structural", "Cross task", "Cross language", "Cross domain", "Robustness"
    ),
    "Shift type": ("Covariate", "Label", "Full", "Assumed"),
    "Shift source": ("Naturally occurring", "Partitioned natural", "Generated shift", "Fully generated"),
    "Shift locus": ("Train–test", "Finetune train–test", "Pretrain–train", "Pretrain–test"),
}  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """One kind of experiment and where it stands on the axes; all are practical and about robustness.

    Attributes:
        mark: its sign in the table.
        name: what is tested.
        there: whether runs hold it, by their keys and strata.
        shift, source, locus: on the last three of :data:`AXES`; the locus as table 7 has it, though the encoders are
            pretrained.
    """

    mark: str
    name: str
    there: Callable[[Sequence[SentenceCounts]], bool]
    shift: str
    source: str
    locus: str = "Train–test"

    @property
    def marks(self) -> tuple[str, ...]:
        """Its value on each of :data:`AXES`."""
        return "Practical", "Robustness", self.shift, self.source, self.locus


def _protocol(*starts: str) -> Callable[[Sequence[SentenceCounts]], bool]:
    return lambda runs: any(run.keys.get("protocol", "").startswith(starts) for run in runs)


def _tested_with_zero(runs: Sequence[SentenceCounts]) -> bool:
    return any(run.keys.get("testing") == "wz" for run in runs)


def _stratified(runs: Sequence[SentenceCounts]) -> bool:
    return any(stratum in STRATA for run in runs for stratum in run.strata)


ZERO: Final = "sentences with zero triples at test (zero-cardinality, table 7)"
EXPERIMENTS: Final = (
    Experiment("○", ZERO, _tested_with_zero, "Label", "Naturally occurring"),
    Experiment("△", "triples that training has not shown, by strata", _stratified, "Covariate", "Partitioned natural"),
    Experiment(
        "□", "rearranged and overlap-sifted splits", _protocol("rearranged", "sift"), "Covariate", "Partitioned natural"
    ),
    Experiment("◇", "augmented test sentences", _protocol("augmented"), "Covariate", "Generated shift"),
    Experiment("▽", "relations that were held out of training", _protocol("unseen"), "Label", "Partitioned natural"),
)
GENERATIVE: Final = Experiment(
    "☆",
    "language models that were not trained on the task",
    lambda runs: False,  # seen by their files
    "Assumed",
    "Naturally occurring",
    "Pretrain–test",
)


def evaluation_card(folder: Path, runs: Sequence[SentenceCounts]) -> dict[str, Any]:
    """Return ``{"experiments": {mark: name}, "axes": {axis: {value: [marks]}}}`` of the study in ``folder``."""
    found = [one for one in EXPERIMENTS if one.there(runs)]
    if next((folder / "generative").glob("*/*/answers.jsonl"), None) or _language_models(folder / "systems.json"):
        found.append(GENERATIVE)
    axes = {
        axis: {value: [one.mark for one in found if one.marks[place] == value] for value in values}
        for place, (axis, values) in enumerate(AXES.items())
    }
    return {"experiments": {one.mark: one.name for one in found}, "axes": axes}


def _language_models(facts: Path) -> bool:
    """Whether a language model was among the systems of a study and answered."""
    listed = read_json(facts) if facts.is_file() else []
    return any(one.get("kind") == "endpoint" and not one.get("failed") for one in listed)


def results_card(
    folder: Path, name: str, runs: Sequence[SentenceCounts], marks: Sequence[str], card: Mapping[str, Any]
) -> str:
    """Return the README of a bundle: a hub's metadata, systems and scores, evaluation card, provenance, reading.

    ``marks`` are those of each run's training, as tables have them.
    """
    trained = [read_json(path) for path in (folder / "models").rglob("provenance.json")]
    versions = [f"{name} {version}" for one in trained for name, version in one.get("packages", {}).items() if version]
    return (
        templates(TEMPLATES, markdown)
        .get_template("results-card.md")
        .render(
            name=name,
            version=__version__,
            matching=PRIMARY,
            predictions=[
                path.relative_to(folder).as_posix() for path in sorted((folder / "predictions").rglob("*.parquet"))
            ],
            systems=[_system(run, mark) for run, mark in zip(runs, marks, strict=True)],
            notes=mark_notes("".join(marks)),
            card=card,
            code=sorted({_commit(one.get("git") or {}) for one in trained}),
            packages=sorted(set(versions)),
            devices=sorted({str(one.get("device")) for one in trained}),
            settings=(folder / "settings.json").is_file(),
        )
    )


def _system(run: SentenceCounts, mark: str) -> list[str]:
    counts = run.counts.get(PRIMARY)
    score = micro(next(iter(run.counts.values())) if counts is None else counts)
    values = (f"{100 * value:.1f}{mark}" for value in (score.precision, score.recall, score.f1))
    return [*(run.keys.get(key, "") for key in KEYS), str(score.sentences), *values]


def _commit(state: Mapping[str, Any]) -> str:
    return f"commit {state['commit']}{'' if state.get('clean') else ' with changes'}" if state else "no checkout"
