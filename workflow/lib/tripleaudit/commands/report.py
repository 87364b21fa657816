"""``tripleaudit report``: one self-contained HTML page of a finished study, or of several with their differences."""

import argparse

from tripleaudit.arguments import POSITIVE

HELP = "write the HTML report of a finished study, or of several with their differences"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("studies", nargs="+", metavar="FOLDER", help="folders of finished studies, results/<study>")
    parser.add_argument("--facts", metavar="JSON", help="name, description, seeds, … of a single study")
    parser.add_argument("--megabytes", type=POSITIVE, default=5, help="room for the sentences (default: 5)")
    parser.add_argument("--out", required=True, metavar="FILE", help="HTML file to write")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from tripleaudit.errors import UserError
    from tripleaudit.report.inputs import StudyFacts, facts_from_json, find_files
    from tripleaudit.report.make import make_report

    if args.facts and len(args.studies) > 1:
        raise UserError("--facts: the facts of one study; of several, each is called as its folder")
    facts = [StudyFacts(Path(folder).resolve().name) for folder in args.studies]
    if args.facts:
        facts = [facts_from_json(args.facts)]
    studies = [(find_files(folder), told) for folder, told in zip(args.studies, facts, strict=True)]
    size = make_report(studies, args.out, max_bytes=int(args.megabytes * 1e6))
    print(f"{args.out} ({size / 1e6:.1f} MB)")
    return 0
