"""``tripleaudit compare``: differences between two prediction files, result folders or studies."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.commands.printer import add_json, print_error, print_result
from tripleaudit.core.arguments import BELOW, RESAMPLES, SEED, Real, Whole, add_missing, add_reading

if TYPE_CHECKING:
    from tripleaudit.api.compare import CompareResult
    from tripleaudit.exchange.differences import Difference

PAGE_ENDINGS = (".json", ".md", ".html")
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
        "--train",
        metavar="TRAIN",
        type=Path,
        help="training set of two prediction files; adds strata",
    )
    parser.add_argument(
        "--matching",
        default="exact-string",
        metavar="M",
        help="matching rule (default: exact-string)",
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
        "--show",
        type=Whole(),
        default=10,
        metavar="N",
        help="number of changed sentences to print (10)",
    )
    add_json(parser)
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write everything to a file .json, .md or .html"
    )
    parser.add_argument(
        "--bootstrap",
        type=RESAMPLES,
        default=1000,
        metavar="N",
        help="number of bootstrap resamples; 0 for no intervals",
    )
    parser.add_argument(
        "--shuffles",
        type=Whole(1, 10**6),
        default=10_000,
        metavar="N",
        help="number of shuffles of the randomisation test (10000)",
    )
    parser.add_argument(
        "--seed",
        type=SEED,
        default=0,
        metavar="S",
        help="seed of resamples and shuffles (default: 0)",
    )


def run(args: argparse.Namespace) -> int:
    from tripleaudit.api.compare import compare
    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.exchange.comparison_page import to_terminal

    if args.significant and args.fail_below is None:
        raise UserError("--significant: has no meaning without --fail-below POINTS")
    if args.out and args.out.suffix not in PAGE_ENDINGS:
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
    if args.out:
        write_page(result, args.out)
    print_result(result, args.json, to_terminal(result.comparison, args.show))
    if args.fail_below is None:
        return 0
    below = [
        pair for pair in result.pairs if is_below(pair.total, args.fail_below, args.significant)
    ]
    for pair in below:
        name = f"{pair.name}: " if pair.name else ""
        print_error(f"{name}{describe_change(pair.total)} (allowed: {args.fail_below:g})")
    return BELOW if below else 0


def write_page(result: "CompareResult", path: Path) -> None:
    """Write everything as JSON, Markdown or HTML, by the ending of the file."""
    from tripleaudit.core.files import atomic_write
    from tripleaudit.exchange.comparison_page import to_page

    if path.suffix == ".json":
        text = json.dumps(result.to_json(), ensure_ascii=False)
    else:
        text = to_page(result.comparison, path.suffix.lstrip("."))
    with atomic_write(path) as stream:
        stream.write(text)


def is_below(difference: "Difference", points: float, significant: bool) -> bool:
    """Return whether F1, or with ``significant`` its whole interval, changed by less than points."""
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
