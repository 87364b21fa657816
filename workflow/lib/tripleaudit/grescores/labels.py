"""Relation names of the GenRES source corpora as the published gold triples verbalise them."""

from collections.abc import Sequence
from typing import Any

# Long Wikidata labels and their short forms (Wiki20m, Wiki80, DocRED).
_SHORT = {
    "located in the administrative territorial entity": "located in",
    "contains administrative territorial entity": "contains",
    "sports season of league or competition": "sports season",
    "position played on team / speciality": "position played",
    "language of work or name": "language",
    "languages spoken, written or signed": "language",
    "original language of film or TV show": "original language",
}


def plain_relation(label: Any) -> Any:
    """Return the readable name of a relation: ``/people/person/place_lived`` -> ``place lived``.

    Freebase paths keep their last component with blanks; TACRED labels (``per:employee_of``) lose the part before the
    colon and the slash and keep their underscores; long Wikidata labels are shortened; others stay.
    """
    if not isinstance(label, str):
        return label
    if label.startswith("/"):
        return label.rsplit("/", 1)[-1].replace("_", " ")
    if label.startswith(("per:", "org:")):
        return label.split(":", 1)[1].split("/")[-1]
    return _SHORT.get(label, label)


def cdr_triple(item: Sequence[Any]) -> list[Any] | None:
    """Return ``[disease, relation, chemical]`` of CDR's ``[chemical, disease, crossing, label]``, or None.

    Pairs that were annotated as unrelated are gold too ("not induced by"); pairs marked ``not_include`` are not.
    """
    label = str(item[3])
    if "CID" in label:
        return [item[1], "induced by", item[0]]
    if "NR" in label:
        return [item[1], "not induced by", item[0]]
    return None
