"""How many gold triples of a corpus each extractor cannot represent, whatever it learns.

Three reasons are counted apart: a triple has no tokens (an entity has no position in the text, lies
beyond the longest input or fits no tokens), the extractor cannot write its entities, or its labels
contradict each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoTokenizer

from tripleaudit.core.errors import UserError, first_line
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import Aligner, choose_words, token_triples
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.registry import resolve
from tripleaudit.extractors.spec import EXTRACTORS


@dataclass(frozen=True)
class Unrepresentable:
    """Gold triples that one extractor cannot represent.

    Attributes:
        extractor: label of the extractor.
        layout: where it reads an entity's end.
        triples: distinct gold triples of all sentences.
        without_tokens: triples that no tokens fit.
        unwritable: triples whose entities begin or end inside a word of the extractor.
        contradictory: triples of relations whose labels contradict each other in their sentence.
        share: of the triples, the part of all three.
        refused: why the extractor takes no such corpus; None if it does.
    """

    extractor: str
    layout: str
    triples: int
    without_tokens: int = 0
    unwritable: int = 0
    contradictory: int = 0
    share: float | None = None
    refused: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def unknown_share(sentences: Sequence[Sentence], encoder: Path) -> float:
    """Return the share of word pieces of the texts that an encoder does not know (``[UNK]``).

    Args:
        encoder: local folder of a pre-trained encoder with its tokenizer.

    Raises:
        UserError: the folder has no encoder.
    """
    _, tokenizer = _load(encoder)
    pieces = tokenizer([sentence.text for sentence in sentences], add_special_tokens=False)
    ids = [number for one in pieces["input_ids"] for number in one]
    return ids.count(tokenizer.unk_token_id) / len(ids) if ids else 0.0


def _load(encoder: Path) -> tuple[Any, Any]:
    """Return the configuration and the tokenizer of a folder."""
    if not (encoder / "config.json").is_file():
        raise UserError(
            f"encoder {encoder}: expected a local folder with config.json and a fast tokenizer"
        )
    try:
        encoder_config = AutoConfig.from_pretrained(encoder, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(encoder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise UserError(f"encoder {encoder}: cannot be loaded: {first_line(error)}") from error
    return encoder_config, tokenizer


def count_unrepresentable(
    sentences: Sequence[Sentence], encoder: Path
) -> Iterator[Unrepresentable]:
    """Yield what each extractor cannot represent, in each layout that makes a difference.

    Entities are where the corpus has them, whatever mentions an extractor trains on, so that every
    triple counts once.

    Args:
        sentences: with gold triples.
        encoder: local folder of a pre-trained encoder; its tokens decide.

    Raises:
        UserError: the folder has no encoder.
    """
    encoder_config, tokenizer = _load(encoder)
    annotated = [sentence for sentence in sentences if sentence.triples]
    relations = sorted({triple.relation for sentence in annotated for triple in sentence.triples})
    words = choose_words(annotated)
    counted: set[type[Extractor]] = set()
    for name, spec in EXTRACTORS.items():
        extractor, fields = resolve(name)
        if spec.classifier or extractor in counted:  # the first name of a class has its defaults
            continue
        counted.add(extractor)
        for layout in extractor.layouts or (extractor.settings.model_fields["layout"].default,):
            settings = {**fields, "layout": layout, "words": words}
            config = extractor.config_class(
                encoder=encoder_config.to_dict(), relations=relations, **settings
            )
            yield _count(annotated, spec.label, extractor, config, tokenizer)


def _count(
    sentences: Sequence[Sentence],
    label: str,
    extractor: type[Extractor],
    config: Any,
    tokenizer: Any,
) -> Unrepresentable:
    triples = sum(len(set(sentence.triples)) for sentence in sentences)
    try:
        limit = extractor.text_limit(config)
    except UserError as error:
        return Unrepresentable(label, config.layout, triples, refused=str(error))
    aligner = Aligner(tokenizer, config.layout, config.marker, limit, config.words)
    numbers = {relation: number for number, relation in enumerate(config.relations)}
    texts = [sentence.text for sentence in sentences]
    lost = unwritable = contradictory = 0
    for sentence, alignment in zip(sentences, aligner.align(texts, config.max_length), strict=True):
        rows, without_tokens = token_triples(alignment, sentence, numbers)
        written = extractor.representable(config, alignment, rows)
        conflicting = extractor.contradictory(config, rows)
        lost += without_tokens
        unwritable += int((~written).sum())
        contradictory += int((conflicting & written).sum())
    share = (lost + unwritable + contradictory) / triples if triples else None
    return Unrepresentable(label, config.layout, triples, lost, unwritable, contradictory, share)
