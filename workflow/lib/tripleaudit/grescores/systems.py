"""Systems: triples of an extractor, a language model or the gold standard for each text.

A system is a mapping from text to triples, because that is how the published outputs are keyed and
how gold and predictions are joined. Triples are kept as they were read, malformed ones included:
the official mode counts them, the default mode scores :func:`clean` ones. Gold relations get the
names that the published gold triples give them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import is_collection, read_json, read_jsonl

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
_PREFIXES = ("/", "per:", "org:")  # of relations in Freebase and TACRED
_SENTENCE = re.compile(
    r'\s*The relation between\s*"([^"]*)"\s*and\s*"([^"]*)"[^"]*"([^"]*)"[^"]*\Z'
)
MIN_TRIPLES = 20  # of fewer, the number of different parts says nothing


def plain_relation(label: Any) -> Any:
    """Return the readable name of a relation: ``/people/person/place_lived`` -> ``place lived``.

    Freebase paths keep their last component with blanks; TACRED labels (``per:employee_of``) lose
    the part before the colon and the slash and keep their underscores; long Wikidata labels are
    shortened; others stay.
    """
    if not isinstance(label, str):
        return label
    if label.startswith("/"):
        return label.rpartition("/")[2].replace("_", " ")
    if label.startswith(("per:", "org:")):
        return label.partition(":")[2].rpartition("/")[2]
    return _SHORT.get(label, label)


def cdr_triple(item: Sequence[Any]) -> list[Any] | None:
    """Return ``[disease, relation, chemical]`` of a CDR triple, or None.

    CDR has ``[chemical, disease, crossing, label]``.

    Pairs that were annotated as unrelated are gold too ("not induced by"); pairs marked
    ``not_include`` are not.
    """
    label = str(item[3])
    if "CID" in label:
        return [item[1], "induced by", item[0]]
    if "NR" in label:
        return [item[1], "not induced by", item[0]]
    return None


StringTriple = tuple[str, str, str]


@dataclass(frozen=True)
class System:
    """The triples of one system for every text of a data set, as ``[subject, relation, object]``.

    Attributes:
        texts: text -> raw triples; the order of the file.
        status: text -> parse status of the answer, where the file says so (own extractions).
        source: the file, for messages.
    """

    texts: Mapping[str, list[list[Any]]]
    status: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def __len__(self) -> int:
        return len(self.texts)

    def restricted(self, texts: Iterable[str]) -> "System":
        """Return the system on these texts only; texts that it lacks have no triples."""
        return System({text: self.texts.get(text, []) for text in texts}, self.status, self.source)


def clean(triples: Iterable[Any]) -> tuple[list[StringTriple], int]:
    """Return the usable triples in order and the number of dropped ones.

    Numbers and booleans become strings; a triple without three parts, with a nested part or with an
    empty part is dropped. Verbatim repeats stay.
    """
    candidates = [usable(triple) for triple in triples]
    kept = [triple for triple in candidates if triple is not None]
    return kept, len(candidates) - len(kept)


def usable(triple: Any) -> StringTriple | None:
    """Return one raw triple as three non-empty strings, or None."""
    if not isinstance(triple, list | tuple) or len(triple) != 3:
        return None
    subject, relation, object_ = (_as_text(part) for part in triple)
    if not (subject and relation and object_):
        return None
    return subject, relation, object_


def _as_text(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, str | int | float):
        return str(part).strip()
    return ""


def read_system(path: str | Path, order: str = "auto") -> System:
    """Read extracted or gold triples.

    Forms, known by their content: the project's JSON lines, a file or a folder of shards (a text
    that occurs in several lines collects the triples of all of them); ``{text: [[subject, relation,
    object], …]}``; gold files ``{text: [[subject, object, relation], …]}`` with relations as in the
    source corpus, which are verbalised; CDR's four-part gold; gold triples written as ``The
    relation between "A" and "B" is "r"``.

    Args:
        order: ``sro`` or ``sor`` where three-part lists are read; ``auto`` takes ``sor`` when all
            third parts are names as Freebase and TACRED have them (``/people/person/place_lived``,
            ``per:employee_of``).

    Raises:
        UserError: the file is missing or has none of the forms; the message says where. With
            ``auto`` also where the third parts look like relations and are none of these names.
    """
    path = Path(path)
    if path.suffix == ".gz" or ".jsonl" in path.suffixes or is_collection(path):
        return _read_lines(path)
    value = read_json(path)
    if not isinstance(value, dict):
        raise UserError(
            f"{path}: expected an object that maps each text to a list of triples, or a .jsonl file"
        )
    for text, triples in value.items():
        if not isinstance(triples, list):
            raise UserError(f"{path}: the value of text {text[:60]!r} is not a list of triples")
    return System(_in_sro(value, order, path), {}, str(path))


def read_judged(path: str | Path, texts: Iterable[str | Path] = ()) -> System:
    """Read the triples that a judge is asked about, cut to the texts of further files."""
    system = read_system(path, order="sro")
    for file in texts:
        system = system.restricted(
            text for text in read_system(file, order="sro").texts if text in system.texts
        )
    return system


def _read_lines(path: Path) -> System:
    texts: dict[str, list[list[Any]]] = {}
    status: dict[str, str] = {}
    for number, row in read_jsonl(path):
        where = f"{path} line {number}"
        if (
            not isinstance(row, dict)
            or not isinstance(row.get("text"), str)
            or not isinstance(row.get("triples"), list)
        ):
            raise UserError(f"{where}: expected an object with 'text' and the list 'triples'")
        triples = [_parts(triple, where) for triple in row["triples"]]
        texts.setdefault(row["text"], []).extend(triples)
        state = row.get("status", row.get("parse_status"))
        if isinstance(state, str):
            status[row["text"]] = state
    return System(texts, status, str(path))


def _parts(triple: Any, where: str) -> list[Any]:
    if isinstance(triple, list):
        return triple
    if not isinstance(triple, dict) or not {"subject", "relation", "object"} <= set(triple):
        raise UserError(
            f"{where}: expected triples with 'subject', 'relation' and 'object', got {triple!r}"
        )
    ends = [
        part["text"] if isinstance(part, dict) and "text" in part else part
        for part in (triple["subject"], triple["object"])
    ]
    return [ends[0], triple["relation"], ends[1]]


def _in_sro(value: Mapping[str, list[Any]], order: str, path: Path) -> dict[str, list[list[Any]]]:
    """Return the triples of each text as ``[subject, relation, object]``."""
    items = [item for triples in value.values() for item in triples]
    if not items:
        return dict(value)
    if all(isinstance(item, str) for item in items):
        return _converted(value, lambda item: _from_sentence(item, path))
    for item in items:
        if not isinstance(item, list):
            raise UserError(f"{path}: expected every triple to be a list, got {item!r}")
    if all(len(item) == 4 for item in items):
        return _converted(value, cdr_triple)
    if order == "sor" or (order == "auto" and _relation_is_last(items, path)):
        return _converted(value, _from_sor)
    return dict(value)


def _converted(
    value: Mapping[str, list[Any]], convert: Callable[[Any], list[Any] | None]
) -> dict[str, list[list[Any]]]:
    """Return converted triples by text, without those that have no conversion."""
    texts = {}
    for text, items in value.items():
        triples = [convert(item) for item in items]
        texts[text] = [triple for triple in triples if triple is not None]
    return texts


def _from_sor(item: Sequence[Any]) -> list[Any] | None:
    if len(item) != 3:
        return None
    subject, object_, relation = item
    return [subject, plain_relation(relation), object_]


def _relation_is_last(items: list[list[Any]], path: Path) -> bool:
    """Return whether the relation comes last in lists of three.

    Raises:
        UserError: the last parts look like relations, but have no names of Freebase or TACRED.
    """
    are_triples = all(
        len(item) == 3 and all(isinstance(part, str) for part in item) for item in items
    )
    if not are_triples:
        return False
    middle = {item[1] for item in items}
    last = {item[2] for item in items}
    if all(name.startswith(_PREFIXES) for name in last):
        return True
    are_few = 2 * len(last) < len(middle)
    has_names_in_middle = any(name.startswith(_PREFIXES) for name in middle)
    if len(items) >= MIN_TRIPLES and are_few and not has_names_in_middle:
        raise UserError(
            f"{path}: the order of its triples is not clear, {len(last)} different last parts "
            f"(such as {min(last)!r}) and {len(middle)} in the middle; expected 'order: sro' if "
            "the relation is in the middle, 'order: sor' if it comes last"
        )
    return False


def _from_sentence(text: str, path: Path) -> list[str]:
    """Return the triple of ``The relation between "A" and "B" is "r"``."""
    match = _SENTENCE.match(text)
    if match is None:
        raise UserError(
            f'{path}: expected The relation between "A" and "B" is "r", got {text[:80]!r}'
        )
    subject, object_, relation = match.groups()
    return [subject, relation, object_]
