"""Splits of registered corpora from their raw files (:mod:`tripleaudit.sources.registry`)."""

from collections.abc import Callable, Collection, Iterable
from itertools import islice
from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import sha256
from tripleaudit.corpora.corpus import Corpus, RawSentence, build_corpus, of_relations, uncased
from tripleaudit.corpora.divide import deal, find_zero, fitting_sizes, split_corpus, split_like
from tripleaudit.corpora.readers import read_raw
from tripleaudit.corpora.readers.common import load_json
from tripleaudit.sources import registry
from tripleaudit.sources.registry import Division, RawFile, RegisteredCorpus, Split, Zero


def read_registered(
    name: str,
    split: str,
    raw_root: str | Path,
    *,
    occurrence: str = "first",
    limit: int | None = None,
    limit_each: int | None = None,
    lower: bool = False,
    only: Collection[str] = (),
    some_absent: bool = False,
) -> Corpus:
    """Read one split of a registered corpus.

    Args:
        raw_root: folder with the raw files under their registered names.
        occurrence: see :func:`tripleaudit.corpora.read_corpus`.
        limit: maximum number of sentences in the result.
        limit_each: maximum number of sentences read from each raw file, for test sets whose
            variants are files of their own.
        lower: lower-case and strip accents (:func:`~tripleaudit.corpora.corpus.uncased`).
        only: keep only sentences of these relations; the filter runs before any limit
            (:func:`~tripleaudit.corpora.corpus.of_relations`). The note ``of_other_relations`` of
            the report counts the others.
        some_absent: accept relations in ``only`` that no triple has.

    Raises:
        UserError: unknown corpus or split, or a relation that no triple has; a file is missing, has
            another hash or other counts than registered, or is broken.
    """
    entry = registry.corpus(name)
    for file in entry.raw_files(split):
        check_raw_file(file, file.below(raw_root))

    def read(file: str) -> Iterable[RawSentence]:
        file_format = registry.raw_file(file).format or "auto"
        sentences = read_raw(Path(raw_root) / file, file_format, occurrence=occurrence)
        if limit_each is None:
            return sentences
        return islice(of_relations(sentences, only, file, some_absent=True), limit_each)

    if entry.zero:
        members = _with_zero(entry, entry.zero, split, read)
    elif entry.division and split not in entry.whole:
        members = _divide(entry.division, read, Path(raw_root))[split]
    else:
        members = _whole(entry.whole[split], read)
    formats = dict.fromkeys(file.format for file in entry.raw_files(split) if file.format)
    source = f"{name}/{split}"
    kept = of_relations(members, only, source, some_absent)
    limited = map(uncased, kept[:limit]) if lower else kept[:limit]
    corpus = build_corpus(limited, source=source, format="+".join(formats), occurrence=occurrence)
    if only:
        corpus.report.notes["of_other_relations"] = len(members) - len(kept)
    return corpus


def check_raw_file(file: RawFile, path: Path) -> None:
    """Validate a raw file by its hash or, if none is registered, by its sentence and triple counts.

    Raises:
        UserError: the file is missing or is not the registered one.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file, expected {file.name}")
    if file.sha256 is not None:
        if (digest := sha256(path)) != file.sha256:
            raise UserError(f"{path}: sha256 is {digest}, expected {file.sha256}")
    elif file.expect and file.format:
        report = build_corpus(
            read_raw(path, file.format), source=str(path), format=file.format
        ).report
        counted = {"sentences": {report.sentences}, "triples": {report.triples, report.triples_raw}}
        for what, expected in file.expect.items():
            if not counted[what] & set(expected):
                raise UserError(
                    f"{path}: {' or '.join(map(str, sorted(counted[what])))} {what}, "
                    f"expected {' or '.join(map(str, expected))}"
                )


def _whole(plan: Split, read: Callable[[str], Iterable[RawSentence]]) -> list[RawSentence]:
    """Return the sentences of a split that consists of whole files."""
    left_out = {sentence.text for file in plan.without for sentence in read(file)}
    members = []
    for file in plan.files:
        drop = plan.drop.get(file, ())
        for number, sentence in enumerate(read(file)):
            if number not in drop and sentence.text not in left_out:
                members.append(sentence)
    return members


def _with_zero(
    entry: RegisteredCorpus, zero: Zero, split: str, read: Callable[[str], Iterable[RawSentence]]
) -> list[RawSentence]:
    """Return a split followed by its share of the raw corpus's zero-triple sentences."""
    positive = {name: _whole(plan, read) for name, plan in entry.whole.items()}
    positive_texts = (sentence.text for members in positive.values() for sentence in members)
    raw = (sentence for file in zero.files for sentence in read(file))
    candidates = find_zero(positive_texts, raw)
    where = f"{entry.name} ({', '.join(zero.files)})"
    sizes = fitting_sizes(len(candidates), zero.sizes, zero.least, where)
    added = []
    for number, sentence in enumerate(deal(candidates, sizes, zero.seed)[split]):
        text = sentence.text.lower() if zero.lower else sentence.text
        added.append(RawSentence(f"zero-{number}", text, [], sentence.where))
    return positive[split] + added


def _divide(
    plan: Division, read: Callable[[str], Iterable[RawSentence]], raw_root: Path
) -> dict[str, list[RawSentence]]:
    """Divide the sentences of a corpus into splits, by the ids of other files or at random."""
    members = [sentence for file in plan.files for sentence in read(file)]
    if plan.like:
        examples = {}
        for part, files in plan.like.items():
            examples[part] = [sentence for file in files for sentence in read(file)]
        return split_like(members, examples, plan.seed)
    texts_with_triples = {sentence.text for sentence in members}
    for file in plan.zero_texts:
        texts = dict.fromkeys(load_json(raw_root / file))
        members += [
            RawSentence(f"zero-{number}", text, [], f"{raw_root / file} item {number + 1}")
            for number, text in enumerate(texts)
            if text not in texts_with_triples
        ]
    return split_corpus(members, plan.parts, plan.seed)
