"""Sentences that extractors are tested on; a tiny encoder knows their words."""

from tripleaudit.corpora.model import Sentence, Span, Triple

RELATIONS = ("C", "F", "W", "L")


def make_sentence(text: str, *triples: tuple[str, str, str], id: str = "s") -> Sentence:
    """Build a sentence whose entities lie at the first occurrence of their strings."""

    def locate(entity: str) -> Span:
        start = text.index(entity)
        return Span(start, start + len(entity), entity)

    located = (
        Triple(locate(subject), relation, locate(object_)) for subject, relation, object_ in triples
    )
    return Sentence(id, text, tuple(located))


def worked_example() -> Sentence:
    """Return (Tim Cook, C, Apple), (Apple, F, Cupertino): a chain with a three-piece entity.

    Cupertino has the pieces cup ##ert ##ino.
    """
    return make_sentence(
        "Tim Cook leads Apple in Cupertino .",
        ("Tim Cook", "C", "Apple"),
        ("Apple", "F", "Cupertino"),
        id="worked",
    )


def structures() -> list[Sentence]:
    """Return sentences with triples that some extractors cannot represent, by id.

    - ``chain``: a one-token entity is the object of one triple and the subject of another;
    - ``rivals``: two pairs of one relation;
    - ``reversed``: two relations between two entities, one in each direction;
    - ``adjacent``: two objects of one relation without a token between them, one of them a subject
      as well.
    """
    return [
        make_sentence(
            "rain leads notes in river .",
            ("rain", "C", "notes"),
            ("notes", "F", "river"),
            id="chain",
        ),
        make_sentence(
            "tim leads house and old leads engine .",
            ("tim", "C", "house"),
            ("old", "C", "engine"),
            id="rivals",
        ),
        make_sentence(
            "charles wrote ada today .",
            ("charles", "W", "ada"),
            ("ada", "F", "charles"),
            id="reversed",
        ),
        make_sentence(
            "england , why london .",
            ("england", "L", "why"),
            ("england", "L", "london"),
            ("why", "F", "england"),
            id="adjacent",
        ),
    ]


def toy_sentences() -> list[Sentence]:
    """Return eight sentences over :data:`RELATIONS`, the first one the worked example.

    They have shared entities, two relations of one pair, and sentences without triples.
    """
    return [
        worked_example(),
        make_sentence(
            "ada lovelace wrote notes on the engine .", ("ada lovelace", "W", "notes"), id="1"
        ),
        make_sentence(
            "charles babbage founded london and leads london .",
            ("charles babbage", "F", "london"),
            ("charles babbage", "C", "london"),
            id="2",
        ),
        make_sentence("london is the capital of england .", ("england", "L", "london"), id="3"),
        make_sentence("it rains today .", id="4"),
        make_sentence(
            "apple was founded by tim cook and ada lovelace .",
            ("tim cook", "F", "apple"),
            ("ada lovelace", "F", "apple"),
            id="5",
        ),
        make_sentence("nobody knows why an old house stands near the river .", id="6"),
        make_sentence(
            "notes of ada lovelace , london .",
            ("ada lovelace", "W", "notes"),
            ("ada lovelace", "L", "london"),
            id="7",
        ),
    ]
