"""Small copies of trained extractors: fewer word pieces, weights in half precision.

The embedding table is most of a small encoder. A copy keeps the rows of frequent pieces and of those
that occur in given texts. Its tokenizer divides other words into the pieces that are left. Texts
whose pieces are all kept have the same tokens as before: the longest piece that begins a word is
still the longest.
"""

import json
from collections.abc import Collection, Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json
from tripleaudit.core.outputs import apply_umask
from tripleaudit.extractors.base import Extractor

UNUSED = "[unused"


def save_compact(model: Extractor, texts: Iterable[str], frequent: int, folder: Path) -> int:
    """Save a small copy of an extractor; the model itself loses the same rows.

    Args:
        model: a trained extractor whose tokenizer is a WordPiece tokenizer.
        texts: all of their pieces are kept.
        frequent: keep the first pieces of the vocabulary, too; vocabularies like BERT's list
            frequent pieces first.
        folder: created where it does not exist.

    Returns:
        The number of pieces kept.

    Raises:
        UserError: The tokenizer is of another kind, or the embedding is not a plain table.
    """
    tokenizer = json.loads(model.tokenizer.backend_tokenizer.to_str())
    if tokenizer["model"]["type"] != "WordPiece":
        raise UserError(
            f"the tokenizer is a {tokenizer['model']['type']} model; expected an extractor on an "
            "encoder with a WordPiece vocabulary"
        )
    ids = kept_ids(model, texts, frequent)
    keep_rows(model, ids)
    model.save_pretrained(folder)
    write_json(folder / "tokenizer.json", keep_pieces(tokenizer, ids))
    halve_weights(folder / "model.safetensors")
    return len(ids)


def kept_ids(model: Extractor, texts: Iterable[str], frequent: int) -> list[int]:
    """Return the ids of the pieces that a small copy keeps, in rising order."""
    tokenizer = model.tokenizer
    kept = {*tokenizer.all_special_ids, *model.extra_token_ids().flatten().tolist()}
    for alignment in model.aligner.align(list(texts)):
        kept.update(alignment.input_ids.tolist())
    for piece, number in tokenizer.get_vocab().items():
        if number < frequent and not piece.startswith(UNUSED):
            kept.add(number)
    return sorted(kept)


def keep_rows(model: Extractor, ids: list[int]) -> None:
    """Remove all other rows from the embedding table of an extractor's encoder.

    Raises:
        UserError: The embedding is not a plain table.
    """
    table = model.encoder.get_input_embeddings()
    if type(table) is not nn.Embedding:
        raise UserError(
            f"the embedding is a {type(table).__name__}; expected a plain table of word pieces"
        )
    padding = model.tokenizer.pad_token_id
    rows = nn.Embedding(len(ids), table.embedding_dim, ids.index(padding))
    with torch.no_grad():
        rows.weight.copy_(table.weight[ids])
    model.encoder.set_input_embeddings(rows)
    for config in (model.encoder.config, model.config.encoder):
        config.vocab_size = len(ids)
        config.pad_token_id = ids.index(padding)


def keep_pieces(tokenizer: dict[str, Any], ids: Collection[int]) -> dict[str, Any]:
    """Return the JSON form of a WordPiece tokenizer whose vocabulary has only the pieces of ``ids``.

    The pieces keep their order and are numbered from 0.
    """
    vocabulary = sorted(tokenizer["model"]["vocab"].items(), key=itemgetter(1))
    kept = set(ids)
    pieces = [piece for piece, number in vocabulary if number in kept]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    added = [
        {**token, "id": numbers[token["content"]]}
        for token in tokenizer["added_tokens"]
        if token["content"] in numbers
    ]
    return {
        **tokenizer,
        "added_tokens": added,
        "post_processor": _renumber(tokenizer["post_processor"], numbers),
        "model": {**tokenizer["model"], "vocab": numbers},
    }


def _renumber(processor: dict[str, Any] | None, numbers: dict[str, int]) -> dict[str, Any] | None:
    """Return a post-processor with the new numbers of its special tokens."""
    if processor is None:
        return None
    if processor["type"] == "TemplateProcessing":
        special = {
            name: {**token, "ids": [numbers[piece] for piece in token["tokens"]]}
            for name, token in processor["special_tokens"].items()
        }
        return {**processor, "special_tokens": special}
    if processor["type"] == "BertProcessing":
        ends = {end: [processor[end][0], numbers[processor[end][0]]] for end in ("sep", "cls")}
        return {**processor, **ends}
    raise UserError(
        f"the tokenizer ends with a {processor['type']}; expected TemplateProcessing or "
        "BertProcessing"
    )


def halve_weights(file: Path) -> None:
    """Store weights in 16 bits; loading makes 32 of them again, as ``config.json`` says.

    safetensors writes files that their owner alone can read; the copy follows the umask.
    """
    weights = {name: tensor.half() for name, tensor in load_file(file).items()}
    save_file(weights, file, metadata={"format": "pt"})
    apply_umask(file)
