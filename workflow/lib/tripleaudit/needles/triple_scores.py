"""MINEA of triples of one prediction file, as rows of the tidy scores file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.fields import read_rows
from tripleaudit.files import read_jsonl
from tripleaudit.needles import triples
from tripleaudit.needles.pieces import call_rows, status_counts
from tripleaudit.needles.triples import TripleNeedle
from tripleaudit.scoring.scores import Score, keys_of, write_scores

TRIPLES = "triple-needles"


def score_predictions(
    options: Mapping[str, Any],
    needles: str | Path,
    predictions: str | Path,
    keys: Mapping[str, Any],
    out: str | Path,
    calls: str = "",
) -> None:
    """Write the scores of one prediction file.

    Args:
        options: section ``needles/triples`` of the configuration.
        needles, predictions, calls: triple needles of the records, what was predicted, and a model's call log.
    """
    log = [row for _, row in read_jsonl(calls)] if calls else []
    found, expected = load_sentences(predictions), read_rows(needles, TripleNeedle)
    write_scores(out, triple_scores(expected, found, options, keys, log))


def triple_scores(
    needles: Sequence[TripleNeedle],
    predictions: Sequence[Sentence],
    options: Mapping[str, Any],
    keys: Mapping[str, Any],
    calls: Sequence[Mapping[str, Any]] = (),
) -> list[Score]:
    """Compute MINEA of triples for one prediction file, under the protocol ``triple-needles``.

    A system that failed has no predictions, not even empty ones, and so no scores.

    Args:
        calls: call log of a language model, for its coverage.
    """
    own = keys_of({**keys, "protocol": TRIPLES})
    if not predictions:
        return []
    rows = triples.found(needles, predictions)
    scores = [Score(own, *row) for row in triples.triple_rows(rows, options["bins"])]
    predicted, records = triples.spurious(predictions, needles)
    if records:
        scores.append(Score(own, "all", "", "spurious", predicted / records))
    return scores + ([Score(own, *row) for row in call_rows(status_counts(calls))] if calls else [])
