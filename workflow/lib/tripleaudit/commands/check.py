"""``tripleaudit check``: content of corpus files, suspicious entries, and shared sentences."""

import argparse
from pathlib import Path
from typing import Any

from tripleaudit.core.arguments import add_reading

HELP = "check corpus files for errors and for leakage between them; --write makes a study of them"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="corpus files; names with train, valid (dev) or test say which split each is; or a data set of "
        "Hugging Face (a folder, or hub:OWNER/NAME)",
    )
    add_reading(parser, "the files")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument(
        "--write", type=Path, metavar="STUDY.yaml", help="write a study of these files"
    )
    parser.add_argument(
        "--encoder",
        type=Path,
        metavar="DIR",
        help="also count the gold triples that each extractor cannot represent with the tokens of "
        "this pre-trained encoder",
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing study file")


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.api.check import check
    from tripleaudit.core.errors import UserError
    from tripleaudit.corpora.readers.records import parse_columns

    columns = parse_columns(args.column)
    if args.write and args.write.exists() and not args.force:
        raise UserError(f"{args.write}: this file exists; --force replaces it")
    result = check(*args.files, format=args.format, columns=columns, encoder=args.encoder)
    splits = {file["split"]: file["file"] for file in result.files}
    if args.write and len(splits) == 1 and "train" not in splits:
        splits = {"test": next(iter(splits.values()))}  # a gold set alone
    if args.write and "test" not in splits:
        raise UserError(
            f"--write: a study needs a test set, but the files are {', '.join(args.files)}; expected one file, or "
            "files with train and test in their names"
        )
    value, text = result.to_json(), str(result)
    if args.write:
        _write_study(args, splits, columns)
        value["study"] = str(args.write)
        first = "" if "train" in splits else "add systems to it, and "
        text += f"\n{args.write}: a study of these files; {first}run it with: tripleaudit run {args.write}"
    print(json.dumps(value, ensure_ascii=False, indent=2) if args.json else text)
    return 0


def _write_study(args: argparse.Namespace, splits: dict[str, str], columns: dict[str, str]) -> None:
    import re

    import yaml

    from tripleaudit.core.files import atomic_write
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.study.study import Study

    name = re.sub(r"[^A-Za-z0-9._-]+", "-", args.write.stem).strip("-._") or "study"
    corpus: dict[str, Any] = {
        "files": {split: splits[split] for split in ("train", "valid", "test") if split in splits}
    }
    if args.format != "auto":
        corpus["format"] = args.format
    if columns:
        corpus["columns"] = columns
    added = "What the data holds and gives away; extractors are added under `extractors:`."
    if "train" not in splits:
        added = "A gold set alone; models and predictions are added under `systems:`."
        gold = read_corpus(splits["test"], args.format, columns=columns, quiet=True)
        names = {triple.relation for sentence in gold.sentences for triple in sentence.triples}
        corpus["relations"] = dict.fromkeys(sorted(names), "")
    value = {"study": name, "corpora": {name: corpus}}
    Study(value)  # refuses what could not run
    with atomic_write(args.write) as stream:
        stream.write(f"# {added}\n")
        yaml.safe_dump(value, stream, sort_keys=False, allow_unicode=True)
