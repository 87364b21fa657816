"""``tripleaudit check``: what is in corpus files, what is odd about them, and what their splits share."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.arguments import add_reading

if TYPE_CHECKING:
    from tripleaudit.corpora.corpus import Corpus

HELP = "look at corpus files as a careful colleague would, leakage between them included; write a study for them"
SPLITS = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
}
SHOWN = 3


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="corpus files, train, valid (dev) or test by their names; or a data set",
    )
    add_reading(parser, "the files")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--write", type=Path, metavar="STUDY.yaml", help="write a study of these files")
    parser.add_argument("--force", action="store_true", help="let --write replace a file")


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.errors import UserError
    from tripleaudit.protocols.findings import findings
    from tripleaudit.protocols.leakage import leakage

    columns = parse_columns(args.column)
    if args.format == "auto" and not columns and sys.stdin.isatty() and not args.json:
        columns = _asked(args.files[0])
    splits = splits_of([place for file in args.files for place in _places(file)])
    if args.write and args.write.exists() and not args.force:
        raise UserError(f"{args.write}: this file exists; --force replaces it")
    if args.write and not {"train", "test"} <= set(splits):
        raise UserError(
            f"--write: a study needs a training and a test set, but the files are {', '.join(args.files)}; expected "
            "files with train and test in their names"
        )
    corpora = {split: read_corpus(path, format=args.format, columns=columns) for split, path in splits.items()}
    train = corpora.get("train")
    value: dict[str, Any] = {
        "files": [
            {
                "file": str(splits[split]),
                "split": split,
                "format": corpus.report.format,
                **{
                    name: getattr(corpus.report, name)
                    for name in ("sentences", "zero_triple_sentences", "triples", "relations", "duplicates")
                },
                "shown": _shown(corpus),
                "findings": [finding.to_json() for finding in findings(corpus, None if corpus is train else train)],
            }
            for split, corpus in corpora.items()
        ],
        "leakage": [
            {"from": first, "into": second, **leakage(corpora[first].sentences, corpora[second].sentences)}
            for number, first in enumerate(corpora)
            for second in list(corpora)[number + 1 :]
        ],
    }
    if args.write:
        _write_study(args, splits, columns)
        value["study"] = str(args.write)
    print(json.dumps(value, ensure_ascii=False, indent=2) if args.json else "\n".join(_readable(value)))
    return 0


def splits_of(files: list[str]) -> dict[str, str]:
    """Return split -> file, in the order train, valid, test; a file without a split in its name goes by its name.

    Raises:
        UserError: two files would be the same split.
    """
    import re

    from tripleaudit.errors import UserError

    found: dict[str, str] = {}
    for file in files:
        parts = re.split(r"[^a-z]+", Path(file).name.lower())
        split = next((SPLITS[part] for part in parts if part in SPLITS), file)
        if split in found:
            raise UserError(f"{file}: {found[split]} is the {split} set already; expected one file for each")
        found[split] = file
    return dict(
        sorted(found.items(), key=lambda pair: list(SPLITS.values()).index(pair[0]) if pair[0] in SPLITS else 9)
    )


def _places(file: str) -> list[str]:
    """Return a file, or the splits of a data set that has several."""
    from tripleaudit.corpora.readers.hub_datasets import splits

    names = splits(file)
    return [f"{file}#{name}" for name in names] if len(names) > 1 else [file]


def _asked(path: str) -> dict[str, str]:
    """Ask for the columns of a file that no format fits."""
    from tripleaudit.corpora.readers import detect_format
    from tripleaudit.corpora.readers.common import Probe
    from tripleaudit.corpora.readers.records import Mapped
    from tripleaudit.corpora.readers.row_files import first_row
    from tripleaudit.errors import UserError

    try:
        detect_format(path)
        return {}
    except UserError:
        row = first_row(Probe(path))
        if not row:
            raise
    print(f"{path}: no known format; its columns are {', '.join(row)}")
    return {role: answer for role in Mapped().lacks(row) if (answer := input(f"Which one is the {role}? ").strip())}


def _shown(corpus: "Corpus") -> list[dict[str, str]]:
    """The first triples as they were understood, of different sentences."""
    return [
        {
            "text": sentence.text,
            "subject": sentence.triples[0].subject.text,
            "relation": sentence.triples[0].relation,
            "object": sentence.triples[0].object.text,
        }
        for sentence in [sentence for sentence in corpus.sentences if sentence.triples][:SHOWN]
    ]


def _readable(value: dict[str, Any]) -> list[str]:
    from tripleaudit.tables.render.escape import clean

    lines = []
    for file in value["files"]:
        lines.append(
            f"{file['file']}: {file['format']}, {file['sentences']} sentences "
            f"({file['zero_triple_sentences']} with zero triples), {file['triples']} triples, "
            f"{file['relations']} relations"
        )
        lines.append("  understood as")
        for shown in file["shown"]:
            lines.append(
                f"    subject {shown['subject']!r}, relation {shown['relation']!r}, object {shown['object']!r}"
            )
            lines.append(f"      in {clean(shown['text'])}")
        for finding in file["findings"]:
            lines.append(f"  {finding['check']}: {clean(finding['text'])}")
            lines += [f"    {clean(example)}" for example in finding["examples"]]
        lines.append("  nothing odd" * (not file["findings"]))
    for leak in value["leakage"]:
        lines += readable_leakage(leak, f"Leakage from {leak['from']} into {leak['into']}")
    if "study" in value:
        lines.append(f"{value['study']}: a study of these files; run it with: tripleaudit run {value['study']}")
    return [line for line in lines if line]


def readable_leakage(leak: dict[str, Any], title: str) -> list[str]:
    """Return the lines about what a test set shares with its training set."""
    from tripleaudit.tables.render.escape import clean

    sentences, parts = leak["sentences"], {part: leak[part] for part in ("triples", "entities")}
    lines = [
        f"{title}: {sentences['total']} sentences ({100 * sentences['share']:.2f} %), "
        f"{sentences['equal']} of them equal, {sentences['normalised']} equal up to case and punctuation, "
        f"{sentences['near']} with at least "
        f"{leak['threshold']:.0%} of their words",
        *(
            f"  {part}: {found['shared']} of {found['different']} different ones ({100 * found['share']:.2f} %)"
            for part, found in parts.items()
        ),
    ]
    if leak["uncertain"]:
        lines.append(f"  {leak['uncertain']} sentences are like so many that not all could be compared")
    for example in leak["examples"][:SHOWN]:
        lines.append(f"  {example['kind']}: {example['test']}: {clean(example['test_text'])}")
        if example["kind"] != "equal":
            lines.append(f"    like {example['train']}: {clean(example['train_text'])}")
    return lines


def _write_study(args: argparse.Namespace, splits: dict[str, str], columns: dict[str, str]) -> None:
    import re

    import yaml

    from tripleaudit.files import atomic_write
    from tripleaudit.plan.study import Study

    name = re.sub(r"[^A-Za-z0-9._-]+", "-", args.write.stem).strip("-._") or "study"
    corpus: dict[str, Any] = {
        "files": {split: splits[split] for split in ("train", "valid", "test") if split in splits}
    }
    if args.format != "auto":
        corpus["format"] = args.format
    if columns:
        corpus["columns"] = columns
    value = {"study": name, "corpora": {name: corpus}}
    Study(value)  # refuses what could not run
    with atomic_write(args.write) as stream:
        stream.write("# What the data holds and gives away; extractors are added under `extractors:`.\n")
        yaml.safe_dump(value, stream, sort_keys=False, allow_unicode=True)
