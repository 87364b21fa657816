"""``tripleaudit plots``: one plot of a study as SVG, and its Vega-Lite specification beside it."""

import argparse

HELP = "draw a plot of a study as SVG and Vega-Lite specification"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the plot, such as type-f1")
    for kind, text in (
        ("scores", "tidy scores files"),
        ("counts", "per-sentence counts, for intervals over several seeds"),
        ("runs", "facts of trainings and systems, JSON"),
        ("curves", "precision-recall curves of classifiers, JSON"),
        ("history", "training histories, …/CORPUS/TRAINSET/EXTRACTOR/NOISE/SEED/history.jsonl"),
    ):
        parser.add_argument(f"--{kind}", nargs="*", default=[], metavar="FILE", help=text)
    parser.add_argument("--predictions", nargs="*", default=[], metavar="FILE", help="whose benchmarks are shown")
    parser.add_argument("--options", default="{}", metavar="JSON", help="matching: the matching rule")
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="SVG file to write; the specification gets the ending .json"
    )


def run(args: argparse.Namespace) -> int:
    from tripleaudit.tables.loading import load_inputs
    from tripleaudit.tables.plots import write_plot
    from tripleaudit.tables.plots.time_memory import benchmarks_of

    inputs = load_inputs(
        scores=args.scores,
        counts=args.counts,
        runs=args.runs,
        options=args.options,
        files={"curves": args.curves, "history": args.history, "benchmarks": benchmarks_of(args.predictions)},
    )
    write_plot(args.name, inputs, args.out)
    print(args.out)
    return 0
