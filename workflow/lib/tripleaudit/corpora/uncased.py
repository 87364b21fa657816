"""Sentences as an uncased encoder reads them: lower case, no accents (the normalisation of BERT's uncased models)."""

import unicodedata

from tripleaudit.corpora.corpus import RawSentence, RawTriple


def uncased(item: RawSentence) -> RawSentence:
    """Lower-case a raw sentence and strip its accents, in the text and in its triples' arguments.

    Given positions move with the characters, since a character may become two (İ) or none (a combining accent).

    Args:
        item: a sentence as a reader yields it.

    Returns:
        A new sentence with the same id and counts; relation names stay as they are.
    """
    starts = [0]
    for character in item.text:
        starts.append(starts[-1] + len(plain(character)))

    def moved(start: int | None) -> int | None:
        return starts[start] if start is not None and 0 <= start < len(starts) else start

    triples = [
        RawTriple(plain(t.subject), t.relation, plain(t.object), moved(t.subject_start), moved(t.object_start))
        for t in item.triples
    ]
    return RawSentence(
        item.id, plain(item.text), triples, item.where, item.entities, item.listed, item.malformed, item.notes
    )


def plain(text: str) -> str:
    """``text`` in lower case without accents, character by character, so that parts and whole agree."""
    return "".join(
        part
        for character in text
        for part in unicodedata.normalize("NFD", character.lower())
        if unicodedata.category(part) != "Mn"
    )
