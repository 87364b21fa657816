"""Plain names of a corpus's relations for language models, and their inversion."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def plain_name(relation: str, parts: int = 1) -> str:
    """Return a relation in plain words, without a table.

    The last ``parts`` components of a path or of a name with a colon are kept
    (``/people/person/place_lived``, ``per:employee_of``), underscores become blanks and camel case
    is split (``leaderName`` -> ``leader name``).
    """
    components = [part for part in re.split(r"[/:]+", relation) if part.strip("_ ")]
    if not components:
        return relation
    words = _CAMEL.sub(" ", " ".join(components[-parts:]).replace("_", " ")).split()
    return " ".join(
        word if word.isupper() or word.isdigit() else word[0].lower() + word[1:] for word in words
    )


class Verbaliser:
    """The relations of one corpus with their plain names, no two alike.

    Args:
        relations: names in the corpus.
        table: plain names of some of them; the others get :func:`plain_name`, with more components
            of their path where two would be called the same.
    """

    def __init__(self, relations: Iterable[str], table: Mapping[str, str] | None = None) -> None:
        self.table = dict(table or {})
        rest = sorted(set(relations))
        self.names = {relation: self.table[relation] for relation in rest if relation in self.table}
        for parts in (1, 2, 3):
            rest = [relation for relation in rest if relation not in self.names]
            candidates = {relation: plain_name(relation, parts) for relation in rest}
            counts, taken = Counter(candidates.values()), set(self.names.values())
            fresh = {
                one: name
                for one, name in candidates.items()
                if counts[name] == 1 and name not in taken
            }
            self.names.update(fresh)
        self.names.update({relation: relation for relation in rest if relation not in self.names})
        self._back = {_key(name): relation for relation, name in self.names.items()}

    def __call__(self, relation: str) -> str:
        """Return the plain name of a relation, also of one that is not among the corpus's."""
        return self.names.get(relation) or self.table.get(relation) or plain_name(relation)

    def back(self, name: str) -> str:
        """Return the corpus's relation of a plain name in any case, else ``name``."""
        return self._back.get(_key(name), name)


def _key(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


@lru_cache(maxsize=1 << 16)
def bare(text: str) -> str:
    """Return a text without case, Unicode form, punctuation and blanks; unchanged if empty.

    ``Work_For``, ``WORK FOR`` and ``work-for`` are one; accents, marks of vowels and symbols such
    as ``+`` stay.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in folded if unicodedata.category(char)[0] not in "PZC") or text
