"""The three sets of a data set, which every protocol takes and gives back."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tripleaudit.corpora.model import Sentence

SPLIT_NAMES: Final = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Splits:
    """Training, validation and test sentences."""

    train: list[Sentence]
    valid: list[Sentence]
    test: list[Sentence]

    def __iter__(self) -> Iterator[tuple[str, list[Sentence]]]:
        """Yield ``(name, sentences)`` in the order of :data:`SPLIT_NAMES`."""
        return ((name, getattr(self, name)) for name in SPLIT_NAMES)

    def with_unique_ids(self) -> "Splits":
        """Return the same sets with unique ids: repeated ones are renamed ``split-number``.

        A protocol that moves sentences between sets must not make two sentences of one set share an
        id.
        """
        uses = Counter(sentence.id for _, sentences in self for sentence in sentences)
        if len(uses) == uses.total():
            return self
        return Splits(
            *(
                [
                    sentence if uses[sentence.id] == 1 else replace(sentence, id=f"{name}-{number}")
                    for number, sentence in enumerate(sentences)
                ]
                for name, sentences in self
            )
        )
