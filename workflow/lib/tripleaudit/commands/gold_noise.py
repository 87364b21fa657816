"""``tripleaudit gold-noise``: a sample of what gold and systems disagree on, to be judged, and what follows from it."""

import argparse
from pathlib import Path

from tripleaudit.arguments import SEED, Whole, named

HELP = (
    "draw a sample of what gold triples and systems disagree on to be judged, and bound corrected scores by the labels"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", metavar="GOLD", help="gold sentences, of any format")
    parser.add_argument(
        "systems", nargs="+", metavar="NAME=FILE", help="predictions of the best systems, with texts or with ids alone"
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--sample", type=Whole(2), metavar="N", help="draw so many triples, half of them missed gold ones")
    way.add_argument("--labels", metavar="FILE", help="a judged sample")
    parser.add_argument("--out", type=Path, metavar="FILE", help="with --sample: where it goes, as CSV")
    parser.add_argument("--seed", type=SEED, default=0, metavar="S", help="of the sample (default: 0)")
    parser.add_argument("--json", action="store_true", help="with --labels: print one JSON object")


def run(args: argparse.Namespace) -> None:
    import json

    from tripleaudit.corpora.model import Sentence
    from tripleaudit.errors import UserError
    from tripleaudit.scoring.gold_noise import corrected, disagreements, drawn, read_labels, write_items
    from tripleaudit.scoring.sides import load_side
    from tripleaudit.systems.queries import Query
    from tripleaudit.systems.stored import answer

    if bool(args.sample) != bool(args.out):
        raise UserError("--out: expected with --sample, and with nothing else")
    gold = load_side(args.gold, "truth")
    texts = [Sentence(each.id, each.text) for each in gold]
    systems = {
        name: answer(Query(name, {}, texts, job={"files": [file]})).sentences
        for name, file in named("NAME", args.systems).items()
    }
    found = disagreements(gold, systems)
    print(
        f"{len(found.gold)} gold triples, {len(found.missed)} of them missed by one of {len(systems)} systems or more; "
        f"{len(found.added)} triples that gold lacks"
    )
    if args.sample:
        write_items(args.out, drawn(found, args.sample, args.seed), found.texts)
        print(f"{args.out}: {2 * (args.sample // 2)} triples to judge: yes, no or unsure in 'label'; then --labels")
        return
    labels, left = read_labels(args.labels)
    rows = corrected(found, labels, args.seed)
    if args.json:
        print(json.dumps({"judged": len(labels), "left_out": left, "systems": [vars(row) for row in rows]}, indent=2))
        return
    print(f"{len(labels)} judged" + "".join(f", {count} rows {reason}" for reason, count in left.items()))
    for row in rows:
        print(f"\n{row.system}")
        for name, plain, bound in (
            ("precision", row.precision, row.corrected_precision),
            ("recall", row.recall, row.corrected_recall),
        ):
            print(
                f"  {name:<10}{100 * plain:5.1f} against gold, {100 * bound.least:.1f} to {100 * bound.most:.1f} "
                f"corrected, 95 % interval [{100 * bound.low:.1f}, {100 * bound.high:.1f}]"
            )
        for kind, said in (("missed", "gold triples that it misses"), ("added", "triples that it adds")):
            right, wrong, unsure = row.judged[kind]
            print(f"  {said}: {right} stated, {wrong} not, {unsure} unsure")
    print(
        "\nTriples that neither gold nor a system has are not looked for: with them, corrected recall would be lower."
    )
