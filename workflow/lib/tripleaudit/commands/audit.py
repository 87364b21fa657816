"""``tripleaudit audit``: how much of a test set its training set gives away."""

import argparse

from tripleaudit.core.arguments import SEED, Whole, add_reading

HELP = "count seen and unseen test triples, by triple type and stratum"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", metavar="TRAIN", help="training set, any corpus format")
    parser.add_argument("test", metavar="TEST", help="test set, any corpus format")
    add_reading(parser, "both files")
    parser.add_argument("--valid", metavar="VALID", help="validation set, for --random-splits")
    parser.add_argument(
        "--random-splits",
        type=Whole(1),
        metavar="N",
        help="also report the share of unseen triples in N random splits of the same sizes",
    )
    parser.add_argument(
        "--seed", type=SEED, default=0, metavar="S", help="seed of the random splits (default: 0)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.api.audit import audit
    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.readers.records import parse_columns

    if args.valid and not args.random_splits:
        raise UserError("--valid: has no meaning without --random-splits")
    columns = parse_columns(args.column)
    result = audit(
        args.train,
        args.test,
        args.valid,
        format=args.format,
        columns=columns,
        random_splits=args.random_splits or 0,
        seed=args.seed,
    )
    print(json.dumps(result.to_json(), ensure_ascii=False, indent=2) if args.json else result)
    return 0
