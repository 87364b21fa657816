"""What a system is queried for and what it answers: the one form that every kind of system shares.

A text is ``{"id", "text"}``, with ``"relations": {name: description}`` where the system wants them.
An answer is ``{"id", "triples": [...]}``; a triple is ``[subject, relation, object]``, or an object
with these keys whose arguments are strings or spans ``{"start", "end", "text"}``, as in the format
``jsonl`` of corpora. The ``id`` may be left out where answers come in the order of the texts.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import build_corpus
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers.common import shown
from tripleaudit.corpora.readers.records import Mapped
from tripleaudit.corpora.readers.row_files import Row
from tripleaudit.corpora.remarks import say
from tripleaudit.corpora.verbaliser import bare
from tripleaudit.scoring.relation_names import renamed
from tripleaudit.systems.spec import SystemKind


@dataclass(frozen=True)
class Query:
    """One test set as a system sees it.

    Attributes:
        settings: its entry under ``systems``.
        sentences: texts without their triples.
        relations: that there are, with their descriptions (empty where there is none); of the
            training set and the study.
        train: the training sentences, for systems that are shown some.
        job: what a job adds to them: ``threads``, and for language models the section
            ``generative``, the study's name, the model's folder, and whether only stored answers of
            the ``same_address`` are used.
    """

    system: str
    settings: Mapping[str, Any]
    sentences: Sequence[Sentence]
    relations: Mapping[str, str] = field(default_factory=dict)
    train: Sequence[Sentence] = ()
    job: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield texts as JSON for programs and services, with relations if wanted."""
        wanted = self.settings.get("relations") is True and self.relations
        stated = {"relations": dict(self.relations)} if wanted else {}
        yield from (
            {"id": sentence.id, "text": sentence.text, **stated} for sentence in self.sentences
        )


@dataclass(frozen=True)
class Answered:
    """The answers of a system to a test set.

    Attributes:
        sentences: in the order of the test set, with their triples.
        facts: what it took, as far as the system knows: ``money``, ``requests``, ``prompt_tokens``,
            ``completion_tokens``, ``device``, ``peak_mb``, ``money_of`` (id -> money).
    """

    sentences: Sequence[Sentence]
    facts: Mapping[str, Any] = field(default_factory=dict)


def query_system(kind: SystemKind, query: Query) -> Answered:
    """Return what a system answers, its relations named as the corpus does where a map says how.

    Raises:
        UserError: as the kind has it.
    """
    answered, names = kind.answer(query), query.settings.get("relations")
    if not isinstance(names, Mapping) or not names:
        return answered
    sentences, count = renamed(answered.sentences, names)
    return Answered(sentences, {**answered.facts, "renamed": count, "names": len(names)})


class Answers:
    """Answers as they come in, matched to the texts that they are about."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.open: dict[str, Sentence] = {sentence.id: sentence for sentence in query.sentences}
        self.rows: dict[str, dict[str, Any]] = {}
        if len(self.open) < len(query.sentences):
            raise UserError("sentence ids occur twice in the test set; expected one sentence an id")

    def add(self, answer: Any, where: str) -> None:
        """Take the next answer.

        Raises:
            UserError: it is none, is about a text that was not queried about, or comes a second
                time.
        """
        if not isinstance(answer, dict) or not isinstance(answer.get("triples"), list):
            raise UserError(
                f"{where}: expected an object with the list 'triples', got {shown(answer)}"
            )
        name = answer.get("id")
        name = next(iter(self.open), None) if name is None else str(name)
        if name in self.rows or name is None:
            raise UserError(
                f"{where}: a second answer about the sentence {name or next(reversed(self.rows))!r}"
            )
        if name not in self.open:
            raise UserError(f"{where}: an answer about {name!r}, which is no id of the test set")
        row = {"id": name, "text": self.open.pop(name).text, "triples": answer["triples"]}
        self.rows[name] = Row(row, getattr(answer, "left_out", ()))

    def sentences(self, source: str) -> list[Sentence]:
        """Return answered sentences of the test set with located triples.

        Raises:
            UserError: a triple has another form, or a position that does not fit the text.
        """
        mapped = Mapped()
        rows = [
            self.rows[sentence.id] for sentence in self.query.sentences if sentence.id in self.rows
        ]
        for row in rows:
            for triple in row["triples"]:  # a corpus may have offsets or no relation there
                if isinstance(triple, list) and not all(
                    isinstance(part, str | dict) for part in triple
                ):
                    where = f"{source}, sentence {row['id']!r}"
                    raise UserError(f"{where}: a triple is {shown(triple)}, expected three strings")
        raw = [
            mapped.sentence(row, f"{source}, sentence {row['id']!r}", n)
            for n, row in enumerate(rows)
        ]
        if not raw:
            return []
        corpus = build_corpus(raw, source=source, format="answers")
        say(corpus.report)
        return [
            _scored(each, row["triples"], source)
            for each, row in zip(corpus.sentences, rows, strict=True)
        ]


def _scored(sentence: Sentence, listed: Sequence[Any], source: str) -> Sentence:
    """Give a sentence's triples the scores that came with them, where every one has its own.

    Raises:
        UserError: a score is infinite or no number, which no file of predictions can hold.
    """
    scores = [triple.get("score") if isinstance(triple, dict) else None for triple in listed]
    if len(scores) != len(sentence.triples) or not all(
        isinstance(score, int | float) for score in scores
    ):
        return sentence
    for score in scores:
        if not abs(score) <= sys.float_info.max:  # NaN is not, and a long integer
            where = f"{source}, sentence {sentence.id!r}"
            raise UserError(
                f"{where}: the score of a triple is {str(score)[:40]}, expected a number"
            )
    pairs = zip(sentence.triples, scores, strict=True)
    return replace(sentence, triples=tuple(replace(triple, score=score) for triple, score in pairs))


def counts_of(sentences: Sequence[Sentence]) -> dict[str, int]:
    """Count sentences, those with triples, triples, and triples with unlocated entities.

    Of the last, ``written_otherwise`` are there but for case, blanks and punctuation.
    """
    away = [(each, triple) for each in sentences for triple in each.triples if not triple.located]
    return {
        "sentences": len(sentences),
        "with_triples": sum(bool(sentence.triples) for sentence in sentences),
        "triples": sum(len(sentence.triples) for sentence in sentences),
        "not_in_text": len(away),
        "written_otherwise": sum(
            all(bare(part.text) in bare(each.text) for part in (triple.subject, triple.object))
            for each, triple in away
        ),
    }
