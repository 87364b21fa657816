"""Documents with sentences that state known triples, as records of a sentence and of a piece."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.errors import UserError
from tripleaudit.fields import write_rows
from tripleaudit.needles.haystack import read_documents
from tripleaudit.needles.triples import haystacks, infuse_triples
from tripleaudit.shipped import DATA

READS = ("data/new_facts.jsonl",)


def write_corpus(
    options: Mapping[str, Any],
    needles: str | Path,
    out: str | Path,
    haystack: Sequence[str | Path] = (),
    documents: Sequence[str | Path] = (),
) -> None:
    """Write ``sentences`` and ``pieces`` and the needles in each, as JSON lines.

    Args:
        options: section ``needles/triples`` of the configuration, with all its keys.
        haystack: sentences without triples, which become documents.
        documents: text files instead.

    Raises:
        UserError: not exactly one of ``haystack`` and ``documents`` is given, or more new facts than there are.
    """
    if bool(haystack) == bool(documents):
        raise UserError("triple needles: expected one of --haystack and --documents")
    seed = options["seed"]
    if documents:
        read = read_documents(documents, options["max_chars"], options["documents"])
    else:
        bare = [sentence for path in haystack for sentence in load_sentences(path)]
        read = haystacks(bare, options["documents"], options["sentences"], seed)
    share = {key: options[key] for key in ("target", "minimum", "maximum")}
    wanted = options["new_facts"]
    source = load_sentences(DATA / "new_facts.jsonl" if wanted else needles)
    if wanted:
        if wanted > len(source):
            raise UserError(f"needles/triples/new_facts: {wanted}, expected at most {len(source)}")
        source = random.Random(f"new-facts-{seed}").sample(source, wanted)
    for form, length in (("sentences", None), ("pieces", options["piece_chars"])):
        made = infuse_triples(read, source, seed, length, **share)
        save_sentences(Path(out) / f"{form}.jsonl", made.records)
        write_rows(Path(out) / f"{form}-needles.jsonl", made.needles)
