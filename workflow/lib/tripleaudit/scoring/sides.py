"""Gold sentences and predictions side by side, from any format and checked to belong together."""

import logging
import unicodedata
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers.given import Given
from tripleaudit.errors import UserError

log = logging.getLogger(__name__)


def load_pair(
    gold: str | Path | Given,
    predictions: str | Path | Given,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    predicted_columns: Mapping[str, str] | None = None,
) -> tuple[list[Sentence], list[Sentence]]:
    """Read and align a gold file and a prediction file (the same file, if it stores both).

    Args:
        gold: any corpus format; of stored predictions (``{"text", "predict", "truth"}``) the ``truth``.
        predictions: any corpus format; of stored predictions the ``predict``.
        format: of the corpus files; ``auto`` to tell it from the content.
        columns: which column of them is what; of predictions in a form that is told from the content, nothing.
        predicted_columns: which column of the predictions is what, wherever their form shows otherwise.

    Raises:
        UserError: a file cannot be read, or the two do not fit together.
    """
    from tripleaudit.corpora.readers import read_corpus

    right = load_side(gold, "truth", format, columns)
    if isinstance(predictions, Given):
        predictions.beside = right
    if predicted_columns:
        guess = read_corpus(predictions, columns=predicted_columns).sentences
    else:
        guess = load_side(predictions, "predict", format, columns)
    return right, align(right, guess, str(gold), str(predictions))


def load_side(
    path: str | Path | Given, side: str, format: str = "auto", columns: Mapping[str, str] | None = None
) -> list[Sentence]:
    """Read one file; ``side`` (``predict`` or ``truth``) says what to take from the stored-prediction form.

    Predictions often have another format than the corpus, so theirs is told from the content wherever it shows.
    """
    from tripleaudit.corpora.readers import detect_format, read_corpus

    if isinstance(path, Given):
        return read_corpus(path, columns={} if side == "predict" and path.usual() else columns).sentences
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

    They are matched by id if both sides have the same ids, each once, and the texts agree; else by text, in any order;
    else by position. A pair's texts must be the same up to blanks and accents, in which copies of one corpus differ.

    Raises:
        UserError: ids repeat or are missing, the numbers of sentences differ, or two texts differ.
    """
    place = {sentence.id: index for index, sentence in enumerate(predictions)}
    same = len(place) == len(predictions) == len(gold) and set(place) == {sentence.id for sentence in gold}
    ordered = [predictions[place[sentence.id]] for sentence in gold] if same else list(predictions)
    if not _agree(gold, ordered):
        ordered = _by_text(gold, predictions) or ordered
    if len(gold) != len(ordered):
        raise UserError(
            f"{predictions_name}: {len(predictions)} predictions for the {len(gold)} sentences of {gold_name}; "
            f"expected one for each sentence, in any order, with the same ids or texts{_missing(gold, predictions)}"
        )
    respaced = 0
    for number, (right, guess) in enumerate(zip(gold, ordered, strict=True), 1):
        if right.text == guess.text:
            continue
        if folded(right.text) != folded(guess.text):
            raise UserError(
                f"{predictions_name}: sentence {number} (id {guess.id!r}) reads {_shown(guess.text)}, but {gold_name} "
                f"has {_shown(right.text)} there; expected predictions for the same sentences"
            )
        respaced += 1
    if respaced:
        log.warning("%s: %d texts differ from %s in blanks or accents only", predictions_name, respaced, gold_name)
    return ordered


def folded(text: str) -> str:
    """Return a text without blanks and accents, in which copies of one corpus differ."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not char.isspace() and not unicodedata.combining(char))


def _agree(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> bool:
    return len(gold) == len(predictions) and all(
        right.text == guess.text or folded(right.text) == folded(guess.text)
        for right, guess in zip(gold, predictions, strict=True)
    )


def _by_text(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> list[Sentence] | None:
    """Return the predictions by their texts, repeated ones in their order; None if some text has no partner."""
    waiting: dict[str, deque[Sentence]] = defaultdict(deque)
    if len({sentence.text for sentence in predictions}) < len(predictions):
        log.warning("some texts stand several times; predictions for them are taken in the order that they have")
    for guess in predictions:
        waiting[folded(guess.text)].append(guess)
    found = [waiting[key].popleft() if waiting[key] else None for key in (folded(right.text) for right in gold)]
    return None if None in found or any(waiting.values()) else found


def _missing(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> str:
    known = {folded(guess.text) for guess in predictions}
    absent = [right for right in gold if folded(right.text) not in known]
    if not absent or len(absent) == len(gold):
        return "" if not absent else "; no text is the same"
    return f"; no prediction for {len(absent)} of them, such as id {absent[0].id!r}: {_shown(absent[0].text)}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
