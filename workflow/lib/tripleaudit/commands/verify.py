"""``tripleaudit verify``: whether the files of a finished study are as its jobs wrote them."""

import argparse
from pathlib import Path

HELP = "check that no result file of a study was changed after it was written"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="folder of the study, such as results/demo"
    )


def run(args: argparse.Namespace) -> int:
    from tripleaudit.core.errors import UserError
    from tripleaudit.core.outputs import DIGESTS, verify, without_digest

    if not (args.folder / DIGESTS).is_dir():
        raise UserError(
            f"{args.folder}: no study has run here; expected the folder of a finished study, results/STUDY"
        )
    states = dict(verify(args.folder))
    damaged = {name: state for name, state in states.items() if state != "unchanged"}
    for name, state in damaged.items():
        print(f"{args.folder / name}: {state}")
    print(f"{len(states) - len(damaged)} of {len(states)} files are unchanged")
    foreign = without_digest(args.folder)
    for name in foreign:
        print(f"{args.folder / name}: not written by a job of this study (it has no digest)")
    if damaged or foreign:
        print("delete these files and run the study again")
    return int(bool(damaged or foreign))
