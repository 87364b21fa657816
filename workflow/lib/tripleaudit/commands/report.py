"""``tripleaudit report``: one self-contained HTML page of a finished study."""

import argparse

from tripleaudit.core.arguments import POSITIVE

HELP = "write the HTML report of a finished study"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "study", metavar="FOLDER", help="folder of the finished study, results/<study>"
    )
    parser.add_argument(
        "--megabytes",
        type=POSITIVE,
        default=5,
        metavar="MB",
        help="most megabytes of sentences in the report (default: 5)",
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="HTML file to write")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from tripleaudit.report.make import make_report
    from tripleaudit.report.study_files import StudyFacts, find_files

    name = Path(args.study).resolve().name
    facts = StudyFacts(name, configfiles=["STUDY.yaml"], folder=f"results/{name}")
    size = make_report(find_files(args.study), facts, args.out, max_bytes=int(args.megabytes * 1e6))
    print(f"{args.out} ({size / 1e6:.1f} MB)")
    return 0
