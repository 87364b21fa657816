"""Gold sentences and predictions side by side, from any format and checked to belong together."""

import logging
import unicodedata
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError

log = logging.getLogger(__name__)

STORED = "predict-truth"
"""Name of the stored-prediction form: a list of ``{"text", "predict": [[s, r, o], …], "truth": [[s, r, o], …]}``."""


def load_pair(gold: str | Path, predictions: str | Path, format: str = "auto") -> tuple[list[Sentence], list[Sentence]]:
    """Read and align a gold file and a prediction file (the same file, if it stores both).

    Args:
        gold: any corpus format, or the stored-prediction form (its ``truth`` is read).
        predictions: any corpus format, or the stored-prediction form (its ``predict`` is read).
        format: of the corpus files; ``auto`` to tell it from the content.

    Raises:
        UserError: a file cannot be read, or the two do not fit together.
    """
    right, guess = load_side(gold, "truth", format), load_side(predictions, "predict", format)
    return right, align(right, guess, str(gold), str(predictions))


def load_side(path: str | Path, side: str, format: str = "auto") -> list[Sentence]:
    """Read one file; ``side`` (``predict`` or ``truth``) says what to take from the stored-prediction form."""
    from tripleaudit.corpora.readers import read_corpus

    if format in ("auto", STORED) and (format == STORED or _is_stored(path)):
        return _load_stored(path, side)
    return read_corpus(path, format=format).sentences


def align(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], gold_name: str, predictions_name: str
) -> list[Sentence]:
    """Return the predictions in the order of the gold sentences.

    They are matched by id if both sides have the same ids, each once; otherwise by position. Either way a pair's
    texts must be the same up to blanks and accents, in which copies of one corpus differ.

    Raises:
        UserError: ids repeat or are missing, the numbers of sentences differ, or two texts differ.
    """
    place = {sentence.id: index for index, sentence in enumerate(predictions)}
    if len(place) == len(predictions) and set(place) == {sentence.id for sentence in gold} and len(gold) == len(place):
        ordered = [predictions[place[sentence.id]] for sentence in gold]
    elif len(gold) != len(predictions):
        raise UserError(
            f"{predictions_name}: {len(predictions)} predictions for the {len(gold)} sentences of {gold_name}; "
            f"expected one for each sentence, in the same order or with the same ids{_missing(gold, place)}"
        )
    else:
        ordered = list(predictions)
    respaced = 0
    for number, (right, guess) in enumerate(zip(gold, ordered, strict=True), 1):
        if right.text == guess.text:
            continue
        if _folded(right.text) != _folded(guess.text):
            raise UserError(
                f"{predictions_name}: sentence {number} (id {guess.id!r}) reads {_shown(guess.text)}, but {gold_name} "
                f"has {_shown(right.text)} there; expected predictions for the same sentences"
            )
        respaced += 1
    if respaced:
        log.warning("%s: %d texts differ from %s in blanks or accents only", predictions_name, respaced, gold_name)
    return ordered


def _is_stored(path: str | Path) -> bool:
    from tripleaudit.corpora.readers.common import first_character, read_objects

    if first_character(path) not in ("[", "{"):
        return False
    return any(
        "text" in value and ("predict" in value or "truth" in value) for _, value in islice(read_objects(path), 1)
    )


def _load_stored(path: str | Path, side: str) -> list[Sentence]:
    from tripleaudit.corpora.corpus import RawSentence, build_corpus
    from tripleaudit.corpora.readers.common import read_objects, string_triple, take

    def raw() -> Any:
        for number, (where, value) in enumerate(read_objects(path)):
            triples = [string_triple(triple, where) for triple in take(value, side, list, where)]
            yield RawSentence(str(value.get("id", number)), take(value, "text", str, where), triples, where)

    return build_corpus(raw(), source=str(path), format=STORED).sentences


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not char.isspace() and not unicodedata.combining(char))


def _missing(gold: Sequence[Sentence], place: dict[str, int]) -> str:
    absent = [sentence.id for sentence in gold if sentence.id not in place]
    return f"; no prediction for id {absent[0]!r}" if absent and len(absent) < len(gold) else ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
