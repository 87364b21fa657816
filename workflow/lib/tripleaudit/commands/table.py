"""``tripleaudit table``: one paper-style table from scores, audits and facts of trainings."""

import argparse

HELP = "make one table in CSV, Markdown, LaTeX, HTML and JSON"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the table, such as type-f1")
    for kind, text in (
        ("scores", "tidy scores files"),
        ("counts", "per-sentence counts, for intervals over seeds and significance"),
        ("audits", "audits of corpora and protocols, JSON"),
        ("runs", "facts of trainings, JSON"),
        ("criteria", "which needles count as found, JSON lines"),
        ("report", "of systems that were shown needles, JSON"),
        ("collection", "manifests of text collections"),
        ("curves", "precision-recall curves and clue words of classifiers, JSON"),
    ):
        parser.add_argument(f"--{kind}", nargs="*", default=[], metavar="FILE", help=text)
    parser.add_argument("--options", default="{}", metavar="JSON", help="matching, digits, caption, style")
    parser.add_argument("--out-prefix", required=True, metavar="PATH", help="path of the files, without ending")


def run(args: argparse.Namespace) -> int:
    from tripleaudit.tables.builders import make_table

    paths = make_table(
        args.name,
        args.out_prefix,
        scores=args.scores,
        counts=args.counts,
        audits=args.audits,
        runs=args.runs,
        options=args.options,
        files={kind: getattr(args, kind) for kind in ("criteria", "report", "collection", "curves")},
    )
    for path in paths:
        print(path)
    return 0
