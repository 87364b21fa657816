"""What is in corpora, what is suspicious about them, and what their splits share."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from tripleaudit.api.results import Result
from tripleaudit.core.errors import UserError
from tripleaudit.core.memory import paused_collection
from tripleaudit.corpora.corpus import Corpus
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.common import SPLITS, named_split
from tripleaudit.corpora.readers.given import given
from tripleaudit.corpora.readers.stored_sets import splits
from tripleaudit.protocols.findings import findings
from tripleaudit.protocols.leakage import leakage
from tripleaudit.tables.cells import Cell, Column, Row, Table
from tripleaudit.tables.render import to_text
from tripleaudit.tables.render.escape import clean

SHOWN = 3
ROLES = ("subject", "relation", "object")
ORDER = {split: name for name, split in enumerate(SPLITS.values())}
COUNTED = ("sentences", "zero_triple_sentences", "triples", "relations", "duplicates")


class CheckResult(Result):
    """What a careful colleague would say about corpora."""

    columns = ("split", "check", "count", "text")
    files: list[dict[str, Any]]
    """Of each its ``file``, ``split``, ``format``, numbers, first triples (``shown``),
    ``findings`` and, with an encoder, ``unrepresentable`` triples by extractor and the share
    of ``unknown_word_pieces``.
    """
    leakage: list[dict[str, Any]]
    """What each pair of splits shares, ``from`` and ``into`` next to the parts of
    :func:`tripleaudit.protocols.leakage.leakage`."""

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"split": file["split"], **{name: one[name] for name in ("check", "count", "text")}}
            for file in self.files
            for one in file["findings"]
        ]

    def notes(self) -> list[str]:
        return [*map(_counts, self.files), *(_leak(leak)[0] for leak in self.leakage)]

    def __str__(self) -> str:
        lines = []
        for file in self.files:
            lines += [_counts(file), "  understood as"]
            for shown in file["shown"]:
                parts = ", ".join(f"{role} {shown[role]!r}" for role in ROLES)
                lines += [f"    {parts}", f"      in {clean(shown['text'])}"]
            for finding in file["findings"]:
                lines.append(f"  {finding['check']}: {clean(finding['text'])}")
                lines += [f"    {clean(example)}" for example in finding["examples"]]
            if not file["findings"]:
                lines.append("  nothing suspicious")
            if file.get("unrepresentable"):
                lines += ["", *_unrepresentable(file), ""]
        return "\n".join([*lines, *(line for leak in self.leakage for line in _leak(leak))])


@paused_collection()
def check(
    *files: Any,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    encoder: str | Path | None = None,
    **data: Any,
) -> CheckResult:
    """Look at corpora as a careful colleague would, leakage between them included.

    Args:
        files: paths, train, valid (dev) or test by their names; or a data set, which has splits.
        format: of files; ``auto`` recognises it by its content.
        columns: ``{role: column}`` where columns have other names than usual.
        encoder: local folder of a pre-trained encoder; the gold triples that each extractor cannot
            represent with its tokens are counted as well (takes the extra ``train``).
        data: of a split (``train=…, test=…``) a path, a data frame, or rows with ``text`` and
            ``triples``.

    Raises:
        UserError: something cannot be read, or two files are the same split.
        ModuleNotFoundError: ``encoder`` is given, and the extra ``train`` is not installed.
    """
    for one in files:
        if not isinstance(one, str | Path):
            kind = type(one).__name__
            raise UserError(
                f"a {kind} is no path; expected the name of its split: train=…, valid=… or test=…"
            )
    sources: dict[str, Any] = splits_of(map(str, files))
    for split, one in data.items():
        if split in sources:
            raise UserError(
                f"{split}: {sources[split]} is the {split} set already; expected one file for each"
            )
        sources[split] = given(one, split, texts=True)
    if not sources:
        raise UserError("no corpus is given; expected paths, or train=…, valid=…, test=…")
    corpora = {
        split: read_corpus(sources[split], format=format, columns=columns, quiet=True)
        for split in sorted(sources, key=lambda split: (split not in ORDER, ORDER.get(split)))
    }
    train = corpora.get("train")
    return CheckResult(
        files=[
            {
                "file": str(sources[split]),
                "split": split,
                "format": corpus.report.format,
                **{name: getattr(corpus.report, name) for name in COUNTED},
                "shown": _shown(corpus),
                "findings": [
                    asdict(finding)
                    for finding in findings(corpus, None if corpus is train else train)
                ],
                **_representation(corpus, encoder),
            }
            for split, corpus in corpora.items()
        ],
        leakage=[
            {
                "from": first,
                "into": second,
                **leakage(corpora[first].sentences, corpora[second].sentences),
            }
            for first, second in combinations(corpora, 2)
        ],
    )


def splits_of(files: Iterable[str]) -> dict[str, str]:
    """Return split -> file; a file without a split in its name goes by its name.

    Raises:
        UserError: two files would be the same split.
    """
    found: dict[str, str] = {}
    for file in files:
        names = splits(file)  # of a data set that has several
        for name in [f"{file}#{name}" for name in names] if len(names) > 1 else [file]:
            split = named_split(name) or name
            if split in found:
                raise UserError(
                    f"{name}: {found[split]} is the {split} set already; expected one file for each"
                )
            found[split] = name
    return found


MANY_UNKNOWN = 0.05  # share of word pieces from which on an encoder does not suit a corpus


def _representation(corpus: Corpus, encoder: str | Path | None) -> dict[str, Any]:
    """Return the gold triples that each extractor cannot represent, nothing without an encoder."""
    if encoder is None:
        return {}
    from tripleaudit.extractors.representable import count_unrepresentable, unknown_share

    counts = count_unrepresentable(corpus.sentences, Path(encoder))
    return {
        "unknown_word_pieces": unknown_share(corpus.sentences, Path(encoder)),
        "unrepresentable": [count.to_json() for count in counts],
    }


def _unrepresentable(file: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table of what each extractor cannot represent."""
    columns = [Column(name) for name in ("No tokens", "Not writable", "Contradictory", "Share (%)")]
    rows = []
    notes = []
    for count in file["unrepresentable"]:
        label = f"{count['extractor']} ({count['layout']})"
        if count["refused"]:
            notes.append(f"{count['extractor']}: {count['refused']}")
            continue
        numbers = (count["without_tokens"], count["unwritable"], count["contradictory"])
        cells = [Cell(number, digits=0) for number in numbers]
        rows.append(Row(label, (*cells, Cell(count["share"], digits=3).percent())))
    triples = file["unrepresentable"][0]["triples"]
    title = f"Of {triples} gold triples, what each extractor (layout) cannot represent"
    unknown = file["unknown_word_pieces"]
    if unknown >= MANY_UNKNOWN:
        notes.append(
            f"{100 * unknown:.0f} % of the word pieces are unknown to this encoder ([UNK]): choose one of the language "
            "of the texts"
        )
    return to_text(Table("unrepresentable", title, columns, rows, notes=notes)).splitlines()


