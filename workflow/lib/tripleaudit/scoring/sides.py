"""Gold sentences and predictions side by side, from any format and checked to belong together."""

import filecmp
import logging
import os
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.wording import counted
from tripleaudit.corpora.corpus import Corpus, build_corpus, with_left_out
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers import detect_format, read_corpus, resolve_format
from tripleaudit.corpora.readers.given import Given
from tripleaudit.corpora.readers.records import PREDICTED_TRIPLES, Mapped, decoded
from tripleaudit.corpora.readers.row_files import Probe, Row, Rows, read_rows
from tripleaudit.corpora.readers.side import Side, has_both_sides, with_side
from tripleaudit.corpora.remarks import say
from tripleaudit.corpora.spec import FORMATS, CorpusFormat

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
    warn: bool = True,
) -> tuple[list[Sentence], list[Sentence]]:
    """Read and align a gold file and a prediction file (the same file, if it stores both).

    Args:
        gold: any corpus format; of stored predictions (``{"text", "predict", "truth"}``) the
            ``truth``.
        predictions: any corpus format; of stored predictions the ``predict``.
        format: of the corpus files; ``auto`` to recognise it by its content.
        columns: which column of them is what; of predictions in a form that is recognised from the
            content, nothing.
        predicted_columns: which column of the predictions is what, wherever their form shows
            otherwise.
        predicted_format: of the predictions alone.
        missing: ``empty`` takes sentences without a prediction as without triples, which is warned
            of.
        warn: of gold sentences and triples that occur more than once.

    Raises:
        UserError: a file cannot be read, or the two do not fit together.
    """
    corpus = _read_side(gold, "truth", format, columns)
    if warn:
        warn_of_copies(corpus, str(gold))
    right = corpus.sentences
    if isinstance(predictions, Given):
        predictions.gold = right
    reader = None
    if not isinstance(predictions, Given):
        reader = _reader_with_gold(predictions, predicted_format)
    if reader is not None and not isinstance(predictions, Given):
        guess = _read_with_gold(reader, predictions, gold)
    elif not isinstance(predictions, Given) and without_texts(
        predictions, False, predicted_format, predicted_columns
    ):
        guess = _completed(predictions, right, predicted_format, predicted_columns)
    elif predicted_columns or predicted_format != "auto":
        guess = read_corpus(
            predictions, predicted_format, columns=predicted_columns, side="predict"
        ).sentences
    else:
        guess = load_side(predictions, "predict", format, columns)
    if missing == "empty":
        guess = _filled(right, guess, str(predictions))
    files = str(gold), str(predictions)
    if guess == right and all(map(os.path.isfile, files)) and filecmp.cmp(*files, shallow=False):
        log.warning(
            "%s: the same file as the gold %s, so that every triple is correct", predictions, gold
        )
    return right, align(right, guess, str(gold), str(predictions))


def _reader_with_gold(path: str | Path, format: str) -> CorpusFormat | None:
    """Return the format of predictions that point into their gold file, None for others."""
    name = _recognised_format(Path(path)) if format == "auto" else format
    spec = FORMATS.get(name)
    return spec if spec is not None and spec.read_with_gold is not None else None


def _read_with_gold(
    reader: CorpusFormat, path: str | Path | Given, gold: str | Path | Given
) -> list[Sentence]:
    """Return the predictions of a file that points into its gold file."""
    if isinstance(gold, Given):
        raise UserError(f"{path}: points into the file of the gold set; expected that as a path")
    assert reader.read_with_gold is not None
    raw = with_left_out(reader.read_with_gold(Path(str(path)), Path(gold)), path)
    corpus = build_corpus(raw, source=str(path), format=reader.name)
    say(corpus.report)
    return corpus.sentences


def without_texts(
    path: str | Path,
    ids: bool = False,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
) -> bool:
    """Return whether a file has rows of triples without texts.

    Programs answer so, and some packages dump their graphs so.

    Args:
        path: of a file.
        ids: the rows need ids, and their triples under that name.
        format: of the file; ``auto`` recognises it from the content.
        columns: which column of the file is what.
    """
    path = Path(path)
    if path.suffix == ".zip" or not path.exists():
        return False
    name = _recognised_format(path, format, columns)
    if name:
        rows = FORMATS[name].rows_without_texts
        if rows is None:
            return False
        found = (row for _, row in rows(path, columns))
        return any("text" not in row and (not ids or "id" in row) for row in found)
    if path.is_dir() or columns or format != "auto":
        return False
    row, mapped = with_side(Probe(path).row, "predict"), Mapped(predicts=True)
    triples = row.get("triples") if ids else mapped.find(row, "triples")
    return (
        isinstance(decoded(triples), list)
        and mapped.lacks(row) == ["text"]
        and (not ids or "id" in row)
    )


