"""Topical similarity (TS): exp(-KL) of topics of text and triples (GenRES, section 3.1).

The topic model is gensim's LDA, trained once per data set on all texts of the source and saved
without pickles. Inference draws a random start, which moves single texts by up to 0.5 if left
alone; here the generator is reset before each text, so that the value of a text depends on nothing
but the text and the model.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write, read_json, write_json
from tripleaudit.core.outputs import check_unchanged
from tripleaudit.core.progress import watched
from tripleaudit.grescores.systems import System, clean
from tripleaudit.grescores.tokens import STOP_WORDS, TOKENIZER_VERSION, tokens

CHUNK_SIZE = 2000  # gensim's default
WEIGHTS, DESCRIPTION = "lda.safetensors", "lda.json"

# gensim warns about documents without known words at every inference
logging.getLogger("gensim").setLevel(logging.ERROR)


def content_words(text: str) -> list[str]:
    """Return the words of a text that topics are made of, as published.

    English function words are dropped by exact match ("The" stays), and so are words with other
    characters than letters and digits: hyphenated ones, and numbers with a point.
    """
    return [word for word in tokens(text) if word not in STOP_WORDS and word.isalnum()]


class TopicModel:
    """A trained LDA model with its vocabulary.

    Attributes:
        description: what made it: topics, seed, documents, digest of the training texts, versions.
    """

    def __init__(self, lda: Any, vocabulary: dict[str, int], description: dict[str, Any]) -> None:
        self._lda = lda
        self._vocabulary = vocabulary
        self.description = description
        self.seed = int(description["seed"])
        self._known: dict[tuple[tuple[int, int], ...], np.ndarray] = {}

    @property
    def topics(self) -> int:
        """K, the length of a topic distribution."""
        return int(self._lda.num_topics)

    def bag(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return the known words of a text as sorted ``(word id, count)`` pairs."""
        counts: dict[int, int] = {}
        for word in content_words(text):
            if word in self._vocabulary:
                number = self._vocabulary[word]
                counts[number] = counts.get(number, 0) + 1
        return tuple(sorted(counts.items()))

    def distribution(self, text: str) -> np.ndarray:
        """Return the topic distribution of a text, float64 ``[K]``; uniform without known words."""
        bag = self.bag(text)
        if bag not in self._known:
            # Official inference leaves the generator running, so that the same text gets another
            # answer each time.
            self._lda.random_state = np.random.RandomState(self.seed)
            gamma, _ = self._lda.inference([list(bag)])
            share = gamma[0].astype(float)
            self._known[bag] = share / share.sum()
        return self._known[bag]

    def save(self, folder: str | Path) -> None:
        """Write ``lda.safetensors`` and ``lda.json``."""
        from safetensors.numpy import save

        folder = Path(folder)
        words = [""] * len(self._vocabulary)
        for word, number in self._vocabulary.items():
            words[number] = word
        with atomic_write(folder / WEIGHTS, "wb") as stream:
            stream.write(
                save(
                    {
                        "expElogbeta": np.ascontiguousarray(self._lda.expElogbeta),
                        "alpha": np.ascontiguousarray(self._lda.alpha),
                    }
                )
            )
        write_json(folder / DESCRIPTION, {**self.description, "vocabulary": words})

    @classmethod
    def load(cls, folder: str | Path) -> "TopicModel":
        """Read a saved model.

        Raises:
            UserError: the folder holds none, or its files do not belong together.
        """
        from gensim.models import LdaModel
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        folder = Path(folder)
        if not (folder / WEIGHTS).is_file() or not (folder / DESCRIPTION).is_file():
            raise UserError(f"{folder}: no topic model here; expected {WEIGHTS} and {DESCRIPTION}")
        description = read_json(folder / DESCRIPTION)
        check_unchanged(folder / WEIGHTS)
        try:
            weights = load_file(folder / WEIGHTS)
            words = description.pop("vocabulary")
            beta, alpha = weights["expElogbeta"], weights["alpha"]
        except (SafetensorError, KeyError, AttributeError, TypeError) as error:
            raise UserError(f"{folder}: not a topic model of tripleaudit ({error})") from error
        if beta.shape != (len(alpha), len(words)):
            raise UserError(
                f"{folder}: {WEIGHTS} has shape {beta.shape}, expected {(len(alpha), len(words))}"
            )
        if not (np.isfinite(beta).all() and np.isfinite(alpha).all()):
            raise UserError(
                f"{folder}: {WEIGHTS} holds numbers that are not finite; train the topics again"
            )
        # A model of the same size with nothing in it; the trained word distributions replace its
        # random ones.
        lda = LdaModel(num_topics=len(alpha), id2word={0: ""}, alpha=alpha, dtype=beta.dtype.type)
        lda.expElogbeta, lda.num_terms = beta, len(words)
        return cls(lda, {word: number for number, word in enumerate(words)}, description)


