"""``predictions``: outputs that lie in files, of any format that is read, or as ids with triples and no texts."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tripleaudit.corpora.bundled import is_bundle
from tripleaudit.corpora.corpus import RawSentence, RawTriple, build_corpus
from tripleaudit.corpora.model import Sentence, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.common import Probe
from tripleaudit.corpora.readers.records import Mapped
from tripleaudit.corpora.readers.row_files import first_row, read_rows
from tripleaudit.descriptors import SystemKind
from tripleaudit.errors import UserError
from tripleaudit.scoring.sides import folded, load_side
from tripleaudit.systems.asked import Answered, Answers, Asked


def answer(asked: Asked) -> Answered:
    """Return what the files say of the test set; further sentences in them are left out.

    Raises:
        UserError: a file cannot be read, or lacks a sentence of the test set.
    """
    files, settings = asked.job["files"], asked.settings
    if files and not settings.get("format") and not settings.get("columns") and all(map(without_texts, files)):
        return Answered(_by_id(asked, files))
    format, columns = settings.get("format") or "auto", settings.get("columns")
    stored = [
        sentence
        for path in files
        for sentence in (
            read_corpus(path, format, columns=columns).sentences if columns else load_side(path, "predict", format)
        )
    ]
    return Answered(matched(asked.sentences, stored, ", ".join(Path(path).name for path in files)))


def without_texts(path: str | Path) -> bool:
    """Whether a file has ids and triples, as programs answer, and no texts."""
    if is_bundle(Path(path)):
        return False
    first = first_row(Probe(path))
    return "id" in first and isinstance(first.get("triples"), list) and Mapped().lacks(first) == ["text"]


def _by_id(asked: Asked, files: Sequence[str]) -> list[Sentence]:
    """Return the sentences of the test set with what the files say under their ids.

    Raises:
        UserError: a sentence is missing or comes twice, or a triple has another form.
    """
    answers, wanted = Answers(asked), {sentence.id for sentence in asked.sentences}
    for path in files:
        for where, row in read_rows(path):
            if not isinstance(row, dict) or str(row.get("id")) in wanted:
                answers.add(row, where)
    source = ", ".join(Path(path).name for path in files)
    if answers.open:
        raise UserError(
            f"{source}: has {len(answers.rows)} of the {len(wanted)} sentences of the test set; the first that is "
            f"missing is {next(iter(answers.open))!r}; expected all of them, by their ids"
        )
    return answers.sentences(source)


def matched(sentences: Sequence[Sentence], stored: Sequence[Sentence], source: str) -> list[Sentence]:
    """Return each sentence with the triples of the stored one that has its id and text, else of one with its text.

    Texts are the same up to blanks and accents; places are then looked for anew.

    Raises:
        UserError: a sentence is missing.
    """
    by_id = {sentence.id: sentence for sentence in stored}
    by_text: dict[str, list[Sentence]] = defaultdict(list)
    for sentence in reversed(stored):
        by_text[folded(sentence.text)].append(sentence)
    found: list[Sentence] = []
    absent: list[Sentence] = []
    for sentence in sentences:
        guess = by_id.get(sentence.id)
        if guess is None or folded(guess.text) != folded(sentence.text):
            same = by_text.get(folded(sentence.text), [])
            guess = (same.pop() if len(same) > 1 else same[0]) if same else None
        if guess is None:
            absent.append(sentence)
        else:
            found.append(_moved(guess, sentence))
    if absent:
        raise UserError(
            f"{source}: has {len(found)} of the {len(sentences)} sentences of the test set; the first that is missing "
            f"is {absent[0].id!r} ({absent[0].text[:60]!r}); expected all of them, by their ids or their texts"
        )
    return found


def _moved(guess: Sentence, sentence: Sentence) -> Sentence:
    if guess.text == sentence.text:
        return Sentence(sentence.id, sentence.text, guess.triples)
    plain = [
        RawTriple(*triple.strings, subject_type=triple.subject.type, object_type=triple.object.type)
        for triple in guess.triples
    ]
    placed = build_corpus([RawSentence(sentence.id, sentence.text, plain, sentence.id)], source="", format="").sentences
    scores = {triple.strings: triple.score for triple in guess.triples}
    triples = [Triple(t.subject, t.relation, t.object, scores.get(t.strings)) for t in placed[0].triples]
    return Sentence(sentence.id, sentence.text, tuple(triples))


KIND = SystemKind(
    name="predictions",
    label="stored predictions",
    order=1,
    answer=answer,
    options=("format", "columns", "training"),
)
