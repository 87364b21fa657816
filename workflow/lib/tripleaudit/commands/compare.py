"""``tripleaudit compare``: what changed from one prediction file, result folder or study to
another.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.core.arguments import BELOW, RESAMPLES, SEED, Real, Whole, add_missing, add_reading

if TYPE_CHECKING:
    from tripleaudit.exchange.differences import Difference

HELP = (
    "compare two prediction files, result folders or studies: tests, intervals, changed sentences"
)


def configure(parser: argparse.ArgumentParser) -> None:
    sides = "a prediction file, the folder of a study, or of some of its runs (results/STUDY/predictions/…)"
    parser.add_argument("first", metavar="A", type=Path, help=sides)
    parser.add_argument(
        "second", metavar="B", type=Path, help="the same; differences are B minus A"
    )
    parser.add_argument(
        "gold", metavar="GOLD", type=Path, nargs="?", help="gold triples of two prediction files"
    )
    parser.add_argument(
        "--train", metavar="TRAIN", type=Path, help="of two prediction files; adds strata"
    )
    parser.add_argument(
        "--matching", default="exact-string", metavar="M", help="rule (default: exact-string)"
    )
    add_reading(parser, "prediction and corpus files")
    add_missing(parser)
    parser.add_argument(
        "--fail-below",
        type=Real(-100, 100),
        metavar="POINTS",
        help=f"exit with {BELOW} if the F1 of any pair changes by less than this, in points (0: on any loss)",
    )
    parser.add_argument(
        "--significant",
        action="store_true",
        help="with --fail-below: only if the whole 95 %% interval of the change lies below it",
    )
    parser.add_argument(
        "--show", type=Whole(), default=10, metavar="N", help="changed sentences to print (10)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, all changed sentences included"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write everything to a file .json, .md or .html"
    )
    parser.add_argument(
        "--bootstrap", type=RESAMPLES, default=1000, metavar="N", help="resamples; 0: no intervals"
    )
    parser.add_argument(
        "--shuffles",
        type=Whole(1, 10**6),
        default=10_000,
        metavar="N",
        help="draws of the tests (10000)",
    )
    parser.add_argument("--seed", type=SEED, default=0, metavar="S", help="of both (default: 0)")


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.api.compare import compare
    from tripleaudit.core.errors import UserError
    from tripleaudit.core.files import atomic_write
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.exchange.comparison_page import to_page

    if args.significant and args.fail_below is None:
        raise UserError("--significant: has no meaning without --fail-below POINTS")
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
        missing=args.missing,
        bootstrap=args.bootstrap,
        shuffles=args.shuffles,
        seed=args.seed,
    )
    found = result.comparison
    if args.out:
        with atomic_write(args.out) as stream:
            stream.write(
                json.dumps(result.to_json(), ensure_ascii=False)
                if form == "json"
                else to_page(found, form)
            )
    print(
        json.dumps(result.to_json(), ensure_ascii=False, indent=2)
        if args.json
        else to_page(found, "md", args.show)
    )
    if args.fail_below is None:
        return 0
    below = [
        pair for pair in result.pairs if is_below(pair.total, args.fail_below, args.significant)
    ]
    for pair in below:
        name = f"{pair.name}: " if pair.name else ""
        print(
            f"error: {name}{describe_change(pair.total)} (allowed: {args.fail_below:g})",
            file=sys.stderr,
        )
    return BELOW if below else 0


def is_below(difference: "Difference", points: float, significant: bool) -> bool:
    """Whether F1 changed by less than so many points; ``significant`` asks that of its whole
    interval.
    """
    if not significant:
        return 100 * difference.change() < points
    return difference.bounds is not None and 100 * difference.bounds["f1"].high < points


def describe_change(difference: "Difference") -> str:
    """Return ``F1 fell by 11.6 points [5.2, 18.0]``, with the interval where there is one."""
    change = 100 * difference.change()
    sign, verb = (-1, "fell") if change < 0 else (1, "rose only")
    interval = ""
    if difference.bounds is not None:
        bound = difference.bounds["f1"]
        low, high = sorted((100 * sign * bound.low, 100 * sign * bound.high))
        interval = f" [{low:.1f}, {high:.1f}]"
    return f"F1 {verb} by {abs(change):.1f} points{interval}"
