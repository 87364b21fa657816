"""Random encoders of a few thousand weights, for tests."""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

WORDS = (
    "tim cook leads apple in cup ##ert ##ino . , ada lovelace wrote notes on the engine of charles "
    "bab ##bage london is capital england it rain ##s today and was born founded by an old house "
    "stands near river nobody knows why"
)
SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "sa", "te", "vo")
SPECIAL_TOKENS = (
    "[PAD]",
    "[unused0]",
    "[unused1]",
    "[unused2]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
)


def save_tiny_encoder(
    folder: Path,
    *,
    layers: int = 2,
    width: int = 32,
    dropout: float = 0.0,
    seed: int = 0,
    segments: int = 2,
) -> Path:
    """Write a random BERT and a fast WordPiece tokenizer with a small vocabulary.

    Args:
        folder: created where it does not exist; returned.
        layers: number of layers.
        width: of the hidden states; a multiple of 4.
        dropout: of hidden states and attention.
        seed: of the weights.
        segments: number of token types.
    """
    from transformers import BertConfig, BertModel, BertTokenizerFast

    vocabulary = tiny_vocabulary(*SPECIAL_TOKENS)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True)
    tokenizer.save_pretrained(folder)
    config = BertConfig(
        **tiny_shape(vocabulary, layers, width, dropout),
        max_position_embeddings=160,
        type_vocab_size=segments,
    )
    torch.manual_seed(seed)
    BertModel(config).save_pretrained(folder)
    return folder


def tiny_shape(
    vocabulary: Sequence[str], layers: int, width: int, dropout: float
) -> dict[str, Any]:
    """Return the fields that configurations of tiny encoders share."""
    return {
        "vocab_size": len(vocabulary),
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "hidden_dropout_prob": dropout,
        "attention_probs_dropout_prob": dropout,
    }


def tiny_vocabulary(*special_tokens: str) -> list[str]:
    """Return the words and pieces of the toy sentences after the special tokens."""
    characters = [*string.ascii_lowercase, *string.digits]
    starts = [*characters, *SYLLABLES]
    pieces = [*starts, *(f"##{start}" for start in starts)]
    return list(dict.fromkeys([*special_tokens, *pieces, *WORDS.split()]))