def _shown(corpus: Corpus) -> list[dict[str, str]]:
    """The first triples as they were understood, of different sentences."""
    first = islice((each for each in corpus.sentences if each.triples), SHOWN)
    return [
        {"text": each.text, **dict(zip(ROLES, each.triples[0].strings, strict=True))}
        for each in first
    ]


def _counts(file: Mapping[str, Any]) -> str:
    return (
        f"{file['file']}: {file['format']}, {file['sentences']} sentences ({file['zero_triple_sentences']} with zero "
        f"triples), {file['triples']} triples, {file['relations']} relations"
    )


def _leak(leak: dict[str, Any]) -> list[str]:
    return readable_leakage(leak, f"Leakage from {leak['from']} into {leak['into']}")


def readable_leakage(leak: dict[str, Any], title: str) -> list[str]:
    """Return the lines about what a test set shares with its training set."""
    sentences, parts = leak["sentences"], {part: leak[part] for part in ("triples", "entities")}
    lines = [
        f"{title}: {sentences['total']} sentences ({100 * sentences['share']:.2f} %): {sentences['equal']} equal, "
        f"{sentences['normalised']} equal except for case and punctuation, {sentences['near']} that share at "
        f"least {100 * leak['threshold']:.0f} % of their words",
        *(
            f"  {part}: {found['shared']} of {found['different']} different ones ({100 * found['share']:.2f} %)"
            for part, found in parts.items()
        ),
    ]
    if leak["uncertain"]:
        lines.append(
            f"  {leak['uncertain']} sentences are similar to so many others that not all were compared"
        )
    for example in leak["examples"][:SHOWN]:
        lines.append(f"  {example['kind']}: {example['test']}: {clean(example['test_text'])}")
        if example["kind"] != "equal":
            lines.append(f"    like {example['train']}: {clean(example['train_text'])}")
    return lines
