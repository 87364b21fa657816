"""``tripleaudit compare``: differences between two prediction files, result folders or studies."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.commands.printer import add_json, format_below, is_below, print_error, print_result
from tripleaudit.core.arguments import (
    BELOW,
    UNDECIDED,
    Real,
    Whole,
    add_matching,
    add_missing,
    add_reading,
    add_resampling,
)

if TYPE_CHECKING:
    from tripleaudit.api.compare import CompareResult
    from tripleaudit.exchange.differences import Difference

PAGE_ENDINGS = (".json", ".md", ".html")
HELP = (
    "compare two prediction files, result folders or studies: tests, intervals, changed sentences"
)


def configure(parser: argparse.ArgumentParser) -> None:
    sides = (
        "a prediction file, the folder of a study, or the folder of some runs of a study "
        "(results/STUDY/predictions/…)"
    )
    parser.add_argument("first", metavar="A", type=Path, help=sides)
    parser.add_argument(
        "second", metavar="B", type=Path, help="the same; differences are B minus A"
    )
    parser.add_argument(
        "gold",
        metavar="GOLD",
        type=Path,
        nargs="?",
        help="gold triples, if A and B are prediction files without them",
    )
    parser.add_argument(
        "--train",
        metavar="TRAIN",
        type=Path,
        help="training set, for two prediction files; adds scores for seen and unseen triples",
    )
    add_matching(parser)
    add_reading(parser, "prediction and corpus files")
    add_missing(parser)
    parser.add_argument(
        "--fail-below",
        type=Real(-100, 100),
        metavar="POINTS",
        help=f"exit with {BELOW} if the F1 of B minus that of A is below POINTS, for any "
        "of the compared systems: "
        "0 fails on any loss, -0.5 on a loss of more than half a point, 2 on a gain below two points",
    )
    parser.add_argument(
        "--significant",
        action="store_true",
        help="with --fail-below 0 or less: fail only if the loss is significant (p below .05 and the whole "
        f"95 %% interval below POINTS); exit with {UNDECIDED} if this cannot be decided, as with fewer "
        "than 30 sentences",
    )
    parser.add_argument(
        "--show",
        type=Whole(),
        default=10,
        metavar="N",
        help="number of changed sentences to print (default: 10)",
    )
    add_json(parser)
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write everything to a .json, .md or .html file"
    )
    parser.add_argument(
        "--shuffles",
        type=Whole(1, 10**6),
        default=10_000,
        metavar="N",
        help="number of shuffles of the randomisation test (default: 10000)",
    )
    add_resampling(parser, "resamples and shuffles")


def run(args: argparse.Namespace) -> int:
    from tripleaudit.api.compare import compare
    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.exchange.comparison_page import to_terminal

    check_gate(args)
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
    for hint in result.hints:
        print(f"note: {hint}", file=sys.stderr)
    return 0 if args.fail_below is None else gate_exit_code(result, args)


def check_gate(args: argparse.Namespace) -> None:
    """Refuse gates that no comparison can decide.

    Raises:
        UserError: ``--significant`` lacks a limit or intervals, or has a limit above 0.
    """
    from tripleaudit.core.errors import UserError

    if not args.significant:
        return
    if args.fail_below is None:
        raise UserError("--significant: has no meaning without --fail-below POINTS")
    if args.fail_below > 0:
        raise UserError(
            "--significant: tests losses, so --fail-below must be 0 or less; to require a gain, "
            "remove --significant"
        )
    if args.bootstrap == 0:
        raise UserError(
            "--significant: requires intervals, which --bootstrap 0 turns off; remove one of the two"
        )


def gate_exit_code(result: "CompareResult", args: argparse.Namespace) -> int:
    """Return the exit code of ``--fail-below``, and print each pair that fails or is undecided."""
    below = undecided = False
    for pair in result.pairs:
        name = f"{pair.name}: " if pair.name else ""
        problem = undecided_reason(pair.total, len(result.pairs), args) if args.significant else ""
        if problem:
            undecided = True
            print_error(f"{name}--significant cannot be decided: {problem}")
        elif fails(pair.total, args.fail_below, args.significant):
            below = True
            change = describe_change(pair.total, args.fail_below)
            limit = args.fail_below
            condition = f"allowed: a loss of {-limit:g}" if limit else "allowed: no loss"
            if limit > 0:
                condition = f"required: {limit:+g}"
            print_error(f"{name}{change} ({condition})")
    if below:
        return BELOW
    return UNDECIDED if undecided else 0


def undecided_reason(difference: "Difference", pairs: int, args: argparse.Namespace) -> str:
    """Return why no loss could ever be significant; empty if one could.

    Args:
        difference: of F1 over all sentences.
        pairs: number of p-values that Holm's correction counts.
        args: the options.
    """
    from tripleaudit.scoring.significance import ALPHA, MIN_CASES

    if difference.units < MIN_CASES:
        return (
            f"nothing is concluded from {difference.units} sentences; at least {MIN_CASES} are "
            "needed (sentences that are variants of one text count as one)"
        )
    if not difference.first[2] and not difference.second[2]:
        return "no predicted triple of either side is correct"
    if pairs / (args.shuffles + 1) >= ALPHA:
        least = int(pairs / ALPHA)
        return f"with --shuffles {args.shuffles} no p-value is below {ALPHA}; use at least {least}"
    return ""


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


def fails(difference: "Difference", points: float, significant: bool) -> bool:
    """Return whether F1 changed by less than some points, with ``significant`` beyond chance.

    A loss beyond chance is significant (:func:`~tripleaudit.scoring.significance.is_significant`),
    and its whole interval is below the limit.
    """
    if not is_below(100 * difference.change(), points):
        return False
    if not significant:
        return True
    assert difference.bounds is not None
    return difference.clear and 100 * difference.bounds["f1"].high < points


def describe_change(difference: "Difference", points: float) -> str:
    """Return ``F1 fell by 11.6 points [5.2, 18.0]``, with the interval where there is one.

    Args:
        difference: of F1 over all sentences.
        points: the limit that the change is below; as many digits as show this are printed.
    """
    change = 100 * difference.change()
    if not change:
        return "F1 did not change"
    sign, verb = (-1, "fell") if change < 0 else (1, "rose only")
    amount = format_below(change, points).lstrip("-")
    interval = ""
    if difference.bounds is not None:
        bound = difference.bounds["f1"]
        low, high = sorted((100 * sign * bound.low, 100 * sign * bound.high))
        interval = f" [{low:.1f}, {high:.1f}]"
    return f"F1 {verb} by {amount} points{interval}"
