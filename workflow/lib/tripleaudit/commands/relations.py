"""``tripleaudit relations``: propose a map from a system's relations to the corpus's."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.core.arguments import add_sides

if TYPE_CHECKING:
    from tripleaudit.scoring.relation_names import Proposed

HELP = "propose a map from predicted relation names to the relations of the corpus"
MAX_LISTED = 20  # relations of the corpus that the head of the file lists


def configure(parser: argparse.ArgumentParser) -> None:
    add_sides(parser)
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="accept a test set (its scores become too optimistic)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of YAML")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE.yaml",
        help="write the map to this file, for review and for --relations",
    )


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.core.errors import UserError
    from tripleaudit.core.files import atomic_write
    from tripleaudit.core.shipped import shipped
    from tripleaudit.corpora.readers.common import named_split
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.scoring.relation_names import propose
    from tripleaudit.scoring.sides import load_pair

    for file in (args.gold, args.predictions):
        if named_split(file) == "test" and not args.anyway:
            raise UserError(
                f"{file}: its name is that of a test set, whose scores become too optimistic by names that are "
                "chosen on it; use training or validation sentences, or add --anyway"
            )
    columns = parse_columns(args.column), parse_columns(args.predicted_column, "--predicted-column")
    sides = shipped(args.gold), shipped(args.predictions)
    gold, predictions = load_pair(*sides, args.format, *columns)
    proposals = propose(gold, predictions)
    if not proposals:
        raise UserError(
            f"{args.predictions}: has no triples, so there are no relation names to map"
        )
    relations = sorted({triple.relation for sentence in gold for triple in sentence.triples})
    text = _yaml(proposals, relations)
    if args.out:
        with atomic_write(args.out) as stream:
            stream.write(text)
    if args.json:
        result = {
            "relations": {
                proposal.name: proposal.guess for proposal in proposals if proposal.guess
            },
            "names": [vars(proposal) for proposal in proposals],
        }
        print(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        print(text, end="")
    return 0


def _yaml(proposals: "Sequence[Proposed]", relations: Sequence[str]) -> str:
    """Return the map with the reasons for each name; names without a guess are comments."""
    from tripleaudit.tables.render.escape import clean

    listed = [clean(relation) for relation in relations[:MAX_LISTED]]
    if len(relations) > MAX_LISTED:
        listed.append("…")
    lines = [
        "# Relation of the system: relation of the corpus. Check every line, then use this file as `relations:` of the",
        "# system in a study, or with `tripleaudit score --relations`.",
        f"# Relations of the corpus: {', '.join(listed)}",
    ]
    for proposal in proposals:
        lines.append(_entry(proposal))
        lines += [f"#   {clean(example)}" for example in proposal.examples]
    if not any(proposal.guess for proposal in proposals):
        lines.append("{}")
    return "\n".join(lines) + "\n"


def _entry(proposal: "Proposed") -> str:
    """Return the line of one name with its guess and the reason for it."""
    triples = f"{proposal.count} triples"
    if not proposal.guess:
        return f"# {_quoted(proposal.name)}: ?  # {triples}, {proposal.pairs} of pairs of the gold"
    reason = "by its name"
    if proposal.support:
        reason = f"{proposal.support} of {proposal.pairs} pairs that the gold joins"
        if proposal.turned:
            reason += f", {proposal.turned} of them turned round"
    return f"{_quoted(proposal.name)}: {_quoted(proposal.guess)}  # {triples}; {reason}"


def _quoted(name: str) -> str:
    import json

    return json.dumps(name, ensure_ascii=False)
