"""One split of a corpus from files of the user's own, in any format."""

from collections.abc import Mapping, Sequence
from typing import Any

from tripleaudit.corpora.corpus import Corpus, build_corpus, of_relations, uncased
from tripleaudit.corpora.divide import split_corpus
from tripleaudit.corpora.readers import check_once, read_raw, resolve_format


def read_own_files(
    sources: Sequence[str],
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    occurrence: str = "first",
    split: str | None = None,
    divide: Mapping[str, float] | None = None,
    part: str = "",
    seed: int = 0,
    limit: int | None = None,
    only_relations: Sequence[str] = (),
    some_absent: bool = False,
    lower: bool = False,
) -> Corpus:
    """Read files as one corpus, or one part of them.

    Args:
        sources: files or folders that are joined.
        format: of the files; ``auto`` recognises it by the content of each.
        columns: role -> column, where columns have other names than usual.
        occurrence: which positions a string has where the files give none: ``first``, ``all`` or
            ``given``.
        split: of a Hugging Face data set.
        divide: part -> weight, to divide the sentences at random; None keeps all.
        part: of ``divide``.
        seed: of ``divide``.
        limit: keep only the first sentences.
        only_relations: keep only sentences all of whose triples have these relations; all if empty.
        some_absent: whether some of these relations may be in no triple.
        lower: lower-case the text and strip accents.

    Raises:
        UserError: a file cannot be read or comes twice, or the part would be empty.
    """
    check_once(sources)
    formats = [resolve_format(path, format, columns) for path in sources]
    members: list = []
    for path, name in zip(sources, formats, strict=True):
        options: dict[str, Any] = {"split": split} if name == "datasets" else {}
        members += read_raw(path, name, occurrence=occurrence, columns=columns, **options)
    left_out = [item for member in members for item in member.left_out]
    for member in members:
        member.left_out = []
    if divide:
        members = split_corpus(members, divide, seed)[part]
    kept = of_relations(members, only_relations, ", ".join(sources), some_absent)
    if kept:  # what reading left out is stated for every part
        kept[0].left_out = left_out
    corpus = build_corpus(
        map(uncased, kept[:limit]) if lower else kept[:limit],
        source=", ".join(sources),
        format="+".join(dict.fromkeys(formats)),
        occurrence=occurrence,
    )
    if only_relations:
        corpus.report.notes["of_other_relations"] = len(members) - len(kept)
    return corpus
