"""``tripleaudit prepare``: write one split of a corpus as JSON lines, with a report."""

import argparse

from tripleaudit.core.arguments import NUMBER, POSITIVE, SEED, add_occurrence, add_reading, named

HELP = "convert a corpus of any format to JSON Lines with character offsets, and write a report"


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.corpora.spec import FORMATS

    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument(
        "--source",
        action="append",
        metavar="PATH",
        help="a file or folder in any corpus format; repeat it to join several",
    )
    origin.add_argument("--corpus", metavar="NAME", help="a corpus of `tripleaudit list corpora`")
    parser.add_argument(
        "--split", metavar="SPLIT", help="split of --corpus, or of a Hugging Face data set"
    )
    parser.add_argument(
        "--raw-root", metavar="FOLDER", help="folder with the published files of the corpus"
    )
    add_reading(parser, f"files of your own: auto, {', '.join(sorted(FORMATS))}")
    add_occurrence(parser)
    parser.add_argument(
        "--divide",
        metavar="PART=WEIGHT,...",
        help="divide the source at random, for example train=8,valid=1,test=1",
    )
    parser.add_argument("--part", metavar="PART", help="with --divide: the part to write")
    parser.add_argument(
        "--seed", type=SEED, default=0, metavar="S", help="seed of --divide (default: 0)"
    )
    parser.add_argument("--limit", type=NUMBER, metavar="N", help="keep only the first N sentences")
    parser.add_argument(
        "--limit-each",
        type=NUMBER,
        metavar="N",
        help="with --corpus: keep only the first N sentences of each file",
    )
    parser.add_argument(
        "--uncased",
        action="store_true",
        help="lower-case and strip accents, as an uncased encoder reads the text",
    )
    parser.add_argument(
        "--only-relation",
        action="append",
        default=[],
        metavar="NAME",
        help="keep only sentences whose triples all have this relation; repeat it for several relations",
    )
    parser.add_argument(
        "--some-absent",
        action="store_true",
        help="accept relations in --only-relation that do not occur in the file",
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="JSON Lines file to write")
    parser.add_argument("--report", metavar="FILE", help="JSON file for the report")


def run(args: argparse.Namespace) -> None:
    from tripleaudit.core.files import write_json
    from tripleaudit.corpora.remarks import say
    from tripleaudit.corpora.store import save_sentences

    corpus = _registered(args) if args.corpus else _own(args)
    save_sentences(args.out, corpus.sentences)
    if args.report:
        write_json(args.report, corpus.report.to_json())
    report = corpus.report
    print(
        f"{report.source}: {report.sentences} sentences ({report.zero_triple_sentences} without triples), "
        f"{report.triples} triples ({report.duplicates} duplicates, {report.triples_not_in_text} with "
        "an entity that is not in the text)"
    )
    say(report)


def _registered(args: argparse.Namespace):
    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.registered import read_registered

    if not args.split or not args.raw_root:
        raise UserError("--corpus: a registered corpus needs --split and --raw-root")
    if args.divide or args.format != "auto":
        raise UserError(
            "--corpus: the registry says how a corpus is read and divided; leave out --format and --divide"
        )
    return read_registered(
        args.corpus,
        args.split,
        args.raw_root,
        occurrence=args.occurrence,
        limit=args.limit,
        limit_each=args.limit_each,
        lower=args.uncased,
        only=args.only_relation,
        some_absent=args.some_absent,
    )


def _own(args: argparse.Namespace):
    from tripleaudit.core.errors import UserError
    from tripleaudit.core.shipped import shipped
    from tripleaudit.corpora.own_files import read_own_files
    from tripleaudit.corpora.readers.records import parse_columns

    weights = None
    if args.divide:
        parts = named("--divide", args.divide.split(","), "PART=WEIGHT,...")
        try:
            weights = {name: POSITIVE(weight) for name, weight in parts.items()}
        except argparse.ArgumentTypeError as error:
            raise UserError(f"--divide: {args.divide!r}, expected PART=WEIGHT,...") from error
        if args.part not in weights:
            raise UserError(f"--part: {args.part!r}, expected one of {', '.join(weights)}")
    return read_own_files(
        [shipped(path) for path in args.source],
        format=args.format,
        columns=parse_columns(args.column),
        occurrence=args.occurrence,
        split=args.split,
        divide=weights,
        part=args.part,
        seed=args.seed,
        limit=args.limit,
        only_relations=args.only_relation,
        some_absent=args.some_absent,
        lower=args.uncased,
    )
