"""What is in corpora, what is suspicious about them, and what their splits share."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tripleaudit.api.results import Result
from tripleaudit.corpora.corpus import Corpus
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.common import SPLITS, named_split
from tripleaudit.corpora.readers.given import given
from tripleaudit.corpora.readers.stored_sets import splits
from tripleaudit.errors import UserError
from tripleaudit.protocols.findings import findings
from tripleaudit.protocols.leakage import leakage
from tripleaudit.tables.render.escape import clean

if TYPE_CHECKING:
    from tripleaudit.tables.cells import Table

SHOWN = 3
COUNTED = ("sentences", "zero_triple_sentences", "triples", "relations", "duplicates")


class CheckResult(Result):
    """What a careful colleague would say about corpora.

    Attributes:
        files: of each its ``file``, ``split``, ``format``, numbers, first triples (``shown``) and ``findings``.
        leakage: what each pair of splits shares, ``from`` and ``into`` beside the parts of
            :func:`tripleaudit.protocols.leakage.leakage`.
    """

    columns = ("split", "check", "count", "text")

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__(value)
        self.files: list[dict[str, Any]] = value["files"]
        self.leakage: list[dict[str, Any]] = value["leakage"]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"split": file["split"], "check": one["check"], "count": one["count"], "text": one["text"]}
            for file in self.files
            for one in file["findings"]
        ]

    def tables(self) -> "list[Table]":
        from tripleaudit.tables.cells import Cell, Column, Row, Table

        columns = [
            Column(name.replace("_", " ").replace("zero triple", "zero-triple").capitalize()) for name in COUNTED
        ]
        rows = [Row(file["file"], tuple(Cell(file[name], digits=0) for name in COUNTED)) for file in self.files]
        notes = [f"{row['split']}: {row['text']}" for row in self.rows()]
        notes += [
            readable_leakage(leak, f"Leakage from {leak['from']} into {leak['into']}")[0] for leak in self.leakage
        ]
        return [Table("check", "What the corpora hold", columns, rows, "Corpus", notes=notes)]

    def __str__(self) -> str:
        return "\n".join(_readable(self.to_json()))


def check(*files: Any, format: str = "auto", columns: Mapping[str, str] | None = None, **data: Any) -> CheckResult:
    """Look at corpora as a careful colleague would, leakage between them included.

    Args:
        files: paths, train, valid (dev) or test by their names; or a data set, which has splits.
        format: of files; ``auto`` tells it from their content.
        columns: ``{role: column}`` where columns have other names than usual.
        data: of a split (``train=…, test=…``) a path, a data frame, or rows with ``text`` and ``triples``.

    Raises:
        UserError: something cannot be read, or two files are the same split.
    """
    places: dict[str, Any] = splits_of(map(str, files))
    for split, one in data.items():
        if split in places:
            raise UserError(f"{split}: {places[split]} is the {split} set already; expected one file for each")
        places[split] = given(one, split, texts=True)
    if not places:
        raise UserError("no corpus is given; expected paths, or train=…, valid=…, test=…")
    return check_splits(dict(sorted(places.items(), key=_place)), format, columns)


def check_splits(places: Mapping[str, Any], format: str, columns: Mapping[str, str] | None) -> CheckResult:
    """Return :func:`check` of ``{split: corpus}``."""
    corpora = {split: read_corpus(path, format=format, columns=columns, quiet=True) for split, path in places.items()}
    train = corpora.get("train")
    return CheckResult(
        {
            "files": [
                {
                    "file": str(places[split]),
                    "split": split,
                    "format": corpus.report.format,
                    **{name: getattr(corpus.report, name) for name in COUNTED},
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
    )


def splits_of(files: Iterable[str]) -> dict[str, str]:
    """Return split -> file, in the order train, valid, test; a file without a split in its name goes by its name.

    Raises:
        UserError: two files would be the same split.
    """
    found: dict[str, str] = {}
    for file in files:
        names = splits(file)  # of a data set that has several
        for place in [f"{file}#{name}" for name in names] if len(names) > 1 else [file]:
            split = named_split(place) or place
            if split in found:
                raise UserError(f"{place}: {found[split]} is the {split} set already; expected one file for each")
            found[split] = place
    return dict(sorted(found.items(), key=_place))


def _place(split: tuple[str, Any]) -> int:
    known = list(SPLITS.values())
    return known.index(split[0]) if split[0] in known else len(known)


def _shown(corpus: Corpus) -> list[dict[str, str]]:
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
        lines.append("  nothing suspicious" * (not file["findings"]))
    for leak in value["leakage"]:
        lines += readable_leakage(leak, f"Leakage from {leak['from']} into {leak['into']}")
    return [line for line in lines if line]


def readable_leakage(leak: dict[str, Any], title: str) -> list[str]:
    """Return the lines about what a test set shares with its training set."""
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
