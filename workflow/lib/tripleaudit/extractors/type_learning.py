"""Training of the classifier of entity types on the states of a trained extractor.

It follows the training of the extractor, learns from the entities of the training triples whose
types the corpus has, and changes no weight of the extractor: the triples are the same with and
without it.
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
FEWEST_STEPS = 300
BATCH = 64  # entities
LEARNING_RATE = 3e-3


def learn_types(
    model: Extractor, sentences: Sequence[Sentence], *, batch_size: int, seed: int
) -> dict[str, Any]:
    """Train the type layer of an extractor on the located entities of training triples.

    Args:
        sentences: the training split; nothing happens where its entities have no types.

    Returns:
        ``entities`` learnt from, ``types``, and ``accuracy`` on these entities; empty where there
        are no types.
    """
    wanted = {
        sentence.text: entities for sentence in sentences if (entities := _types_of(sentence))
    }
    names = sorted({name for entities in wanted.values() for name in entities.values()})
    if not names:
        return {}
    states, labels = [], []
    for text, spans, found in _states(
        model, {text: list(entities) for text, entities in wanted.items()}, batch_size
    ):
        states.append(found)
        labels += [names.index(wanted[text][span]) for span in spans]
    inputs, targets = (
        torch.cat(states).float(),
        torch.tensor(labels, device=model.device),
    )  # [n, 2H], [n]
    model.config.entity_types = names
    model.types = type_layer(model.hidden_size, names).to(model.device)
    optimizer = torch.optim.AdamW(model.types.parameters(), lr=LEARNING_RATE)
    order = torch.Generator().manual_seed(seed)
    for _ in range(max(EPOCHS, FEWEST_STEPS * BATCH // len(inputs))):
        for chosen in torch.randperm(len(inputs), generator=order).to(model.device).split(BATCH):
            loss = F.cross_entropy(model.types(inputs[chosen]), targets[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        accuracy = (model.types(inputs).argmax(dim=1) == targets).float().mean().item()
    return {"entities": len(labels), "types": len(names), "accuracy": round(accuracy, 4)}


def _types_of(sentence: Sentence) -> dict[Entity, str]:
    """Located entities of a sentence's triples -> type; of two types of one span, the first."""
    found: dict[Entity, str] = {}
    for triple in sentence.triples:
        for span in (triple.subject, triple.object):
            if span.start is not None and span.end is not None and span.type is not None:
                found.setdefault((span.start, span.end), span.type)
    return found


@torch.no_grad()
def _states(
    model: Extractor, wanted: Mapping[str, Sequence[Entity]], batch_size: int
) -> Iterator[tuple[str, list[Entity], Tensor]]:
    """Yield text, those of its entities that tokens fit, and their states [n, 2H]."""
    texts = sorted(wanted, key=len, reverse=True)
    with model.predicting():
        for at in range(0, len(texts), batch_size):
            chunk = texts[at : at + batch_size]
            alignments = model.aligner.align(chunk)
            batch = model.collate(alignments)
            hidden = model.encode(batch["input_ids"], batch["attention_mask"])  # [B, L, H]
            for row, (text, alignment) in enumerate(zip(chunk, alignments, strict=True)):
                if fitting := fitting_tokens(alignment, wanted[text]):
                    yield text, list(fitting), end_states(hidden[row], fitting)
