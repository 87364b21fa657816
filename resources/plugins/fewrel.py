"""A corpus format as a plugin: FewRel, examples by relation.

tripleaudit --plugin resources/plugins/fewrel.py check train_wiki.json
"""

from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers.common import load_json, shown, take
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Rows


def fewrel(path: Path) -> Rows:
    """Yield a row an example of ``{relation: [{"tokens", "h": [name, id, [[positions], …]], "t":
    …}]}``.
    """
    examples = load_json(path)
    if not isinstance(examples, dict):
        raise UserError(f"{path}: expected an object {{relation: [examples]}}")
    for relation, found in examples.items():
        for number, item in enumerate(found if isinstance(found, list) else [], 1):
            where = f"{path} {relation} item {number}"
            if not isinstance(item, dict):
                raise UserError(f"{where}: expected an object, got {shown(item)}")
            row = {"relation": relation, "tokens": item.get("tokens")}
            for key in ("h", "t"):
                try:
                    positions = take(item, key, list, where)[2][0]
                    row[key] = {"start": positions[0], "end": positions[-1]}
                except (LookupError, TypeError) as error:
                    expected = "expected [name, id, [[positions], …]]"
                    raise UserError(
                        f"{where}: {key!r} is {shown(item.get(key))}, {expected}"
                    ) from error
            yield where, row


def _is_fewrel(probe: Probe) -> bool:
    examples = next(iter(probe.value.values()), None)
    first = examples[0] if isinstance(examples, list) and examples else None
    return isinstance(first, dict) and {"tokens", "h", "t"} <= first.keys()


FEWREL = form(
    "fewrel", place=5.4, rows=fewrel, detects=_is_fewrel, tokens="tokens", relation="relation",
    subject="h", object="t", start="start", end="end", last="inclusive",
)  # fmt: skip
