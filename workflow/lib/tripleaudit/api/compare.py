"""What changed from one prediction file, result folder or study to another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.api.results import Result
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers.given import Given, given
from tripleaudit.exchange import comparison, comparison_page
from tripleaudit.exchange.differences import Difference
from tripleaudit.exchange.scored import ScoredRun, runs_of_study, score_predictions
from tripleaudit.scoring.matching import check_matching, sentence_counts
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.why import hints

if TYPE_CHECKING:
    from tripleaudit.tables.cells import Table

MAX_SENTENCES = 10
"""Changed sentences that the text of a result has."""


class CompareResult(Result):
    """What changed; all differences are the second minus the first."""

    comparison: Any
    """Everything (:class:`tripleaudit.exchange.comparison.Comparison`)."""
    hints: list[str] = []
    """Why no predicted triple of a file is correct, as :func:`tripleaudit.score` explains it."""

    @property
    def pairs(self) -> Sequence[comparison.Compared]:
        """Two systems on one test set each; prediction files make one."""
        return self.comparison.pairs

    @property
    def difference(self) -> Difference:
        """Of the first pair, over all sentences: ``change("f1")``, ``bounds``, ``p``."""
        return self.pairs[0].total

    def to_json(self) -> dict[str, Any]:
        return self.comparison.to_json()

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        for pair in self.pairs:
            rows.append(_difference_row(pair, "all", "all", pair.total))
            for part, block in pair.blocks.items():
                rows += [_difference_row(pair, part, row.label, row) for row in block]
        return rows

    def tables(self) -> "list[Table]":
        tables = [
            comparison_page.details(pair, comparison_page.RELATIONS_IN_TEXT) for pair in self.pairs
        ]
        if len(self.pairs) > 1:
            tables.insert(0, comparison_page.overview(self.comparison))
        return tables

    def __str__(self) -> str:
        return comparison_page.to_terminal(self.comparison, MAX_SENTENCES)


def _difference_row(
    pair: comparison.Compared, part: str, name: str, difference: Difference
) -> dict[str, Any]:
    """Return a row of the frame."""
    bound = difference.bounds["f1"] if difference.bounds else None
    return {
        "pair": pair.name,
        "part": part,
        "name": name,
        "sentences": difference.sentences,
        "first": difference.first[2],
        "second": difference.second[2],
        "difference": difference.change(),
        "low": bound.low if bound else None,
        "high": bound.high if bound else None,
        "p": difference.p,
        "p_holm": difference.corrected,
    }


def compare(
    first: Any,
    second: Any,
    gold: Any = None,
    *,
    train: Any = None,
    matching: str = "exact-string",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    missing: str = "refuse",
    bootstrap: int = 1000,
    shuffles: int = 10_000,
    seed: int = 0,
) -> CompareResult:
    """Compare two systems, result folders or studies: tests, intervals, changed sentences.

    Args:
        first, second: a path to predictions, or to the folder of a study or of some of its runs; a
            data frame, rows, or of each sentence the list of its triples.
        gold: gold triples of two sides that are predictions.
        train: their training set; adds strata.
        matching: a name of :data:`~tripleaudit.scoring.spec.MATCHINGS`.
        format: of files; ``auto`` recognises it by its content.
        columns: ``{role: column}`` where columns have other names than usual.
        missing: ``empty`` takes sentences without a prediction as without triples, ``refuse``
            refuses the file.
        bootstrap: resamples of the intervals; 0: none.
        shuffles: draws of the tests.
        seed: of both.

    Raises:
        UserError: something cannot be read, or the sides do not belong together.
    """
    matching = check_matching(matching)
    options = {"format": format, "columns": columns or {}, "missing": missing}
    gold = None if gold is None else given(gold, "gold")
    train = None if train is None else given(train, "train")
    sides = given(first, "first"), given(second, "second")
    _check_sides(sides, gold, train)
    # both sides have one gold file, whose repeated sentences were named already
    second_options = {**options, "warn": gold is None}
    first_runs = _read_side(sides[0], gold, train, options)
    second_runs = _read_side(sides[1], gold, train, second_options)
    names = str(sides[0]), str(sides[1])
    resampling = {"replicates": bootstrap, "shuffles": shuffles, "seed": seed}
    return CompareResult(
        comparison=comparison.compare(first_runs, second_runs, names, matching, resampling),
        hints=[hint for run in [*first_runs, *second_runs] for hint in _hints_about(run, matching)],
    )


def _hints_about(run: ScoredRun, matching: str) -> list[str]:
    """Return why no predicted triple of a file is correct; empty if one is."""
    if run.given is None:
        return []
    gold, predicted = run.given
    total = micro(sentence_counts(gold, predicted, matching))
    if total.correct:
        return []
    return [f"{run.name}: {hint}" for hint in hints(gold, predicted, total, matching)]


def _check_sides(sides: Sequence[str | Path | Given], gold: Any, train: Any) -> None:
    """Refuse missing paths, files next to folders, and gold triples next to folders."""
    folders = []
    files = []
    for side in sides:
        if isinstance(side, Given):
            files.append(str(side))
        elif not Path(side).exists():
            raise UserError(f"{side}: no such file or folder")
        elif Path(side).is_dir():
            folders.append(str(side))
        else:
            files.append(str(side))
    if folders and files:
        raise UserError(
            f"{files[0]}: predictions cannot be compared with the folder {folders[0]}; give a "
            "prediction file of the study (predictions/…/test.jsonl) and GOLD"
        )
    if folders and (gold is not None or train is not None):
        raise UserError(
            f"{folders[0]}: a study folder has its own gold triples; remove GOLD and --train"
        )


def _read_side(
    side: str | Path | Given, gold: Any, train: Any, options: Mapping[str, Any]
) -> list[ScoredRun]:
    """Return the runs of a side: those of a folder, or one of predictions."""
    if isinstance(side, Given):
        return [score_predictions(gold, side, str(side), train, **options)]
    if Path(side).is_dir():
        return runs_of_study(Path(side))
    return [score_predictions(gold, Path(side), str(side), train, **options)]
