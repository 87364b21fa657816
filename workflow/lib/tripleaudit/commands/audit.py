"""``tripleaudit audit``: how much of a test set its training set gives away."""

import argparse

from tripleaudit.arguments import add_reading

HELP = "audit a test set against its training set: triple types, strata, cardinality"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", metavar="TRAIN", help="training set, any corpus format")
    parser.add_argument("test", metavar="TEST", help="test set, any corpus format")
    add_reading(parser, "both files")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.api.audit import audit
    from tripleaudit.corpora.readers.records import parse_columns

    result = audit(args.train, args.test, format=args.format, columns=parse_columns(args.column))
    print(json.dumps(result.to_json(), ensure_ascii=False, indent=2) if args.json else result)
    return 0
