"""Gold sentences and predictions side by side, from any format and checked to belong together."""

import logging
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError

log = logging.getLogger(__name__)


def load_pair(
    gold: str | Path, predictions: str | Path, format: str = "auto", columns: Mapping[str, str] | None = None
) -> tuple[list[Sentence], list[Sentence]]:
    """Read and align a gold file and a prediction file (the same file, if it stores both).

    Args:
        gold: any corpus format; of stored predictions (``{"text", "predict", "truth"}``) the ``truth``.
        predictions: any corpus format; of stored predictions the ``predict``.
        format: of the corpus files; ``auto`` to tell it from the content.
        columns: which column of them is what; of predictions in a form that is told from the content, nothing.

    Raises:
        UserError: a file cannot be read, or the two do not fit together.
    """
    right, guess = load_side(gold, "truth", format, columns), load_side(predictions, "predict", format, columns)
    return right, align(right, guess, str(gold), str(predictions))


def load_side(
    path: str | Path, side: str, format: str = "auto", columns: Mapping[str, str] | None = None
) -> list[Sentence]:
    """Read one file; ``side`` (``predict`` or ``truth``) says what to take from the stored-prediction form.

    Predictions often have another format than the corpus, so theirs is told from the content wherever it shows.
    """
    from tripleaudit.corpora.readers import detect_format, read_corpus

    name: str = format
    options: dict[str, Any] = {"columns": columns}
    if side == "predict" or (format == "auto" and not columns):
        try:
            name, options = detect_format(path), {}
        except UserError:
            if format == "auto" and not columns:
                raise
    if name == "predictions":
        options = {"side": side}
    return read_corpus(path, format=name, **options).sentences


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


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not char.isspace() and not unicodedata.combining(char))


def _missing(gold: Sequence[Sentence], place: dict[str, int]) -> str:
    absent = [sentence.id for sentence in gold if sentence.id not in place]
    return f"; no prediction for id {absent[0]!r}" if absent and len(absent) < len(gold) else ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
