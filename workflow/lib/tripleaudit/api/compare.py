"""What changed from one prediction file, result folder or study to another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.api.results import Result
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers.given import Given, given
from tripleaudit.exchange import comparison, comparison_page
from tripleaudit.exchange.differences import Difference
from tripleaudit.exchange.scored import ScoredRun, runs_of_files, runs_of_study
from tripleaudit.scoring.matching import check_matching, sentence_counts
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.why import hints

if TYPE_CHECKING:
    from tripleaudit.tables.cells import Table

SHOWN = 10


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
        return [
            {
                "pair": pair.name,
                "part": part,
                "name": "all" if part == "all" else one.label,
                "sentences": one.sentences,
                "first": one.first[2],
                "second": one.second[2],
                "difference": one.change(),
                "low": one.bounds["f1"].low if one.bounds else None,
                "high": one.bounds["f1"].high if one.bounds else None,
                "p": one.p,
                "p_holm": one.corrected,
            }
            for pair in self.pairs
            for part, block in {"all": [pair.total], **pair.blocks}.items()
            for one in block
        ]

    def tables(self) -> "list[Table]":
        several = [comparison_page.overview(self.comparison)] if len(self.pairs) > 1 else []
        return [
            *several,
            *(
                comparison_page.details(pair, comparison_page.RELATIONS_IN_TEXT)
                for pair in self.pairs
            ),
        ]

    def __str__(self) -> str:
        return comparison_page.to_terminal(self.comparison, SHOWN)


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
    right, seen = (
        None if gold is None else given(gold, "gold"),
        None if train is None else given(train, "train"),
    )
    sides = given(first, "first"), given(second, "second")
    runs = [
        _side(sides[0], right, seen, options),
        # both sides have one gold file, whose repeated sentences were named already
        _side(sides[1], right, seen, {**options, "warn": right is None}),
    ]
    names = str(sides[0]), str(sides[1])
    how = {"replicates": bootstrap, "shuffles": shuffles, "seed": seed}
    return CompareResult(
        comparison=comparison.compare(runs[0], runs[1], names, matching, how),
        hints=[hint for side in runs for run in side for hint in _hints_about(run, matching)],
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


def _side(
    side: str | Path | Given, gold: Any, train: Any, options: Mapping[str, Any]
) -> list[ScoredRun]:
    if not isinstance(side, Given):
        path = side = Path(side)
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
        if (gold is not None or train is not None) and path.is_dir():
            raise UserError(
                f"{path}: brings its own gold triples; GOLD and --train go with prediction files"
            )
        if path.is_dir():
            return runs_of_study(path)
    return [runs_of_files(gold, side, str(side), train, **options)]
