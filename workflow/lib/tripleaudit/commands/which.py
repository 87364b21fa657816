"""``tripleaudit which``: the models of a list ranked by their F1 on a gold set."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.commands.printer import add_json, check_limit, print_error, print_result
from tripleaudit.core.arguments import (
    MONEY,
    NUMBER,
    POSITIVE,
    add_fail_under,
    add_matching,
    add_missing,
    add_reading,
    add_resampling,
)

if TYPE_CHECKING:
    from tripleaudit.llm.estimate import Estimate

HELP = "rank language models and prediction files by F1 on a gold set"


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.llm.store import DEFAULT_CACHE

    parser.add_argument("gold", metavar="GOLD", help="gold triples: any corpus format")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="[LABEL=]NAME@URL",
        help="a model and its endpoint, such as gpt-4o@https://host/v1; repeat it; exit with code 1 if a model "
        "does not answer",
    )
    parser.add_argument(
        "--predictions",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="stored predictions of another system, any corpus format; repeat it",
    )
    parser.add_argument(
        "--key-env", metavar="VARIABLE", help="environment variable with the key of the endpoints"
    )
    parser.add_argument(
        "--prices",
        type=MONEY,
        nargs=2,
        metavar=("IN", "OUT"),
        action="append",
        help="prices of a million tokens, sent and received: once for all models, or once for each "
        "--model in their order",
    )
    parser.add_argument(
        "--setting",
        choices=("closed", "semi-open", "open"),
        default="closed",
        help="closed (default): models get the relations, and their triples with others are left out; "
        "semi-open: models get the relations, and all triples count; open: models get only the text",
    )
    parser.add_argument(
        "--relation",
        action="append",
        default=[],
        metavar="NAME[=MEANING]",
        help="a relation that models are given (default: the relations of the gold triples); repeat it",
    )
    parser.add_argument(
        "--limit", type=NUMBER, metavar="N", help="use N sentences, spread evenly over the gold set"
    )
    add_matching(parser)
    add_reading(parser, "the files")
    add_missing(parser)
    parser.add_argument(
        "--cache",
        metavar="DIR",
        help=f"folder of stored answers (default: {DEFAULT_CACHE}, as in studies)",
    )
    parser.add_argument(
        "--budget",
        type=POSITIVE,
        metavar="MONEY",
        help="most money that all runs with this --cache may spend together; requires --prices",
    )
    parser.add_argument(
        "--estimate",
        action="store_true",
        help="print how many requests and tokens would be sent to the models and what they would cost; send nothing",
    )
    add_fail_under(parser, "the best F1")
    add_resampling(parser)
    add_json(parser)


def _prices(
    pairs: Sequence[Sequence[float]] | None,
) -> dict[str, float] | list[dict[str, float]] | None:
    """Return ``--prices`` as :func:`tripleaudit.which` takes them."""
    if not pairs:
        return None
    prices = [dict(zip(("input", "output"), pair, strict=True)) for pair in pairs]
    return prices[0] if len(prices) == 1 else prices


def run(args: argparse.Namespace) -> int:
    from tripleaudit.api.which import estimate_which, which
    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.readers.records import parse_columns

    if args.budget is not None and not args.prices:
        raise UserError("--budget requires --prices (the cost cannot be computed without them)")
    options: dict[str, Any] = {
        "prices": _prices(args.prices),
        "setting": args.setting,
        "relations": _named_relations(args.relation) or None,
        "limit": args.limit,
        "format": args.format,
        "columns": parse_columns(args.column),
        "cache": args.cache,
    }
    if args.estimate:
        _print_estimate(estimate_which(args.gold, args.model, **options), args)
        return 0
    result = which(
        args.gold,
        args.model,
        _named_files(args.predictions),
        **options,
        key_env=args.key_env,
        matching=args.matching,
        missing=args.missing,
        budget=args.budget,
        bootstrap=args.bootstrap,
        seed=args.seed,
    )
    print_result(result, args.json)
    for row in result.ranked:
        if row.failed:
            print_error(f"{row.name}: {row.failed}")
    best = result.best
    if best is None or best.scores is None:
        return 1
    code = check_limit(f"F1 of {best.name}", best.scores.f1, args.fail_under)
    has_failed = any(row.failed for row in result.ranked)
    return 1 if has_failed and code == 0 else code


def _print_estimate(estimates: Mapping[str, "Estimate"], args: argparse.Namespace) -> None:
    """Print what the models would be sent, as text or as JSON."""
    import json
    from dataclasses import asdict

    from tripleaudit.llm.estimate import estimate_text

    if args.json:
        print(
            json.dumps({name: asdict(estimate) for name, estimate in estimates.items()}, indent=2)
        )
    else:
        print(estimate_text(estimates, bool(args.prices)))


def _named_relations(items: list[str]) -> dict[str, str]:
    """Return name -> meaning of ``NAME[=MEANING]``; without a meaning it is empty."""
    from tripleaudit.core.errors import UserError

    relations: dict[str, str] = {}
    for item in items:
        name, _, meaning = item.partition("=")
        if not name or name in relations:
            raise UserError(f"--relation {item}: expected NAME[=MEANING], each name once")
        relations[name] = meaning
    return relations


def _named_files(items: list[str]) -> dict[str, str]:
    """Return name -> path of ``[NAME=]FILE``; without a name the file's stem is the name."""
    from tripleaudit.core.errors import UserError

    files: dict[str, str] = {}
    for item in items:
        name, equals, path = item.partition("=")
        if not equals or Path(item).exists():
            name, path = Path(item).stem, item
        if not name or not path:
            raise UserError(f"--predictions {item}: expected [NAME=]FILE")
        if name in files:
            raise UserError(
                f"--predictions {item}: {name!r} occurs twice; write NAME=FILE to give it another name"
            )
        files[name] = path
    return files
