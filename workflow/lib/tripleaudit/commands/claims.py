"""``tripleaudit claims``: the papers' claims, what was measured of each, and a verdict."""

import argparse
from pathlib import Path

from tripleaudit.commands.printer import add_json, print_result

HELP = "compare the claims of the four papers that this project implements with measured results"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        metavar="FOLDER",
        nargs="*",
        type=Path,
        help="finished studies (results/STUDY), stored evidence, or the JSON of `audit --random-splits`; "
        "by default the included evidence",
    )
    add_json(parser)
    parser.add_argument("--markdown", action="store_true", help="print one Markdown table")
    parser.add_argument(
        "--short",
        action="store_true",
        help="with --markdown: only the claims that hold or do not, in few columns",
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="OUT",
        help="write the evidence of one study to a folder instead",
    )


def run(args: argparse.Namespace) -> int:
    from tripleaudit.api.claims import claims
    from tripleaudit.core.errors import UserError
    from tripleaudit.evidence.stored import load_evidence
    from tripleaudit.evidence.table import claims_table
    from tripleaudit.tables.render.markdown_form import to_markdown

    if args.short and not args.markdown:
        raise UserError("--short: has no meaning without --markdown; add it")
    if args.store is not None:
        if len(args.sources) != 1:
            raise UserError("--store: takes the folder of exactly one study; name one")
        load_evidence(args.sources[0]).write(args.store)
        return 0
    result = claims(*args.sources)
    if args.markdown:
        print(to_markdown(claims_table(result.verdicts, args.short)), end="")
    else:
        print_result(result, args.json)
    return 0
