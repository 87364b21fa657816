"""Scored runs of a finished study, a part of one or a prediction file."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers.given import Given
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.recorded import Pair, scored_sentences
from tripleaudit.scoring.rows import count_run
from tripleaudit.scoring.sides import holds_gold, load_pair
from tripleaudit.tables.study_facts import UNEQUAL, read_facts

Source = str | Path | Given
PARTS = (
    "counts",
    "predictions",
    "scores",
    "models",
)  # folders of a study whose subfolders are its runs


@dataclass(frozen=True)
class ScoredRun:
    """One run on one test set.

    Attributes:
        name: of the file, for messages; of a study the path of the counts.
        counts: of each sentence, with the keys of the run.
        study: its folder, in which the sentences are found.
        given: gold and predicted sentences, where they are known already.
        mark: what the study's tables mark its scores with, of a training that was still rising or
            may have been.
    """

    name: str
    counts: SentenceCounts
    study: Path | None = None
    given: Pair | None = None
    mark: str = ""

    @property
    def seed(self) -> str:
        return self.counts.keys.get("seed", "")

    @cached_property
    def sentences(self) -> Pair | None:
        """Gold and predicted sentences in the order of counts; None if missing.

        Raises:
            UserError: a file is not the one that was scored.
        """
        if self.given or self.study is None:
            return self.given
        return scored_sentences(self.study, Path(self.name), self.counts.ids)


def score_predictions(
    gold: Source | None,
    predictions: Source,
    name: str,
    train: Source | None,
    missing: str = "refuse",
    warn: bool = True,
    **options: Any,
) -> ScoredRun:
    """Score predictions; without ``gold`` it must hold its gold triples itself.

    Args:
        gold, predictions, train: files or given sentences.
        name: of the system.
        missing: what sentences without a prediction mean, see
            :func:`~tripleaudit.scoring.sides.load_pair`.
        warn: of repeated gold sentences.
        options: format and columns of the files.

    Raises:
        UserError: a file cannot be read, or the two do not belong together.
    """
    from tripleaudit.corpora.readers import read_corpus

    if gold is None and (isinstance(predictions, Given) or not holds_gold(predictions)):
        raise UserError(f"{predictions}: has no gold triples; add GOLD as third argument")
    right, guess = load_pair(
        predictions if gold is None else gold, predictions, missing=missing, warn=warn, **options
    )
    seen = None if train is None else read_corpus(train, **options).sentences
    return ScoredRun(
        str(predictions), count_run(right, guess, {"extractor": name}, seen), given=(right, guess)
    )


def runs_of_study(folder: Path) -> list[ScoredRun]:
    """Return the scored runs of ``results/STUDY`` or a folder such as ``predictions/CORPUS/…``.

    Raises:
        UserError: nothing there was scored.
    """
    study, below = folder, Path()
    if not (folder / "counts").is_dir():
        for above in folder.resolve().parents:
            inside = folder.resolve().relative_to(above)
            if (above / "counts").is_dir() and inside.parts[0] in PARTS:
                study, below = above, Path(*inside.parts[1:])
                break
    found = []
    trainings = study / "trainings.json"
    facts = read_facts([trainings] if trainings.is_file() else [])
    for path in sorted((study / "counts" / below).rglob("*.csv")):
        counts = load_counts(path)
        if counts.ids:  # else a system that answered nothing, and has no row
            mark = facts.training_mark(counts.keys).replace(UNEQUAL, "")  # of pairs of trainings
            found.append(ScoredRun(str(path), counts, study, mark=mark))
    if not found:
        raise UserError(
            f"{folder}: no scored runs in this folder; give results/STUDY of a finished study"
        )
    return found
