"""Counting the triples that an encoder's length limit cuts off (training keeps a triple only if both spans survive)."""

import logging
from collections.abc import Sequence
from pathlib import Path

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.errors import UserError
from tripleaudit.files import read_json, write_json

log = logging.getLogger(__name__)


def count_truncated(sentences: Sequence[Sentence], tokenizer: Path, max_length: int) -> int:
    """Return how many located triples have an argument that ends behind the last kept subword.

    ``tokenizer`` is a ``tokenizer.json``; ``max_length`` counts subwords of a sentence with special tokens.
    """
    from tokenizers import Tokenizer  # the tokenizer alone, without transformers and torch

    try:
        model = Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # the library raises nothing narrower
        raise UserError(f"{tokenizer}: not a tokenizer.json ({error})") from error
    model.no_padding()
    model.enable_truncation(max_length=max_length)
    count = 0
    for sentence, encoding in zip(sentences, model.encode_batch([each.text for each in sentences]), strict=True):
        end = max((stop for _, stop in encoding.offsets), default=0)
        located = (triple for triple in sentence.triples if triple.located)
        count += sum(max(triple.subject.offsets[1], triple.object.offsets[1]) > end for triple in located)
    return count


def write_reports(
    sentences: Sequence[str | Path],
    counts: Sequence[str | Path],
    out: Sequence[str | Path],
    max_length: int,
    encoder: str | Path | None = None,
) -> None:
    """Write the reports of prepared splits: what was counted when they were read, and what ``encoder`` would cut.

    Without an encoder, as of a study that trains nothing, the latter is left open.
    """
    tokenizer = None if encoder is None else Path(encoder) / "tokenizer.json"
    if tokenizer is not None and not tokenizer.is_file():
        log.warning("the encoder has no tokenizer.json; what it would cut is left open")
        tokenizer = None
    for split, counted, report in zip(sentences, counts, out, strict=True):
        found = read_json(counted)
        if tokenizer is not None:
            found["truncated_triples"] = count_truncated(load_sentences(split), tokenizer, max_length)
            found["truncated_at"] = max_length
        write_json(report, found)
