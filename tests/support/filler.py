"""A stand-in for a masked language model: its words depend on the masked text alone, and it
remembers what it saw.
"""

import hashlib

from gensim.models import KeyedVectors


class Filler:
    """Ranks a fixed vocabulary by a hash of the masked text; words of up to ``longest`` letters
    are one piece.
    """

    mask_token = "[MASK]"
    cased = True

    def __init__(self, words, longest=5):
        self.words, self.longest, self.texts = list(words), longest, []

    def is_single_piece(self, word):
        return word.isalpha() and len(word) <= self.longest

    def fill(self, queries, top):
        self.texts += queries
        return {
            (text, number): self._ranked(text, number, top)
            for text, numbers in queries.items()
            for number in numbers
        }

    def _ranked(self, text, number, top):
        ranked = sorted(
            self.words,
            key=lambda word: hashlib.sha256(f"{text} {number} {word}".encode()).hexdigest(),
        )
        return [(word, -float(rank)) for rank, word in enumerate(ranked[:top])]


def vectors(**words):
    """Make word vectors from keyword arguments."""
    made = KeyedVectors(vector_size=len(next(iter(words.values()))))
    made.add_vectors(list(words), list(map(list, words.values())))
    return made
