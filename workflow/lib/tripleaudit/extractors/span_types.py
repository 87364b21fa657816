"""Types of extracted entities: a linear classifier over the trained encoder's states at both ends
of a span.

It is learnt behind the training, from the entities of the training triples, where the corpus says
their types, and changes no weight of the extractor: the triples are the same with and without it.
Strict scores need it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.alignment import Alignment

if TYPE_CHECKING:
    from tripleaudit.extractors.base import Extractor

EPOCHS = 20
FEWEST_STEPS = 300
BATCH = 64  # entities
LEARNING_RATE = 3e-3
Entity = tuple[int, int]  # characters


def type_layer(hidden_size: int, types: Sequence[str]) -> nn.Linear:
    """The classifier: states at the first and last token of a span [2H] -> a logit for each
    type; all zero at first.
    """
    layer = nn.Linear(2 * hidden_size, len(types), device="meta").to_empty(
        device="cpu"
    )  # draws no random numbers
    for weights in layer.parameters():
        nn.init.zeros_(weights)
    return layer


def learn_types(
    model: "Extractor", sentences: Sequence[Sentence], *, batch_size: int, seed: int
) -> dict[str, Any]:
    """Give a trained extractor its type layer, learnt from the located entities of training
    triples.

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


def with_types(
    model: "Extractor", triples: Sequence[Triple], alignment: Alignment, states: Tensor
) -> tuple[Triple, ...]:
    """Return a sentence's triples with the types of their entities, by the states [L, H] that
    the encoder gave it.
    """
    positions = dict.fromkeys(
        (span.start, span.end) for t in triples for span in (t.subject, t.object)
    )
    fitting = _fitting(alignment, positions)
    if not fitting:
        return tuple(triples)
    with torch.inference_mode():
        numbers = (
            model.types(_at(states, fitting).to(model.types.weight.dtype)).argmax(dim=1).tolist()
        )
    types = {
        position: model.config.entity_types[number]
        for position, number in zip(fitting, numbers, strict=True)
    }

    def typed(span: Span) -> Span:
        return replace(span, type=types.get((span.start, span.end)))

    return tuple(Triple(typed(t.subject), t.relation, typed(t.object), t.score) for t in triples)


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
    model: "Extractor", wanted: Mapping[str, Sequence[Entity]], batch_size: int
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
                if fitting := _fitting(alignment, wanted[text]):
                    yield text, list(fitting), _at(hidden[row], fitting)


def _at(states: Tensor, fitting: Mapping[Entity, tuple[int, int]]) -> Tensor:
    """States [L, H] at the first and last token of entities, [n, 2H]."""
    first, last = torch.tensor(list(fitting.values()), device=states.device).unbind(dim=1)
    return torch.cat([states[first], states[last]], dim=-1)


def _fitting(alignment: Alignment, positions: Iterable[Entity]) -> dict[Entity, tuple[int, int]]:
    """Those entities that begin and end with tokens -> their first and last tokens (inclusive)."""
    return {
        position: tokens
        for position in positions
        if (tokens := alignment.tokens(*position)) is not None
    }
