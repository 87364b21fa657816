"""Types of entities: a linear classifier over encoder states at both ends of a span.

Strict scores need the types; :mod:`tripleaudit.extractors.type_learning` trains the classifier.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from tripleaudit.corpora.model import Span, Triple
from tripleaudit.extractors.alignment import Alignment

Entity = tuple[int, int]  # characters


def type_layer(hidden_size: int, types: Sequence[str]) -> nn.Linear:
    """Return a zero-initialised classifier from both end states [2H] to a logit per type."""
    layer = nn.Linear(2 * hidden_size, len(types), device="meta").to_empty(
        device="cpu"
    )  # draws no random numbers
    for weights in layer.parameters():
        nn.init.zeros_(weights)
    return layer


def with_types(
    layer: nn.Linear,
    names: Sequence[str],
    triples: Sequence[Triple],
    alignment: Alignment,
    states: Tensor,
) -> tuple[Triple, ...]:
    """Return the triples of a sentence with the types of their entities.

    Args:
        layer: a trained :func:`type_layer`.
        names: types in the order of the layer's outputs.
        triples: of the sentence.
        alignment: tokens of the sentence.
        states: output of the encoder, [L, H].
    """
    positions = dict.fromkeys(
        (span.start, span.end) for t in triples for span in (t.subject, t.object)
    )
    fitting = fitting_tokens(alignment, positions)
    if not fitting:
        return tuple(triples)
    with torch.inference_mode():
        numbers = layer(end_states(states, fitting).to(layer.weight.dtype)).argmax(dim=1).tolist()
    types = {position: names[number] for position, number in zip(fitting, numbers, strict=True)}

    def typed(span: Span) -> Span:
        return replace(span, type=types.get((span.start, span.end)))

    return tuple(Triple(typed(t.subject), t.relation, typed(t.object), t.score) for t in triples)


def end_states(states: Tensor, fitting: Mapping[Entity, tuple[int, int]]) -> Tensor:
    """States [L, H] at the first and last token of entities, [n, 2H]."""
    first, last = torch.tensor(list(fitting.values()), device=states.device).unbind(dim=1)
    return torch.cat([states[first], states[last]], dim=-1)


def fitting_tokens(
    alignment: Alignment, positions: Iterable[Entity]
) -> dict[Entity, tuple[int, int]]:
    """Those entities that begin and end with tokens -> their first and last tokens (inclusive)."""
    return {
        position: tokens
        for position in positions
        if (tokens := alignment.tokens(*position)) is not None
    }
