"""``tripleaudit compare``: what changed from one prediction file, result folder or study to another."""

import argparse
from pathlib import Path

from tripleaudit.arguments import RESAMPLES, SEED, Real, Whole, add_reading

HELP = "compare two prediction files, result folders or studies: tests, intervals, changed sentences"
BELOW = 3
"""Exit code where the difference is below ``--fail-below``; 1 and 2 stand for errors."""


def configure(parser: argparse.ArgumentParser) -> None:
    sides = "a prediction file, the folder of a study, or of some of its runs (results/STUDY/predictions/…)"
    parser.add_argument("first", metavar="A", type=Path, help=sides)
    parser.add_argument("second", metavar="B", type=Path, help="the same; differences are B minus A")
    parser.add_argument("gold", metavar="GOLD", type=Path, nargs="?", help="gold triples of two prediction files")
    parser.add_argument("--train", metavar="TRAIN", type=Path, help="of two prediction files; adds strata")
    parser.add_argument("--matching", default="exact-string", metavar="M", help="rule (default: exact-string)")
    add_reading(parser, "prediction and corpus files")
    parser.add_argument(
        "--fail-below",
        type=Real(-100, 100),
        metavar="POINTS",
        help=f"exit with {BELOW} if the F1 of any pair changes by less than this, in points (0: on any loss)",
    )
    parser.add_argument("--show", type=Whole(), default=10, metavar="N", help="changed sentences to print (10)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, all changed sentences included")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write everything to a file .json, .md or .html")
    parser.add_argument("--bootstrap", type=RESAMPLES, default=1000, metavar="N", help="resamples; 0: no intervals")
    parser.add_argument(
        "--shuffles", type=Whole(1, 10**6), default=10_000, metavar="N", help="draws of the tests (10000)"
    )
    parser.add_argument("--seed", type=SEED, default=0, metavar="S", help="of both (default: 0)")


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.api.compare import compare
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.errors import UserError
    from tripleaudit.exchange.comparison_page import to_page
    from tripleaudit.files import atomic_write

    form = args.out.suffix.lstrip(".") if args.out else ""
    if args.out and form not in ("json", "md", "html"):
        raise UserError(f"--out {args.out}: expected a file that ends in .json, .md or .html")
    result = compare(
        args.first,
        args.second,
        args.gold,
        train=args.train,
        matching=args.matching,
        format=args.format,
        columns=parse_columns(args.column),
        bootstrap=args.bootstrap,
        shuffles=args.shuffles,
        seed=args.seed,
    )
    found = result.comparison
    if args.out:
        with atomic_write(args.out) as stream:
            stream.write(json.dumps(result.to_json(), ensure_ascii=False) if form == "json" else to_page(found, form))
    print(json.dumps(result.to_json(), ensure_ascii=False, indent=2) if args.json else to_page(found, "md", args.show))
    worst = min(100 * pair.total.change() for pair in result.pairs)
    return BELOW if args.fail_below is not None and worst < args.fail_below else 0
