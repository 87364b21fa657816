"""Counting the triples that an encoder's length limit cuts off (training keeps a triple only if both spans survive)."""

import logging
from collections.abc import Sequence
from pathlib import Path

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.errors import UserError
from tripleaudit.files import read_json, write_json

log = logging.getLogger(__name__)


def count_truncated(sentences: Sequence[Sentence], tokenizer: str | Path, max_length: int = 128) -> int:
    """Return the number of located triples with an argument that ends behind the last kept subword.

    Args:
        sentences: the corpus.
        tokenizer: a ``tokenizer.json``, or a model folder that holds one.
        max_length: subwords of a sentence including special tokens.

    Raises:
        UserError: there is no such tokenizer file.
    """
    from tokenizers import Tokenizer  # the tokenizer alone, without transformers and torch

    path = tokenizer_file(tokenizer)
    if path is None:
        raise UserError(f"{tokenizer}: no such file, expected a tokenizer.json")
    try:
        model = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise UserError(f"{path}: not a tokenizer.json ({error})") from error
    model.no_padding()
    model.enable_truncation(max_length=max_length)
    with_triples = [sentence for sentence in sentences if any(triple.located for triple in sentence.triples)]
    count = 0
    for sentence, encoding in zip(with_triples, model.encode_batch([s.text for s in with_triples]), strict=True):
        end = max((stop for _, stop in encoding.offsets), default=0)
        count += sum(triple.located and max(triple.subject.end, triple.object.end) > end for triple in sentence.triples)
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
    tokenizer = None if encoder is None else tokenizer_file(encoder)
    if encoder is not None and tokenizer is None:
        log.warning("the encoder has no tokenizer.json; what it would cut is left open")
    for split, counted, report in zip(sentences, counts, out, strict=True):
        found = read_json(counted)
        if tokenizer is not None:
            found["truncated_triples"] = count_truncated(load_sentences(split), tokenizer, max_length)
            found["truncated_at"] = max_length
        write_json(report, found)


def tokenizer_file(path: str | Path) -> Path | None:
    """Return the ``tokenizer.json`` that ``path`` names, or that lies in this folder; None if there is none."""
    path = Path(path)
    path = path / "tokenizer.json" if path.is_dir() else path
    return path if path.is_file() else None
