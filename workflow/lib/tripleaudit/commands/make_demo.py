"""``tripleaudit make-demo``: write the demo corpus that ships in ``resources/demo``, or another one like it."""

import argparse

HELP = "Generate the demo corpus: invented facts in natural sentences, and sentences with zero triples."


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed`` and ``--out``."""
    parser.add_argument(
        "--seed", type=int, default=None, help="another seed is another world (default: the shipped one)"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for train.jsonl, train_zero.jsonl, …")


def run(args: argparse.Namespace) -> int:
    """Write the six files and print how many sentences each has."""
    from tripleaudit.corpora.demo import SEED, write_demo

    for part, count in write_demo(args.out, SEED if args.seed is None else args.seed).items():
        print(f"{part}.jsonl\t{count}")
    return 0
