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
EMPTY = "; --missing empty takes such sentences as without triples"


def load_pair(
    gold: str | Path | Given,
    predictions: str | Path | Given,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    predicted_columns: Mapping[str, str] | None = None,
    predicted_format: str = "auto",
    missing: str = "refuse",
) -> tuple[list[Sentence], list[Sentence]]:
    """Read and align a gold file and a prediction file (the same file, if it stores both).

    Args:
        gold: any corpus format; of stored predictions (``{"text", "predict", "truth"}``) the ``truth``.
        predictions: any corpus format; of stored predictions the ``predict``.
        format: of the corpus files; ``auto`` to tell it from the content.
        columns: which column of them is what; of predictions in a form that is told from the content, nothing.
        predicted_columns: which column of the predictions is what, wherever their form shows otherwise.
        predicted_format: of the predictions alone.
        missing: ``empty`` takes sentences without a prediction as without triples, which is warned of.

    Raises:
        UserError: a file cannot be read, or the two do not fit together.
    """
    from tripleaudit.corpora.readers import read_corpus

    right = load_side(gold, "truth", format, columns)
    if isinstance(predictions, Given):
        predictions.beside = right
    if predicted_format != "auto":
        side: dict[str, Any] = {"side": "predict"} if predicted_format == "predictions" else {}
        guess = read_corpus(predictions, predicted_format, columns=predicted_columns, **side).sentences
    elif predicted_columns:
        guess = read_corpus(predictions, columns=predicted_columns).sentences
    elif not isinstance(predictions, Given) and without_texts(predictions):
        guess = _beside(predictions, right, missing)
    else:
        guess = load_side(predictions, "predict", format, columns)
    if missing == "empty":
        guess = _filled(right, guess, str(predictions))
    return right, align(right, guess, str(gold), str(predictions))


def without_texts(path: str | Path) -> bool:
    """Whether a file has rows of triples without texts, as programs answer and some packages dump their graphs."""
    from tripleaudit.corpora.bundled import is_bundle
    from tripleaudit.corpora.readers.common import Probe
    from tripleaudit.corpora.readers.records import Mapped
    from tripleaudit.corpora.readers.row_files import first_row

    if Path(path).suffix == ".zip" or is_bundle(Path(path)) or not Path(path).is_file():
        return False
    row = first_row(Probe(path))
    mapped = Mapped()
    return isinstance(mapped.find(row, "triples"), list) and mapped.lacks(row) == ["text"]


def _beside(path: str | Path, gold: Sequence[Sentence], missing: str) -> list[Sentence]:
    """Return the sentences of the gold with what a file without texts says under their ids, or else in their order.

    Raises:
        UserError: an id is none of the gold's or comes twice, or there is not one row for each sentence.
    """
    from tripleaudit.corpora.corpus import build_corpus
    from tripleaudit.corpora.readers.records import Mapped
    from tripleaudit.corpora.readers.row_files import read_rows

    rows, mapped = list(read_rows(path)), Mapped()
    known = {sentence.id: sentence for sentence in gold}
    named = all(isinstance(row, dict) and row.get("id") is not None for _, row in rows)
    if not named and len(rows) != len(gold):
        raise UserError(
            f"{path}: {len(rows)} rows without texts and ids for {len(gold)} sentences; expected one for each, in "
            "their order, or ids"
        )
    raw, seen = [], set()
    for number, (where, row) in enumerate(rows):
        name = str(row["id"]) if named else gold[number].id
        if name not in known or name in seen:
            state = "comes a second time" if name in seen else "is no id of the gold"
            raise UserError(f"{where}: {name!r} {state}; expected each id once, where there are no texts")
        seen.add(name)
        raw.append(mapped.sentence({**row, "id": name, "text": known[name].text}, where, number))
    absent = [name for name in known if name not in seen]
    if absent and missing != "empty":
        raise UserError(f"{path}: no prediction for {len(absent)} sentences, such as id {absent[0]!r}{EMPTY}")
    return build_corpus(raw, source=str(path), format="answers").sentences


def _filled(gold: Sequence[Sentence], predictions: Sequence[Sentence], name: str) -> list[Sentence]:
    """Return a prediction for every gold sentence, an empty one where there is none, by id and text, else by text."""
    by_id = {guess.id: guess for guess in predictions}
    waiting: dict[str, deque[Sentence]] = defaultdict(deque)
    for guess in predictions:
        waiting[folded(guess.text)].append(guess)
    found, absent, used = [], [], 0
    for right in gold:
        same = waiting[folded(right.text)]
        own = by_id.get(right.id)
        guess = own if own in same else same[0] if same else None
        if guess is None:
            absent.append(right)
            found.append(Sentence(right.id, right.text))
        else:
            same.remove(guess)
            found.append(guess)
            used += 1
    if used < len(predictions):
        rest = next(each for group in waiting.values() for each in group)
        raise UserError(f"{name}: the prediction {rest.id!r} ({_shown(rest.text)}) is for no gold sentence")
    if absent:
        log.warning(
            "%s: %d of %d sentences have no prediction and count as without triples, such as %s",
            name, len(absent), len(gold), " and ".join(repr(one.id) for one in absent[:2]),
        )  # fmt: skip
    return found


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
    return f"; no prediction for {len(absent)} of them, such as id {absent[0].id!r}: {_shown(absent[0].text)}{EMPTY}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
