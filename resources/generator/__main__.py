"""Write the demo corpus, or another one like it: ``cd resources && python -m generator --out demo``."""

import argparse
import dataclasses
from pathlib import Path

from generator import SEED, new_facts, state_triple, write_demo
from tripleaudit.corpora.store import save_sentences

NEW_FACTS = 500


def main() -> None:
    """Write the files (and, where asked for, sentences of new facts) and print how many sentences each has."""
    parser = argparse.ArgumentParser(prog="generator", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="another seed is another world (default: %(default)s)")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder for the files")
    parser.add_argument("--new-facts", type=Path, metavar="FILE", help="also state facts that the world does not know")
    args = parser.parse_args()
    for part, count in write_demo(args.out, args.seed).items():
        print(f"{part}.jsonl\t{count}")
    if args.new_facts:
        stated = [
            dataclasses.replace(state_triple(fact), id=f"new{i:04d}") for i, fact in enumerate(new_facts(NEW_FACTS))
        ]
        save_sentences(args.new_facts, (dataclasses.replace(one, id=f"new{i:04d}") for i, one in enumerate(stated)))


if __name__ == "__main__":
    main()