def train_topics(
    texts: Sequence[str], topics: int, seed: int, chunk_size: int = CHUNK_SIZE
) -> TopicModel:
    """Train LDA with gensim's defaults, as published but seeded.

    Symmetric priors 1/K, one pass, chunks of 2000.

    Args:
        texts: the training texts; repeats count, and the order matters.
        chunk_size: documents between two updates of the topics. It decides how far they part from
            one another: a corpus smaller than one chunk gives a single update.

    Raises:
        UserError: no text has a usable word.
    """
    import gensim
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    words = [content_words(text) for text in texts]
    dictionary = Dictionary(words)
    if not len(dictionary):
        raise UserError("the topic model's training texts have no usable words")
    lda = LdaModel(
        [dictionary.doc2bow(text) for text in words],
        num_topics=topics,
        id2word=dictionary,
        chunksize=chunk_size,
        random_state=np.random.RandomState(seed),
    )
    digest = hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()
    description = {
        "topics": topics,
        "seed": seed,
        "documents": len(texts),
        "chunk_size": chunk_size,
        "training_sha256": digest,
        "tokenizer": TOKENIZER_VERSION,
        "gensim": gensim.__version__,
    }
    return TopicModel(lda, dict(dictionary.token2id), description)


def arranged(texts: Sequence[str], evaluated: Iterable[str], after: float) -> list[str]:
    """Return training texts with the evaluated ones moved behind a share of the others.

    Each of the two groups keeps its order; evaluated texts that are no training texts are ignored.
    A text of the first update is remembered: for published outputs of NYT10m, TS is 9 to 10 points
    higher if the evaluated texts come first, so stand-in texts must have them where the original
    texts had them.
    """
    evaluated = set(evaluated)
    inside = [text for text in texts if text in evaluated]
    others = [text for text in texts if text not in evaluated]
    position = round(after * len(others))
    return others[:position] + inside + others[position:]


def similarity(p: np.ndarray, q: np.ndarray) -> float:
    """Return exp(-KL(p || q)) of two distributions ``[K]``; 0 where q is 0 and p is not."""
    p = np.asarray(p, float) / np.sum(p)
    q = np.asarray(q, float) / np.sum(q)
    positive = p > 0
    p, q = p[positive], q[positive]
    if (q == 0).any():
        return 0.0
    divergence = np.sum(p * np.log(p / q))
    return float(np.exp(-divergence))


def joined(triples: Iterable[Sequence[Any]], official: bool) -> str:
    """Write triples as one text, ``s r o .`` each.

    Official: without a blank in between, which glues each subject but the first to a full stop and
        so loses it.
    """
    sentences = [f"{subject} {relation} {object_} ." for subject, relation, object_ in triples]
    separator = "" if official else " "
    return separator.join(sentences)


def topical_similarity(system: System, model: TopicModel, official: bool) -> dict[str, float]:
    """Return TS per text.

    A text without triples is officially compared with the prior of the topics and counts 0 by
    default; by default a text without any known word is left out.
    """
    values = {}
    for text, raw in watched(system.texts.items(), "topical similarity", "texts"):
        if official:
            triples: Sequence[Any] = [triple for triple in raw if len(triple) == 3]
        else:
            triples, _ = clean(raw)
            if not model.bag(text):
                continue
            if not triples:
                values[text] = 0.0
                continue
        extracted = joined(triples, official)
        values[text] = similarity(model.distribution(text), model.distribution(extracted))
    return values


def read_texts(path: str | Path) -> list[str]:
    """Read texts: a JSON list of strings, an object keyed by text, or JSON lines with ``text``.

    Raises:
        UserError: the file is missing or has none of these forms.
    """
    path = Path(path)
    if ".jsonl" in path.suffixes:
        from tripleaudit.corpora.store import load_sentences

        return [sentence.text for sentence in load_sentences(path)]
    value = read_json(path)
    texts = list(value) if isinstance(value, list | dict) else [value]
    if not isinstance(value, list | dict) or not all(isinstance(text, str) for text in texts):
        raise UserError(
            f"{path}: expected a JSON list of texts, an object keyed by text, or .jsonl sentences"
        )
    return texts
