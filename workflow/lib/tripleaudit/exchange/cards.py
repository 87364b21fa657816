"""The cards of a bundle: what is in it and how good it was, and GenBench's evaluation card filled from the study.

The evaluation card (Hupkes et al. 2023) has the five axes of table 7 of zero-cardinality; each experiment of a study
gets a mark on each.
"""

from collections.abc import Mapping, Sequence
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


COVARIATE: Final = ("Practical", "Robustness", "Covariate", "Partitioned natural", "Train–test")
LABEL: Final = ("Practical", "Robustness", "Label", "Partitioned natural", "Train–test")
EXPERIMENTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "○": (
        "sentences with zero triples at test (zero-cardinality, table 7)",
        ("Practical", "Robustness", "Label", "Naturally occurring", "Train–test"),
    ),
    "△": ("triples that training has not shown, by strata", COVARIATE),
    "□": ("rearranged and overlap-sifted splits", COVARIATE),
    "◇": (
        "augmented test sentences",
        ("Practical", "Robustness", "Covariate", "Generated shift", "Train–test"),
    ),
    "▽": ("relations that were held out of training", LABEL),
    "☆": (
        "language models that were not trained on the task",
        ("Practical", "Robustness", "Assumed", "Naturally occurring", "Pretrain–test"),
    ),
}
"""Sign of an experiment -> what is tested, and its value on each of :data:`AXES`; the locus as table 7 has it, though
the encoders are pretrained."""


def evaluation_card(folder: Path, runs: Sequence[SentenceCounts]) -> dict[str, Any]:
    """Return ``{"experiments": {mark: name}, "axes": {axis: {value: [marks]}}}`` of the study in ``folder``."""
    protocols = [run.keys.get("protocol", "") for run in runs]
    systems = read_json(folder / "systems.json") if (folder / "systems.json").is_file() else []
    there = {
        "○": any(run.keys.get("testing") == "wz" for run in runs),
        "△": any(stratum in STRATA for run in runs for stratum in run.strata),
        "□": any(protocol.startswith(("rearranged", "sift")) for protocol in protocols),
        "◇": any(protocol.startswith("augmented") for protocol in protocols),
        "▽": any(protocol.startswith("unseen") for protocol in protocols),
        "☆": any((folder / "generative").glob("*/*/answers.jsonl"))
        or any(one.get("kind") == "endpoint" and not one.get("failed") for one in systems),
    }
    found = {mark: EXPERIMENTS[mark] for mark, has in there.items() if has}
    axes = {
        axis: {value: [mark for mark, (_, of) in found.items() if of[position] == value] for value in values}
        for position, (axis, values) in enumerate(AXES.items())
    }
    return {"experiments": {mark: name for mark, (name, _) in found.items()}, "axes": axes}


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
            code=sorted({_commit(one.get("git")) for one in trained}),
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


def _commit(state: Mapping[str, Any] | None) -> str:
    return f"commit {state['commit']}{'' if state.get('clean') else ' with changes'}" if state else "no checkout"
