"""``tripleaudit score``: precision, recall and F1 with intervals, and reasons for low scores."""

import argparse

from tripleaudit.commands.printer import add_json, check_limit, print_result
from tripleaudit.core.arguments import (
    add_fail_under,
    add_matching,
    add_missing,
    add_resampling,
    add_sides,
)

HELP = (
    "score predictions against gold triples, overall and by relation, number of triples and stratum"
)


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.scoring.spec import MATCHINGS

    add_sides(parser)
    parser.add_argument(
        "--train", metavar="TRAIN", help="training set; adds scores for seen and unseen triples"
    )
    add_matching(parser, f"when a triple is correct: {', '.join(MATCHINGS)}")
    parser.add_argument(
        "--predicted-format", default="auto", metavar="F", help="format of PREDICTIONS only"
    )
    add_missing(parser)
    parser.add_argument(
        "--relations",
        action="append",
        default=[],
        metavar="FILE|NAME=RELATION",
        help="rename predicted relations by a map (tripleaudit relations proposes one)",
    )
    parser.add_argument(
        "--by",
        type=lambda text: text.split(","),
        default=[],
        metavar="PARTS",
        help="further scores, such as overlap,entities,relations: overlap (Normal, SEO and EPO sentences), entities, "
        "relations, mentions (any name of an entity), triples (number of gold triples), ign (without triples of "
        "TRAIN), thresholds (of predicted scores)",
    )
    add_fail_under(parser, "F1")
    add_resampling(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from tripleaudit.api.score import score
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.scoring.relation_names import given_map

    result = score(
        args.gold,
        args.predictions,
        train=args.train,
        matching=args.matching,
        format=args.format,
        columns=parse_columns(args.column),
        predicted_columns=parse_columns(args.predicted_column, "--predicted-column"),
        predicted_format=args.predicted_format,
        missing=args.missing,
        relations=given_map(args.relations),
        by=args.by,
        bootstrap=args.bootstrap,
        seed=args.seed,
    )
    print_result(result, args.json)
    return check_limit("F1", result.f1, args.fail_under)
