"""Training of the entity-type classifier on the encoder states of a trained extractor.

It runs after the training of the extractor and learns from the typed entities of the training
triples. The weights of the extractor stay fixed, so the extracted triples do not change.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.span_types import Entity, end_states, fitting_tokens, type_layer

EPOCHS = 20
MIN_STEPS = 300  # a small corpus is trained for more epochs
BATCH_SIZE = 64  # entities
LEARNING_RATE = 3e-3


def learn_types(
    model: Extractor, sentences: Sequence[Sentence], *, batch_size: int, seed: int
) -> dict[str, Any]:
    """Train the type layer of an extractor on the located entities of training triples.

    Args:
        sentences: the training split; without entity types, nothing is trained.
        batch_size: sentences that are encoded at a time.

    Returns:
        ``entities`` (number of training examples), ``types`` (number of types) and ``accuracy`` on
        these examples; empty without entity types.
    """
    types_by_text: dict[str, dict[Entity, str]] = {}
    for sentence in sentences:
        entity_types = _entity_types(sentence)
        if entity_types:
            types_by_text[sentence.text] = entity_types
    names = sorted({name for types in types_by_text.values() for name in types.values()})
    if not names:
        return {}
    located = {text: list(entity_types) for text, entity_types in types_by_text.items()}
    states, labels = [], []
    for text, entities, entity_states in _encode_entities(model, located, batch_size):
        states.append(entity_states)
        labels += [names.index(types_by_text[text][entity]) for entity in entities]
    inputs = torch.cat(states).float()  # [n, 2H]
    targets = torch.tensor(labels, device=model.device)  # [n]
    model.config.entity_types = names
    model.types = type_layer(model.hidden_size, names).to(model.device)
    optimizer = torch.optim.AdamW(model.types.parameters(), lr=LEARNING_RATE)
    order = torch.Generator().manual_seed(seed)
    epochs = max(EPOCHS, MIN_STEPS * BATCH_SIZE // len(inputs))
    for _ in range(epochs):
        permutation = torch.randperm(len(inputs), generator=order).to(model.device)
        for indices in permutation.split(BATCH_SIZE):
            loss = F.cross_entropy(model.types(inputs[indices]), targets[indices])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        accuracy = (model.types(inputs).argmax(dim=1) == targets).float().mean().item()
    return {"entities": len(labels), "types": len(names), "accuracy": round(accuracy, 4)}


def _entity_types(sentence: Sentence) -> dict[Entity, str]:
    """Return the types of located entities; if a span has several types, the first one counts."""
    types: dict[Entity, str] = {}
    for triple in sentence.triples:
        for span in (triple.subject, triple.object):
            if span.start is not None and span.end is not None and span.type is not None:
                types.setdefault((span.start, span.end), span.type)
    return types


@torch.no_grad()
def _encode_entities(
    model: Extractor, entities_by_text: Mapping[str, Sequence[Entity]], batch_size: int
) -> Iterator[tuple[str, list[Entity], Tensor]]:
    """Yield each text with its entities that align with tokens, and their states [n, 2H]."""
    texts = sorted(entities_by_text, key=len, reverse=True)
    with model.predicting():
        for start in range(0, len(texts), batch_size):
            chunk = texts[start : start + batch_size]
            alignments = model.aligner.align(chunk)
            batch = model.collate(alignments)
            hidden = model.encode(batch["input_ids"], batch["attention_mask"])  # [B, L, H]
            for row, (text, alignment) in enumerate(zip(chunk, alignments, strict=True)):
                token_spans = fitting_tokens(alignment, entities_by_text[text])
                if token_spans:
                    yield text, list(token_spans), end_states(hidden[row], token_spans)
