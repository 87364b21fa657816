"""``nyt-raw``: JSON lines with ``sentText`` and ``relationMentions``, as NYT24 and NYT11 (CoType) were published.

``{"sentText", "relationMentions": [{"em1Text", "em2Text", "label"}], "entityMentions": [{"text", ...}]}``. A pair
labelled ``None`` or ``NA`` states that there is no relation: it gives no triple and is counted in the report's notes.
"""

from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.readers.common import read_objects, take
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError

NO_RELATION = ("None", "NA")


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences without their line ends; ids are the places in the file from 0."""
    for number, (where, value) in enumerate(read_objects(path)):
        text = take(value, "sentText", str, where).rstrip("\r\n")
        triples, none = [], 0
        for mention in take(value, "relationMentions", list, where):
            if not isinstance(mention, dict):
                raise UserError(f"{where}: 'relationMentions' holds something that is not an object")
            label = take(mention, "label", str, where)
            if not label.strip():
                raise UserError(f"{where}: a triple has no relation, its 'label' is empty")
            if label in NO_RELATION:
                none += 1
                continue
            triples.append(RawTriple(take(mention, "em1Text", str, where), label, take(mention, "em2Text", str, where)))
        entities = value.get("entityMentions")
        yield RawSentence(
            str(number),
            text,
            triples,
            where,
            entities=len(entities) if isinstance(entities, list) else None,
            notes={"pairs_without_relation": none},
        )


FORMAT = CorpusFormat(
    name="nyt-raw",
    order=10,
    read=read,
    keys=("sentText", "relationMentions"),
    detects=lambda probe: "sentText" in probe.value,
)
