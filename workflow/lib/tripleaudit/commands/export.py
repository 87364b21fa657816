"""``tripleaudit export``: convert corpora into the format of another program.

A single FILE becomes one file; ``SPLIT=FILE`` for each split becomes a folder.
"""

import argparse
from pathlib import Path

from tripleaudit.core.arguments import add_occurrence, add_reading, named

HELP = "convert corpora into the format of another program"


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.corpora.writers import WRITERS

    parser.add_argument(
        "splits",
        nargs="+",
        metavar="FILE",
        help="a file, or several splits as in train=train.jsonl test=test.jsonl",
    )
    add_reading(parser, "the input files")
    parser.add_argument(
        "--to",
        default="datasets",
        choices=("datasets", *WRITERS),
        help="output format (default: datasets, which requires SPLIT=FILE)",
    )
    add_occurrence(parser)
    parser.add_argument(
        "--out",
        required=True,
        metavar="PATH",
        help="the file to write, or for splits a folder that does not exist yet",
    )


def run(args: argparse.Namespace) -> None:
    from tripleaudit.api.export import export
    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.readers.records import parse_columns

    first, *others = args.splits
    is_file = Path(first).exists()
    if others or ("=" in first and not is_file):
        _export_splits(args)
        return
    if args.to == "datasets":
        raise UserError(f"--to datasets: requires named splits, such as train={first}")
    columns = parse_columns(args.column)
    options = {"format": args.format, "columns": columns, "occurrence": args.occurrence}
    print(export(first, args.out, args.to, **options))


def _export_splits(args: argparse.Namespace) -> None:
    """Write a folder with one file for each split, or a data set of Hugging Face."""
    import tempfile

    from tripleaudit.core.errors import UserError
    from tripleaudit.core.wording import counted
    from tripleaudit.corpora.exports import Losses
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.corpora.writers import WRITERS, count_others, to_dataset_dict

    splits = named("SPLIT", args.splits, "SPLIT=FILE")
    if odd := [name for name in splits if not name.isidentifier()]:
        raise UserError(
            f"{odd[0]!r}: is no name of a split; use letters, digits and _, as in train=train.jsonl"
        )
    out = Path(args.out)
    if out.exists():
        raise UserError(f"{out}: already exists; choose a new folder")
    columns = parse_columns(args.column)
    corpora = {
        name: read_corpus(path, args.format, args.occurrence, columns=columns).sentences
        for name, path in splits.items()
    }
    losses = Losses()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as work:
        if args.to == "datasets":
            to_dataset_dict(corpora).save_to_disk(f"{work}/data")
            for sentences in corpora.values():
                losses += count_others(sentences)
        else:
            ending, write = WRITERS[args.to]
            for name, sentences in corpora.items():
                losses += write(Path(work) / "data" / f"{name}{ending}", sentences)
        Path(f"{work}/data").replace(out)
    sizes = [
        f"{name} {counted(len(sentences), 'sentence{s}')}" for name, sentences in corpora.items()
    ]
    print(f"{out}: {', '.join(sizes)}")
    for loss, count in losses.items():
        print(f"  {counted(count, loss)}")
