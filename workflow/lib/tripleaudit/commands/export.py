"""``tripleaudit export``: corpora of any format as a Hugging Face ``DatasetDict``, CSV, Parquet,
brat or DocRED.
"""

import argparse

from tripleaudit.core.arguments import add_reading, named

HELP = "save corpora as a Hugging Face DatasetDict, JSON lines, CSV, Parquet, brat or DocRED"


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.corpora.writers import WRITERS

    parser.add_argument(
        "splits",
        nargs="+",
        metavar="SPLIT=FILE",
        help="for example train=train.jsonl test=test.jsonl",
    )
    add_reading(parser, "all files")
    parser.add_argument(
        "--to", default="datasets", choices=("datasets", *WRITERS), help="form (default: datasets)"
    )
    parser.add_argument("--occurrence", default="first", choices=("first", "all", "given"))
    parser.add_argument("--out", required=True, metavar="FOLDER", help="folder to create")


def run(args: argparse.Namespace) -> None:
    import tempfile
    from pathlib import Path

    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.corpora.writers import WRITERS, to_dataset_dict

    splits = named("SPLIT", args.splits, "SPLIT=FILE")
    if odd := [name for name in splits if not name.isidentifier()]:
        raise UserError(f"{odd[0]!r}: expected SPLIT=FILE, a split of letters, digits and _")
    out = Path(args.out)
    if out.exists():
        raise UserError(f"{out}: exists already, expected a new folder")
    columns = parse_columns(args.column)
    corpora = {
        name: read_corpus(path, args.format, args.occurrence, columns=columns).sentences
        for name, path in splits.items()
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as work:
        if args.to == "datasets":
            to_dataset_dict(corpora).save_to_disk(f"{work}/data")
        else:
            ending, write = WRITERS[args.to]
            for name, sentences in corpora.items():
                write(Path(work) / "data" / f"{name}{ending}", sentences)
        Path(f"{work}/data").replace(out)
    print(
        f"{out}: "
        + ", ".join(f"{name} {len(sentences)} sentences" for name, sentences in corpora.items())
    )
