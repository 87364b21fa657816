"""Write the demo corpus, or another one like it: ``cd resources && python -m generator --out
demo``.
"""

import argparse
from pathlib import Path

from generator import SEED, write_demo


def main() -> None:
    """Write the files and print how many sentences each has."""
    parser = argparse.ArgumentParser(prog="generator", description=__doc__)
    parser.add_argument(
        "--seed",
        type=int,
        default=SEED,
        help="another seed is another world (default: %(default)s)",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the files"
    )
    args = parser.parse_args()
    for part, count in write_demo(args.out, args.seed).items():
        print(f"{part}.jsonl\t{count}")


if __name__ == "__main__":
    main()
