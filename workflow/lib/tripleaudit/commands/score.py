"""``tripleaudit score``: P, R and F1 of predictions with intervals, in parts, and why they may be low."""

import argparse
import json
from typing import Any

from tripleaudit.arguments import SEED, Whole, add_reading

HELP = "score predicted triples against gold triples, in all and by relation, cardinality and stratum"
SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.descriptors import MATCHINGS

    parser.add_argument(
        "gold", metavar="GOLD", help="gold triples: any corpus format, or stored predictions with 'truth'"
    )
    parser.add_argument(
        "predictions",
        metavar="PREDICTIONS",
        help="any corpus format, or stored predictions with 'predict' (may be GOLD); matched by id or by text",
    )
    parser.add_argument("--train", metavar="TRAIN", help="training set; adds type F1 by stratum")
    parser.add_argument(
        "--matching",
        default="exact-string",
        metavar="M",
        help=f"one of {', '.join(MATCHINGS)} (default: exact-string)",
    )
    add_reading(parser, "the corpus files")
    parser.add_argument(
        "--predicted-column",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="the same of PREDICTIONS alone, such as order=sor",
    )
    parser.add_argument(
        "--bootstrap", type=Whole(), default=1000, metavar="N", help="resamples of the intervals; 0: none"
    )
    parser.add_argument("--seed", type=SEED, default=0, metavar="S", help="of the resampling (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")


def run(args: argparse.Namespace) -> int:
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.errors import UserError
    from tripleaudit.protocols.strata import STRATA, stratify
    from tripleaudit.protocols.types import SeenTriples
    from tripleaudit.scoring.matching import applicable, check_matching, sentence_counts
    from tripleaudit.scoring.metrics import in_stratum, micro
    from tripleaudit.scoring.parts import by_cardinality, by_relation, described
    from tripleaudit.scoring.sides import load_pair
    from tripleaudit.scoring.why import hints

    matching = check_matching(args.matching)
    columns = parse_columns(args.column)
    predicted_columns = parse_columns(args.predicted_column, "--predicted-column")
    gold, predictions = load_pair(args.gold, args.predictions, args.format, columns, predicted_columns)
    train = read_corpus(args.train, format=args.format, columns=columns).sentences if args.train else None
    if matching not in applicable(gold, predictions):
        raise UserError(
            f"--matching {matching}: compares types of entities, but those of the gold or predicted triples have none"
        )
    counts = sentence_counts(gold, predictions, matching)
    strata = stratify(gold, SeenTriples(train)) if train is not None else []
    parts = {
        "strata": {name: counts[in_stratum(strata, name)] for name in STRATA if train is not None},
        "cardinality": by_cardinality(counts),
        "relations": by_relation(gold, predictions, matching),
    }
    value = {
        "matching": matching,
        "sentences": len(gold),
        "micro": described(counts, args.bootstrap, args.seed),
        **{
            part: {name: described(rows, args.bootstrap, args.seed) for name, rows in found.items()}
            for part, found in parts.items()
        },
        "hints": hints(gold, predictions, micro(counts)),
    }
    print(json.dumps(value, ensure_ascii=False, indent=2) if args.json else _readable(value))
    return 0


def _readable(value: dict[str, Any]) -> str:
    from tripleaudit.tables.render.escape import clean

    lines = [f"Matching: {value['matching']}; triples are sets within a sentence; 95 % intervals over sentences.", ""]
    lines += [*_part("", {"all": value["micro"]}), *(f"Note: {clean(hint)}" for hint in value["hints"])]
    if value["strata"]:
        lines += ["", *_part("Stratum", value["strata"])]
    lines += ["", *_part("Gold triples", value["cardinality"])]
    relations = value["relations"]
    lines += ["", *_part("Relation", {clean(name): relations[name] for name in list(relations)[:SHOWN]})]
    if len(relations) > SHOWN:
        lines.append(f"… and {len(relations) - SHOWN} more relations (--json has all)")
    return "\n".join(lines)


def _part(title: str, scores: dict[str, dict[str, Any]]) -> list[str]:
    width = max(16, *(len(name) + 2 for name in scores))
    head = f"{'Sentences':>9}{'Precision':>22}{'Recall':>22}{'F1':>22}{'Correct':>9}{'Predicted':>11}{'Gold':>7}"
    lines = [f"{title:<{width}}{head}"]
    for name, score in scores.items():
        shown = name.replace("_", " ").capitalize() if title in ("", "Stratum") else name
        cells = "".join(f"{_cell(score, metric):>22}" for metric in ("precision", "recall", "f1"))
        lines.append(
            f"{shown:<{width}}{score['sentences']:>9}{cells}{score['correct']:>9}{score['predicted']:>11}{score['gold']:>7}"
        )
    return lines


def _cell(score: dict[str, Any], metric: str) -> str:
    if not score["gold"] and (metric != "precision" or not score["predicted"]):
        return "–"
    bounds = score["intervals"].get(metric)
    interval = f" [{100 * bounds[0]:.1f}, {100 * bounds[1]:.1f}]" if bounds else ""
    return f"{100 * score[metric]:.2f}{interval}"
