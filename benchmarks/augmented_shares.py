"""The augmented test set of WebNLG next to the published one: shares of triple types, and what
became of the entities.

``python -m benchmarks.augmented_shares --encoder DIR [--masked-lm DIR] [--vectors FILE] [--data
DIR]`` prints the rows of docs/explanation/test-sets.md. Without ``--masked-lm`` a head is trained on WebNLG's
training text as in that page; ``tripleaudit train-mlm --train OTHER_TEXT`` makes one from other
text.
"""

import argparse
import os
import tempfile
from pathlib import Path

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.protocols.augmented.train_mlm import train_masked_lm
from tripleaudit.protocols.build import build_protocol
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus
from tripleaudit.protocols.variants import PARTS

DATA = Path(__file__).parents[2] / "shared" / "data"
PUBLISHED = (17.21, 36.17, 46.62)
OF_PARTS = ((741, 738, 128), (123, 791, 693), (121, 775, 711), (121, 21, 1465))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("TRIPLEAUDIT_DATA", DATA))
    parser.add_argument("--encoder", required=True, type=Path)
    parser.add_argument("--masked-lm", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--roles", default="files")
    parser.add_argument("--fallback", default="files")
    args = parser.parse_args()
    files = (args.data / "webnlg" / f"{name}_triples.json" for name in ("train", "val", "test"))
    splits = Splits(*(read_corpus(file).sentences for file in files))
    with tempfile.TemporaryDirectory() as folder:
        masked_lm = args.masked_lm
        if masked_lm is None:
            masked_lm = folder
            train_masked_lm(args.encoder, splits.train, folder, steps=150, layers=2)
        new, report = build_protocol(
            "augmented",
            splits,
            {"roles": args.roles, "fallback": args.fallback},
            masked_lm=masked_lm,
            vectors=args.vectors,
            encoder=args.encoder,
        )
    shares = [100 * item["share"] for item in report["audit"]["triple_types"].values()]
    print("published", *PUBLISHED)
    print("ours     ", *(f"{share:.2f}" for share in shares))
    size = len(new.test) // len(PARTS)
    for number, (part, published) in enumerate(zip(PARTS, OF_PARTS, strict=True)):
        types = audit_corpus(splits.train, new.test[number * size : (number + 1) * size])[
            "triple_types"
        ]
        print(part, "published", *published, "ours", *(item["count"] for item in types.values()))
        print("  ", report["details"]["parts"][part])
    print(report["details"]["candidates"], report["details"]["unchanged_sentences"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
