"""``tripleaudit relations``: propose a map from a system's relations to the corpus's."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.core.arguments import add_sides

if TYPE_CHECKING:
    from tripleaudit.scoring.relation_names import Proposed

HELP = "propose a map from predicted relation names to the relations of the corpus"


def configure(parser: argparse.ArgumentParser) -> None:
    add_sides(parser)
    parser.add_argument(
        "--anyway", action="store_true", help="also from a test set; scores there are then too good"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of YAML")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE.yaml",
        help="write the map there, to be looked at and named",
    )


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.core.errors import UserError
    from tripleaudit.core.files import atomic_write
    from tripleaudit.corpora.readers.common import named_split
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.scoring.relation_names import propose
    from tripleaudit.scoring.sides import load_pair

    if not args.anyway and (
        of := next((f for f in (args.gold, args.predictions) if named_split(f) == "test"), None)
    ):
        raise UserError(
            f"{of}: a test set, by its name; names that are learned there make its scores too good. Expected training "
            "or validation sentences (--anyway takes it as it is)"
        )
    columns = parse_columns(args.column), parse_columns(args.predicted_column, "--predicted-column")
    gold, predictions = load_pair(args.gold, args.predictions, args.format, *columns)
    found = propose(gold, predictions)
    if not found:
        raise UserError(
            f"{args.predictions}: no triple is predicted, so that there is no relation to name"
        )
    known = sorted({triple.relation for each in gold for triple in each.triples})
    text = _yaml(found, known)
    if args.out:
        with atomic_write(args.out) as stream:
            stream.write(text)
    shown = {
        "relations": {one.name: one.guess for one in found if one.guess},
        "names": [vars(one) for one in found],
    }
    print(
        json.dumps(shown, ensure_ascii=False, indent=2) if args.json else text,
        end="\n" if args.json else "",
    )
    return 0


def _yaml(found: "Sequence[Proposed]", known: Sequence[str]) -> str:
    """Return the map with the reasons for each name; names without a guess are comments."""
    from tripleaudit.tables.render.escape import clean

    lines = [
        "# The corpus's relation for each that the system says: look at every line, then name this file under",
        "# `relations:` of the system, or with `tripleaudit score --relations`.",
        f"# The corpus has {', '.join(map(clean, known[:20]))}{', …' * (len(known) > 20)}",
    ]
    for one in found:
        turned = f", {one.turned} of them turned round" if one.turned else ""
        why = (
            f"{one.support} of {one.pairs} pairs that the gold joins{turned}"
            if one.support
            else "by its name"
        )
        reason = (
            f"{one.count} triples; {why}"
            if one.guess
            else f"{one.count} triples, {one.pairs} of pairs of the gold"
        )
        entry = (
            f"{_quoted(one.name)}: {_quoted(one.guess)}"
            if one.guess
            else f"# {_quoted(one.name)}: ?"
        )
        lines += [f"{entry}  # {reason}", *(f"#   {clean(example)}" for example in one.examples)]
    if not any(one.guess for one in found):
        lines.append("{}")
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    import json

    return json.dumps(name, ensure_ascii=False)
