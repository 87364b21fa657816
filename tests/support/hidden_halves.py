"""Test sentences whose second half is easily hidden, their variants with other names, and models that complete them."""

import json
from collections.abc import Callable
from pathlib import Path

from support.sentences import sentence
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences

PARTS = ("ss", "uu")
NUMBER = 40


def born(name: str, subject: str, object_: str) -> Sentence:
    text = f"{subject} was not long ago seen to have been born in {object_} ."
    return sentence(text, (subject, "born_in", object_), id=name)


ORIGINAL = [born(f"t{n}", f"Ada{n:02} Lund{n:02}", f"Harrow{n:02}") for n in range(NUMBER)]
AUGMENTED = [born(f"t{n}.{part}", f"Ben{n:02}{part}", f"Delta{n:02}{part}") for part in PARTS for n in range(NUMBER)]
TRAIN = [
    born("a", "Ada00 Lund00", "Elsewhere"),
    *(born(f"{n}", "Ada00 Lund00", "Harrow00") for n in range(2)),
    born("b", "Ada01 Lund01", "Elsewhere"),
    born("c", "Ben02uu", "Delta02uu"),
]
FILES = {"test": ORIGINAL, "augmented": AUGMENTED, "train": TRAIN}


def write_sets(folder: Path) -> dict[str, Path]:
    """Write test, augmented and training sentences; returns their paths by name."""
    paths = {name: folder / f"{name}.jsonl" for name in FILES}
    for name, path in paths.items():
        save_sentences(path, FILES[name])
    return paths


def knows(sentences: list[Sentence]) -> Callable[[dict], str]:
    """Return a model that completes the first half of these sentences, and names Nowhere for every other one."""

    def answer(body: dict) -> str:
        shown = body["messages"][-1]["content"].partition("First half: ")[2]
        found = [t for one in sentences for t in one.triples if one.text.startswith(f"{shown} ")]
        rows = [[t.subject.text, "born in", t.object.text] for t in found]
        return json.dumps({"triples": rows or [[shown.split()[0], "born in", "Nowhere"]]})

    return answer
