"""``predictions``: stored outputs in any readable format, or ids with triples."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import RawSentence, RawTriple, build_corpus
from tripleaudit.corpora.model import Sentence, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.records import PREDICTED_TRIPLES
from tripleaudit.corpora.readers.side import Side
from tripleaudit.scoring.sides import (
    folded,
    load_side,
    partners,
    rows_without_texts,
    without_texts,
)
from tripleaudit.systems.queries import Answered, Answers, Query
from tripleaudit.systems.spec import SystemKind


def answer(query: Query) -> Answered:
    """Return what the files say of the test set; further sentences in them are left out.

    Raises:
        UserError: a file cannot be read, two have the same sentence, or one of the test set is in
            none.
    """
    files, settings = query.job["files"], query.settings
    format, columns = settings.get("format") or "auto", settings.get("columns")
    source = ", ".join(Path(path).name for path in files)
    if files and all(without_texts(path, True, format, columns) for path in files):
        stored = _by_id(query, files, source, format, columns)
    elif columns:
        stored = _joined(
            {
                path: read_corpus(path, format, columns=columns, side="predict").sentences
                for path in files
            }
        )
    else:
        stored = _joined({path: load_side(path, "predict", format) for path in files})
    return Answered(matched(query.sentences, stored, source))


def _joined(parts: Mapping[str, Sequence[Sentence]]) -> list[Sentence]:
    """Return the sentences of all files of one output.

    Raises:
        UserError: a sentence stands in two of them.
    """
    where: dict[tuple[str, str], str] = {}
    for path, sentences in parts.items():
        for sentence in sentences:
            first = where.setdefault((sentence.id, sentence.text), path)
            if first != path:
                raise UserError(
                    f"{path}: has the sentence {sentence.id!r} ({sentence.text[:60]!r}) of {first}, too; several files "
                    "are parts of one output, expected each sentence in one (another seed is a system of its own)"
                )
    return [sentence for sentences in parts.values() for sentence in sentences]


def _by_id(
    query: Query,
    files: Sequence[str],
    source: str,
    format: str,
    columns: Mapping[str, str] | None,
) -> list[Sentence]:
    """Return the sentences of the test set about which the files say something under their ids.

    Raises:
        UserError: a sentence comes twice, or a triple has another form.
    """
    answers, wanted = Answers(query), {sentence.id for sentence in query.sentences}
    for path in files:
        side = Side("predict", path, PREDICTED_TRIPLES)
        for where, row in side.rows(rows_without_texts(path, format, columns)):
            if not isinstance(row, dict) or str(row.get("id")) in wanted:
                answers.add(row, where)
    return answers.sentences(source)


def matched(
    sentences: Sequence[Sentence], stored: Sequence[Sentence], source: str
) -> list[Sentence]:
    """Return sentences with the stored triples of the same id and text, else of the text.

    Texts are the same up to blanks and accents; offsets are then looked for again.

    Raises:
        UserError: a sentence is missing.
    """
    found, _ = partners(sentences, stored)
    by_text = {
        folded(sentence.text): sentence for sentence in reversed(stored)
    }  # a stored text may serve several
    found = [
        guess or by_text.get(folded(sentence.text))
        for guess, sentence in zip(found, sentences, strict=True)
    ]
    absent = [sentence for guess, sentence in zip(found, sentences, strict=True) if guess is None]
    if absent:
        raise UserError(
            f"{source}: has {len(found) - len(absent)} of the {len(sentences)} sentences of the test set; the first "
            f"that is missing is {absent[0].id!r} ({absent[0].text[:60]!r}); expected all of them, by their ids or "
            "their texts"
        )
    return [
        _moved(guess, sentence) for guess, sentence in zip(found, sentences, strict=True) if guess
    ]


def _moved(guess: Sentence, sentence: Sentence) -> Sentence:
    if guess.text == sentence.text:
        return Sentence(sentence.id, sentence.text, guess.triples)
    plain = [
        RawTriple(*triple.strings, subject_type=triple.subject.type, object_type=triple.object.type)
        for triple in guess.triples
    ]
    placed = build_corpus(
        [RawSentence(sentence.id, sentence.text, plain, sentence.id)], source="", format=""
    ).sentences
    scores = {triple.strings: triple.score for triple in guess.triples}
    triples = [
        Triple(t.subject, t.relation, t.object, scores.get(t.strings)) for t in placed[0].triples
    ]
    return Sentence(sentence.id, sentence.text, tuple(triples))


KIND = SystemKind(
    name="predictions",
    label="stored predictions",
    order=1,
    answer=answer,
    options=("format", "columns", "training"),
)
