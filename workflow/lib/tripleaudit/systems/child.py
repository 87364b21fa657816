"""A Python class as a program that answers JSON lines.

``python -m tripleaudit.systems.child FILE.py:CLASS OPTIONS BATCH``.

The class is made with the options (and ``relations={name: description}`` where the system wants
them), and its ``extract(texts)`` returns for each text a list of triples. Whatever it prints goes
to standard error.
"""

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.modules import load_attribute


def main(reference: str, options: str, batch: str) -> None:
    """Answer the texts on standard input by an instance of the class.

    Args:
        reference: ``file.py:Class``.
        options: Keyword arguments of the class, as JSON.
        batch: Number of texts of one call.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    rows = [json.loads(line) for line in sys.stdin.buffer]
    stated = {"relations": rows[0]["relations"]} if rows and "relations" in rows[0] else {}
    system = load_attribute(reference, "system")(**json.loads(options), **stated)
    for start in range(0, len(rows), int(batch)):
        some = rows[start : start + int(batch)]
        found = list(system.extract([row["text"] for row in some]))
        if len(found) != len(some):
            raise UserError(
                f"{reference}: extract returned {len(found)} lists of triples for {len(some)} texts"
            )
        for row, triples in zip(some, found, strict=True):
            answers.write(
                json.dumps({"id": row["id"], "triples": [_plain(one) for one in triples]}) + "\n"
            )
        answers.flush()


def _plain(triple: Any) -> Any:
    """Return a triple as JSON: a list of three, an object, or an object of this package."""
    if hasattr(triple, "to_json"):
        return triple.to_json()
    return list(triple) if isinstance(triple, Sequence) and not isinstance(triple, str) else triple


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except UserError as error:  # the sentence alone, as notes of tables quote it
        sys.exit(str(error))
