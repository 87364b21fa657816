"""Word vectors: reading them, deriving them from an encoder, and the nearest words of a word."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.core.progress import Progress
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.words import segments
from tripleaudit.protocols.augmented.masked_lm import load
from tripleaudit.protocols.substitution import like, replaceable, same

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def load_vectors(path: str | Path) -> "KeyedVectors":
    """Read word vectors: GloVe or word2vec text, or word2vec binary (.bin).

    Raises:
        UserError: the file is missing, is not of these forms, or is gensim's native form, whose
            pickles are not loaded because they can run code.
    """
    from gensim import utils
    from gensim.models import KeyedVectors

    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file, expected word vectors")
    stem = path.name.removesuffix(".gz")
    if stem.endswith((".kv", ".model", ".pkl", ".pickle")):
        raise UserError(
            f"{path}: vectors saved by gensim's save() are pickles and are not loaded; expected the text or binary "
            "form that save_word2vec_format() writes"
        )
    binary = stem.endswith(".bin")
    try:
        with utils.open(str(path), "rb") as stream:
            first = (
                [] if binary else stream.readline().split()
            )  # word2vec's ``words dimensions``, or the first word
        headless = not binary and not (len(first) == 2 and all(part.isdigit() for part in first))
        with Progress(f"reading the word vectors {path.name}", unit="files"):
            return KeyedVectors.load_word2vec_format(str(path), binary=binary, no_header=headless)
    except (ValueError, EOFError, UnicodeDecodeError, IndexError, OSError) as error:
        raise UserError(f"{path}: not word vectors in text or word2vec form ({error})") from error


def derive_vectors(encoder: str | Path, sentences: Iterable[Sentence]) -> "KeyedVectors":
    """Return vectors of a corpus's words: mean input embeddings of their pieces.

    The words stand in order of first use; those without letters and digits are left out, and so are
    capitals where the tokenizer does not tell them apart.

    Raises:
        UserError: as :func:`~tripleaudit.protocols.augmented.masked_lm.load`, or the corpus has no
            word.
    """
    import torch
    from gensim.models import KeyedVectors

    model, tokenizer, _ = load(encoder, "an encoder")
    cased = tokenizer.tokenize("A") != tokenizer.tokenize("a")
    spelled = (
        word for sentence in sentences for word in segments(sentence.text) if replaceable(word)
    )
    words = list(dict.fromkeys(word if cased else word.lower() for word in spelled))
    if not words:
        raise UserError("word vectors: the corpus has no words to derive vectors for")
    pieces = tokenizer([" " + word for word in words], add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        table = model.get_input_embeddings().weight.cpu()
        means = torch.stack(
            [table[ids].mean(0) if ids else torch.zeros(table.shape[1]) for ids in pieces]
        )
    vectors = KeyedVectors(vector_size=means.shape[1])
    vectors.add_vectors(words, means.float().numpy())
    return vectors


class NearestWords:
    """Nearest words by cosine; unknown words are looked up in lower case.

    Args:
        vectors: of words.
        others: in which the words that ``vectors`` lack are looked up.
    """

    def __init__(self, vectors: "KeyedVectors", others: "KeyedVectors | None" = None) -> None:
        self.vectors = vectors
        self._unit = vectors.get_normed_vectors()
        self._others = NearestWords(others) if others is not None else None

    def nearest(self, word: str, top: int) -> list[str]:
        """Return up to ``top`` words, nearest first; ties in the order of the vectors' file.

        Words that differ in case alone, and ones without letters and digits, are left out. Where
        the word was found in small letters, the answers get its case.
        """
        key = self.key(word)
        if key is None:
            return self._others.nearest(word, top) if self._others else []
        near = self._unit @ self._unit[self.vectors.key_to_index[key]]
        found: dict[str, None] = {}
        for position in np.argsort(-near, kind="stable"):
            other = self.vectors.index_to_key[position]
            if replaceable(other) and not same(other, word):
                found[other if key == word else like(other, word)] = None
                if len(found) == top:
                    break
        return list(found)

    def key(self, word: str) -> str | None:
        """Return under which string the vectors have a word, None where they do not."""
        return next((key for key in (word, word.lower()) if key in self.vectors.key_to_index), None)
