"""Which relations the sentences of a corpus name, as far as its files are here; none is read further than need be."""

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.corpora.readers import read_raw
from tripleaudit.errors import UserError, hint
from tripleaudit.shipped import shipped
from tripleaudit.sources import registry

if TYPE_CHECKING:
    from tripleaudit.plan.corpora import Corpora

MOST_NAMED = 30
"""Relations that a sentence lists where none is like the one that is not known."""


def problems_of_held_out(data: "Corpora", where: str, asked: int) -> Iterator[str]:
    """Yield a sentence for each corpus that has not so many relations that they could be held out of its training."""
    for corpus in data.section:
        counts = _counts(data, corpus, asked)
        if counts is None:
            continue
        of_train, of_both = counts
        if asked >= of_train:
            told = f"the training sentences of corpus {corpus} have {of_train}; expected fewer than these"
            yield f"{where}: {asked} relations, but {told}"
        elif asked > of_both:
            told = f"training and test sentences of corpus {corpus} have {of_both} in common; expected at most these"
            yield f"{where}: {asked} relations, but {told}"


def _counts(data: "Corpora", corpus: str, asked: int) -> tuple[int, int] | None:
    """Relations of the training sentences, and those that test sentences have, too: counted until they suffice."""
    entry = registry.corpora().get(data.section[corpus].registry or corpus)
    registered = data.section[corpus].files is None and entry is not None
    counts = (entry.relations["train"], entry.relations["test"]) if registered and entry.relations else None
    if counts is not None and data.section[corpus].limit is None:
        return counts
    try:
        of_test = _names(data, corpus, "test", whole=False)
        of_train = _names(data, corpus, "train", lambda names: len(names) > asked <= len(names & of_test), whole=False)
    except Exception:  # not here yet, broken, a reader's package or plugin: whoever makes the split says so
        return counts
    return len(of_train), len(of_train & of_test)


def problems_of_names(data: "Corpora", where: str, given: Collection[str], corpora: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each relation that is named and that no sentence, and no description, of corpora has."""
    left, known = set(given), set[str]()
    try:
        for corpus in corpora:
            found = set(data.section[corpus].relations)
            for split in ("train", "valid", "test"):
                known |= found
                if not (left := left - known):
                    return
                found = _names(data, corpus, split, left.__le__)
            known |= found
    except Exception:  # as above
        return
    for name in sorted(left - known):
        told = hint(name, sorted(known))
        told = "" if told.startswith(";") and len(known) > MOST_NAMED else told
        yield f"{where}: no sentence of {' and '.join(corpora)} has the relation '{name}'{told}"


def _names(
    data: "Corpora",
    corpus: str,
    split: str,
    suffice: Callable[[Set[str]], bool] = lambda names: False,
    whole: bool = True,
) -> set[str]:
    """The relations of a split in its raw files, before sentences are left out of it; reading ends where they suffice.

    Args:
        whole: also of sentences beyond the corpus's limit, where files are a split each.

    Raises:
        UserError: a file is not here, or cannot be read.
    """
    chosen, entry, found = data.section[corpus], data.registered(corpus), set[str]()
    if entry is not None:
        plan = entry.whole.get(split) or entry.division
        names, divided = (plan.files if plan else ()), split not in entry.whole
        read = [(f"{data.study.places.raw}/{name}", registry.raw_file(name).format, {}) for name in names]
    else:
        divided = chosen.files.valid is None and split != "test"
        columns = {"columns": chosen.columns.given()} if chosen.columns else {}
        read = [(shipped(path), chosen.format, columns) for path in data.files_of_split(corpus, split)]
    if not all(Path(path).is_file() for path, _, _ in read):
        raise UserError(f"{corpus}/{split}: no such file")
    most = None if whole or divided else getattr(chosen.limit, split, None)
    sentences = (sentence for path, format, options in read for sentence in read_raw(path, format, **options))
    for sentence in islice(sentences, most):
        new = {triple.relation for triple in sentence.triples} - found
        found |= new
        if new and suffice(found):
            break
    return found
