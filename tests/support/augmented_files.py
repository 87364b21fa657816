"""The published augmented test sets of WebNLG, counted: what each entity of a sentence became in
each part.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tripleaudit.protocols.types import Strings
from tripleaudit.protocols.variants import PARTS

Outcomes = Counter[tuple[str, str, str, str]]
"""Entities by part, way (``masked_word``, ``masked_words``, ``vectors``), role (s, o, so) and
same, seen or unseen.
"""


def renamed(old: list[Strings], new: list[Strings]) -> dict[str, str] | None:
    """Return the new string of each entity; None if no renaming turns the old triples into the new
    ones.

    The published files list the triples of a sentence in another order in each part, so a search is
    needed.
    """

    def search(number: int, left: frozenset[int], names: dict[str, str]) -> dict[str, str] | None:
        if number == len(old):
            return names
        for place in sorted(left):
            subject, relation, object_ = new[place]
            more = {old[number][0]: subject}
            if relation != old[number][1] or more.setdefault(old[number][2], object_) != object_:
                continue
            if all(names.get(text, name) == name for text, name in more.items()):
                found = search(number + 1, left - {place}, {**names, **more})
                if found is not None:
                    return found
        return None

    return search(0, frozenset(range(len(new))), {})


def published_outcomes(data: Path, known: set[str]) -> Outcomes:
    """Count the published files, without the 39 sentences that are the same in all parts.

    Args:
        data: folder of real corpora.
        known: the entities of training.
    """

    def read(folder: str, name: str) -> list:
        return json.loads((data / "rte-eval" / folder / f"{name}_data.json").read_text())

    original = read("WebNLG_all", "test")
    parts: Mapping[str, list] = {
        part: read("augmented_test_WebNLG_all", f"{part}_test") for part in PARTS
    }
    found: Outcomes = Counter()
    for number, row in enumerate(original):
        if all(rows[number]["text"] == row["text"] for rows in parts.values()):
            continue
        triples = [tuple(triple) for triple in row["triple_list"]]
        pieces = {
            entity["text"]: entity["tok_span"][1] - entity["tok_span"][0]
            for entity in row["entity_list"]
        }
        for part, rows in parts.items():
            names = renamed(triples, [tuple(triple) for triple in rows[number]["triple_list"]])
            assert names is not None, row["text"]
            for old, new in names.items():
                kind = "same" if new == old else "seen" if new in known else "unseen"
                way = (
                    "masked_words"
                    if " " in old
                    else "masked_word"
                    if pieces[old] == 1
                    else "vectors"
                )
                role = "".join(
                    end
                    for end, place in (("s", 0), ("o", 2))
                    if any(old == t[place] for t in triples)
                )
                found[part, way, role, kind] += 1
    return found
