"""``tripleaudit score``: P, R and F1 of predictions, and type F1 by stratum where a training set is given."""

import argparse
import json

HELP = "score predicted triples against gold triples"


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.descriptors import MATCHINGS

    parser.add_argument(
        "gold", metavar="GOLD", help="gold triples: any corpus format, or stored predictions with 'truth'"
    )
    parser.add_argument(
        "predictions",
        metavar="PREDICTIONS",
        help="any corpus format, or stored predictions with 'predict' (may be GOLD)",
    )
    parser.add_argument("--train", metavar="TRAIN", help="training set; adds type F1 by stratum")
    parser.add_argument(
        "--matching",
        default="exact-string",
        metavar="M",
        help=f"one of {', '.join(MATCHINGS)} (default: exact-string)",
    )
    parser.add_argument("--format", default="auto", metavar="F", help="format of the corpus files (default: auto)")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="which column is what, such as text=sentence,subject=head.word (docs/formats.md)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(args: argparse.Namespace) -> int:
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.protocols.strata import stratify
    from tripleaudit.protocols.types import SeenTriples
    from tripleaudit.scoring.matching import check_matching, sentence_counts
    from tripleaudit.scoring.metrics import by_stratum, micro
    from tripleaudit.scoring.sides import load_pair

    matching = check_matching(args.matching)
    columns = parse_columns(args.column)
    gold, predictions = load_pair(args.gold, args.predictions, args.format, columns)
    train = read_corpus(args.train, format=args.format, columns=columns).sentences if args.train else None
    counts = sentence_counts(gold, predictions, matching)
    total = micro(counts)
    strata = by_stratum(counts, stratify(gold, SeenTriples(train))) if train is not None else {}
    if args.json:
        value = {
            "matching": matching,
            "sentences": len(gold),
            "micro": total.to_json(),
            "strata": {name: {**score.to_json(), "sentences": score.sentences} for name, score in strata.items()},
        }
        print(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        print(_table(matching, {"all": total, **strata}))
    return 0


def _table(matching: str, scores: dict) -> str:
    lines = [
        f"Matching: {matching}; triples are sets within a sentence.",
        "",
        f"{'Stratum':<16}{'Sentences':>10}{'Precision':>11}{'Recall':>9}{'F1':>9}{'Correct':>9}{'Predicted':>11}{'Gold':>8}",
    ]
    for name, score in scores.items():
        parts = [
            f"{100 * value:.2f}" if score.sentences else "–" for value in (score.precision, score.recall, score.f1)
        ]
        lines.append(
            f"{name.replace('_', ' ').capitalize():<16}{score.sentences:>10}{parts[0]:>11}{parts[1]:>9}{parts[2]:>9}"
            f"{score.correct:>9}{score.predicted:>11}{score.gold:>8}"
        )
    return "\n".join(lines)