def rows_without_texts(
    path: str | Path, format: str = "auto", columns: Mapping[str, str] | None = None
) -> Rows:
    """Yield the rows of a file for which :func:`without_texts` is true."""
    name = _recognised_format(Path(path), format, columns)
    rows = FORMATS[name].rows_without_texts if name else None
    return rows(Path(path), columns) if rows else read_rows(path)


def holds_gold(path: str | Path) -> bool:
    """Return whether a file of predictions holds their gold triples, too."""
    path = Path(path)
    return path.is_file() and path.suffix != ".zip" and has_both_sides(Probe(path).row)


def _recognised_format(
    path: Path, format: str = "auto", columns: Mapping[str, str] | None = None
) -> str:
    """Return the name of the format of a file, the empty string where none fits."""
    try:
        return resolve_format(path, format, columns)
    except UserError:
        return ""


def _completed(
    path: str | Path | Given,
    gold: Sequence[Sentence],
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
) -> list[Sentence]:
    """Return gold sentences with predictions without texts, by ids or else by order.

    Raises:
        UserError: an id is none of the gold's or comes twice, or rows without ids are not one for
            each sentence.
    """
    side = Side("predict", path, PREDICTED_TRIPLES)
    rows = rows_without_texts(str(path), format, columns)
    listed, mapped = list(side.rows(rows)), Mapped(predicts=True)
    named = all(isinstance(row, dict) and row.get("id") is not None for _, row in listed)
    if not named and len(listed) != len(gold):
        raise UserError(
            f"{path}: {len(listed)} rows without texts and ids for {len(gold)} sentences; expected one for each, in "
            "their order, or ids"
        )
    raw, open_ = [], {sentence.id: sentence.text for sentence in gold}
    for number, (where, row) in enumerate(listed):
        name = str(row["id"]) if named else gold[number].id
        if name not in open_:
            state = (
                "comes a second time"
                if name in {each.id for each in gold}
                else "is no id of the gold"
            )
            raise UserError(
                f"{where}: {name!r} {state}; expected each id once, where there are no texts"
            )
        full = Row({**row, "id": name, "text": open_.pop(name)}, getattr(row, "left_out", ()))
        raw.append(mapped.sentence(full, where, number))
    corpus = build_corpus(raw, source=str(path), format="answers")
    say(corpus.report)
    return corpus.sentences


def _filled(gold: Sequence[Sentence], predictions: Sequence[Sentence], name: str) -> list[Sentence]:
    """Return a prediction for every gold sentence, an empty one where there is none."""
    found, rest = partners(gold, predictions)
    if rest:
        raise UserError(
            f"{name}: the prediction {rest[0].id!r} ({_shown(rest[0].text)}) is for no gold sentence"
        )
    if absent := [right.id for right, guess in zip(gold, found, strict=True) if guess is None]:
        log.warning(
            "%s: %d of %d sentences have no prediction and count as without triples, such as %s",
            name, len(absent), len(gold), " and ".join(map(repr, absent[:2])),
        )  # fmt: skip
    return [
        guess or Sentence(right.id, right.text) for right, guess in zip(gold, found, strict=True)
    ]


def load_side(
    path: str | Path | Given,
    side: str,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
) -> list[Sentence]:
    """Read one file; ``side`` (``predict`` or ``truth``) says what to read of rows that hold both.

    Predictions often have another format than the corpus, so theirs is recognised from the content
    wherever it shows.
    """
    return _read_side(path, side, format, columns).sentences


def _read_side(
    path: str | Path | Given, side: str, format: str, columns: Mapping[str, str] | None
) -> Corpus:
    if isinstance(path, Given):
        unnamed = side == "predict" and path.usual()
        return read_corpus(path, columns={} if unnamed else columns, side=side)
    name: str = format
    options: dict[str, Any] = {"columns": columns}
    if side == "predict" or (format == "auto" and not columns):
        try:
            name, options = detect_format(path), {}
        except UserError:
            if format == "auto" and not columns:
                raise
    return read_corpus(path, format=name, side=side, **options)


def warn_of_copies(corpus: Corpus, name: str) -> None:
    """Warn of gold sentences whose text occurs again, and of triples that do within a sentence."""
    triples_of_text: dict[str, set[tuple[str, str, str]]] = {}
    copies: list[Sentence] = []
    contradictory: list[Sentence] = []
    for sentence in corpus.sentences:
        if not sentence.text:  # lists of triples have none
            continue
        triples = {triple.strings for triple in sentence.triples}
        first = triples_of_text.setdefault(folded(sentence.text), triples)
        if first is not triples:
            copies.append(sentence)
        if first != triples:
            contradictory.append(sentence)
    if copies:
        number = counted(len(copies), "sentence{s} repeat{v} the text of an earlier one")
        differ = f", {len(contradictory)} of them with other triples" if contradictory else ""
        example = _described((contradictory or copies)[0])
        log.warning("%s: %s%s, such as %s; each is scored", name, number, differ, example)
    if repeated := corpus.report.duplicates:
        log.warning(
            "%s: %s",
            name,
            counted(repeated, "triple{s} occur{v} again in the sentence and count{v} once"),
        )


