"""``tripleaudit split``: make a data set that asks for more than recall, from one's own files."""

import argparse
from pathlib import Path

from tripleaudit.core.arguments import (
    NUMBER,
    SEED,
    Real,
    Whole,
    add_force,
    add_reading,
    check_folder,
)

HELP = "build a harder test set from your own files (rearranged, sifted, augmented, ...)"


def configure(parser: argparse.ArgumentParser) -> None:
    for name, label in (("train", "training"), ("valid", "validation"), ("test", "test")):
        parser.add_argument(name, metavar=name.upper(), help=f"{label} set, any corpus format")
    parser.add_argument(
        "--protocol",
        required=True,
        choices=("rearranged", "sifted", "augmented", "cardinality", "unseen_relations"),
        help="how the test set is made (docs/explanation/test-sets.md)",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder for the sets and report.json"
    )
    add_force(parser)
    add_reading(parser, "the three files")
    parser.add_argument(
        "--seed", type=SEED, default=0, metavar="S", help="seed of all draws (default: 0)"
    )
    sifted = parser.add_argument_group("sifted")
    both = parser.add_argument_group("sifted and rearranged")
    both.add_argument(
        "--rule",
        choices=("frequency", "sample", "key-triple", "every-triple"),
        help="sifted: which test triples to hide from training (frequency or sample); rearranged: which sentences to "
        "move (default: key-triple)",
    )
    sifted.add_argument(
        "--max-count",
        type=NUMBER,
        metavar="N",
        help="frequency: hide triples in at most N training sentences",
    )
    sifted.add_argument(
        "--percent",
        type=Real(0, 100),
        metavar="K",
        help="sample: K %% of the different test triples",
    )
    rearranged = parser.add_argument_group("rearranged")
    rearranged.add_argument(
        "--valid-size",
        type=Whole(),
        metavar="N",
        help="number of validation sentences (default: unchanged)",
    )
    rearranged.add_argument(
        "--test-size",
        type=Whole(),
        metavar="N",
        help="number of test sentences (default: unchanged)",
    )
    augmented = parser.add_argument_group("augmented")
    augmented.add_argument(
        "--masked-lm", type=Path, metavar="DIR", help="folder of a masked language model"
    )
    augmented.add_argument(
        "--vectors", type=Path, metavar="FILE", help="word vectors, GloVe or word2vec form"
    )
    augmented.add_argument(
        "--encoder",
        type=Path,
        metavar="DIR",
        help="encoder from which a missing one of the two is made",
    )
    augmented.add_argument(
        "--k", type=NUMBER, metavar="N", help="similar entities to draw from (default: 11)"
    )
    augmented.add_argument(
        "--beams", type=NUMBER, metavar="N", help="partial candidates of long entities (default: 5)"
    )
    augmented.add_argument(
        "--roles",
        choices=("files", "text"),
        help="a name that is both subject and object becomes unseen (files, default: as in the published files) or "
        "seen (text: as the paper describes)",
    )
    augmented.add_argument(
        "--fallback",
        choices=("files", "text"),
        help="how to replace words without a suitable neighbour: as in the published files (default) "
        "or as the paper describes",
    )
    augmented.add_argument(
        "--mlm-steps", type=NUMBER, metavar="N", help="steps of the masked LM (default: 300)"
    )
    unseen = parser.add_argument_group("unseen_relations")
    unseen.add_argument(
        "--relations", type=NUMBER, metavar="N", help="relations to hold out (default: 5)"
    )
    cardinality = parser.add_argument_group("cardinality")
    cardinality.add_argument(
        "--raw", nargs="+", metavar="FILE", help="raw corpus with zero-triple sentences"
    )
    cardinality.add_argument(
        "--zero-sizes",
        metavar="S",
        help="zero-triple sentences to add to training, validation and test set: N,N,N, nyt24 or "
        "nyt29",
    )


_BELONGS = {
    "rearranged": ("valid_size", "test_size", "rule"),
    "sifted": ("rule", "max_count", "percent"),
    "augmented": (
        "k",
        "beams",
        "roles",
        "fallback",
        "mlm_steps",
        "masked_lm",
        "vectors",
        "encoder",
    ),
    "cardinality": ("zero_sizes", "raw"),
    "unseen_relations": ("relations",),
}
_PLACES = ("masked_lm", "vectors", "encoder", "raw")


def run(args: argparse.Namespace) -> int:
    from tripleaudit.core.errors import UserError
    from tripleaudit.core.files import write_json
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.corpora.store import save_sentences
    from tripleaudit.protocols.build import build_protocol
    from tripleaudit.protocols.splits import SPLIT_NAMES, Splits

    for name in sorted(
        {name for names in _BELONGS.values() for name in names} - set(_BELONGS[args.protocol])
    ):
        if getattr(args, name) is not None:
            owners = " and ".join(protocol for protocol, names in _BELONGS.items() if name in names)
            raise UserError(
                f"--{name.replace('_', '-')} belongs to protocol {owners}, not {args.protocol}"
            )
    sources = [*(getattr(args, name) for name in SPLIT_NAMES), *(args.raw or ())]
    check_folder(
        args.out, args.force, sources, [*(f"{name}.jsonl" for name in SPLIT_NAMES), "report.json"]
    )
    given = {"format": args.format, "columns": parse_columns(args.column)}
    splits = Splits(*(read_corpus(getattr(args, name), **given).sentences for name in SPLIT_NAMES))
    options = {name: getattr(args, name) for name in _BELONGS[args.protocol] if name not in _PLACES}
    built, report = build_protocol(
        args.protocol,
        splits,
        {**options, "seed": args.seed},
        **{name: getattr(args, name) for name in _PLACES if name != "raw"},
        raw=read_corpus(args.raw).sentences if args.raw else None,
    )
    for name, sentences in built:
        save_sentences(args.out / f"{name}.jsonl", sentences)
    write_json(args.out / "report.json", report)
    print(_readable(report, args.out))
    return 0


def _readable(report: dict, out: Path) -> str:
    lines = [f"{out}: {report['protocol']}"]
    for name, size in report["sizes"].items():
        lines.append(f"  {name:<6} {size['sentences']:>8} sentences {size['triples']:>8} triples")
    for name, row in report["audit"]["triple_types"].items():
        lines.append(
            f"  {name.replace('_', ' '):<15} {row['count']:>7} test triples {100 * row['share']:7.2f} %"
        )
    return "\n".join(lines)