def align(
    gold: Sequence[Sentence], predictions: Sequence[Sentence], gold_name: str, predictions_name: str
) -> list[Sentence]:
    """Return the predictions in the order of the gold sentences, as :func:`partners` finds them.

    Raises:
        UserError: a sentence or a prediction has no partner.
    """
    found, rest = partners(gold, predictions)
    if len(gold) != len(predictions):
        problems = _missing(gold, found)
        if any(found):
            problems += _extra(gold, rest)
        raise UserError(
            f"{predictions_name}: {len(predictions)} predictions for the {len(gold)} sentences of {gold_name}; "
            f"expected one for each sentence, in any order, with the same ids or texts{problems}"
        )
    if rest:
        number = found.index(None)
        right = gold[number]
        guess = next((each for each in rest if each.id == right.id), rest[0])
        raise UserError(
            f"{predictions_name}: sentence {number + 1} (id {guess.id!r}) reads {_shown(guess.text)}, but {gold_name} "
            f"has {_shown(right.text)} there; expected predictions for the same sentences"
        )
    ordered = [guess for guess in found if guess]
    pairs = list(zip(gold, ordered, strict=True))
    if any(right.id != guess.id for right, guess in pairs) and len(
        {each.text for each in ordered}
    ) < len(ordered):
        log.warning(
            "some texts stand several times; predictions for them are taken in the order that they have"
        )
    if respaced := sum(right.text != guess.text for right, guess in pairs):
        log.warning(
            "%s: %d texts differ from %s in blanks or accents only",
            predictions_name,
            respaced,
            gold_name,
        )
    return ordered


def partners(
    gold: Sequence[Sentence], predictions: Sequence[Sentence]
) -> tuple[list[Sentence | None], list[Sentence]]:
    """Return each gold sentence's prediction by id and text, else by text; and the rest.

    Texts are the same up to blanks and accents, in which copies of one corpus differ.
    """
    position = {guess.id: number for number, guess in enumerate(predictions)}
    if len(position) == len(predictions) and _are_in_order(gold, predictions):
        return list(predictions), []
    free: dict[str, dict[int, Sentence]] = defaultdict(dict)
    for number, guess in enumerate(predictions):
        free[folded(guess.text)][number] = guess
    alike = [free[folded(right.text)] for right in gold]
    own = [
        same.pop(position.get(right.id, -1), None) for right, same in zip(gold, alike, strict=True)
    ]
    found = [
        guess or (same.pop(next(iter(same))) if same else None)
        for guess, same in zip(own, alike, strict=True)
    ]
    return found, [guess for same in free.values() for guess in same.values()]


def _are_in_order(gold: Sequence[Sentence], predictions: Sequence[Sentence]) -> bool:
    """Return whether predictions have the ids and texts of gold sentences in order."""
    if len(gold) != len(predictions):
        return False
    for right, guess in zip(gold, predictions, strict=True):
        if right.id != guess.id:
            return False
        if right.text != guess.text and folded(right.text) != folded(guess.text):
            return False
    return True


def folded(text: str) -> str:
    """Return a text without blanks and accents."""
    if text.isascii():
        return "".join(text.split())
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(
        char for char in decomposed if not char.isspace() and not unicodedata.combining(char)
    )


def _missing(gold: Sequence[Sentence], found: Sequence[Sentence | None]) -> str:
    """Return the end of an error about gold sentences without predictions."""
    absent = [right for right, guess in zip(gold, found, strict=True) if guess is None]
    if not absent:
        return ""
    if len(absent) == len(gold):
        return "; no text is the same"
    predicted = {folded(guess.text) for guess in found if guess}
    copies = [right for right in absent if folded(right.text) in predicted]
    others = [right for right in absent if folded(right.text) not in predicted]
    text = ""
    if copies:
        text += (
            f"; {len(copies)} gold sentences repeat the text of another one, such as {_described(copies[0])}, and each "
            "needs a prediction of its own (or remove the copies)"
        )
    if others:
        text += f"; no prediction for {len(others)} of them, such as {_described(others[0])}{EMPTY}"
    return text


def _extra(gold: Sequence[Sentence], rest: Sequence[Sentence]) -> str:
    """Return the end of an error about predictions for no gold sentence, or second ones."""
    texts = {folded(right.text) for right in gold}
    repeated = [guess for guess in rest if folded(guess.text) in texts]
    others = [guess for guess in rest if folded(guess.text) not in texts]
    text = ""
    if repeated:
        text += f"; second predictions for a sentence, such as {_described(repeated[0])}: {len(repeated)} (keep one)"
    if others:
        text += f"; predictions for no gold sentence, such as {_described(others[0])}: {len(others)} (remove them)"
    return text


def _described(sentence: Sentence) -> str:
    return f"id {sentence.id!r}: {_shown(sentence.text)}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
