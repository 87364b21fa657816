"""Output layers that start from the share of positive labels (Lin et al., ICCV 2017, section 3.3).

The official initialisation of the extractors gives every label about the same probability as its contrary. Hundreds of
steps then go into learning that nearly all labels are negative, at a high learning rate to the encoder's harm. Biases
that say so from the beginning make short trainings possible; nothing else changes. Where the probability equals the
share of positive labels, positive and negative labels pull equally hard; far above it, negative ones drown the others.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tripleaudit.extractors.base import Extractor

Prior = float | Mapping[str, float]


@torch.no_grad()
def start_from_prior(extractor: "Extractor", prior: Prior) -> None:
    """Set biases so that a label is positive with the probability ``prior`` at zero input.

    Args:
        extractor: an untrained extractor.
        prior: one probability for all its sparse outputs, or one for each output named; others keep their start.
    """
    for name, classes in extractor.settings.sparse_outputs.items():
        probability = prior.get(name) if isinstance(prior, Mapping) else prior
        if probability is None:
            continue
        odds = math.log(probability / (1 - probability))
        bias = extractor.get_submodule(name).bias
        bias.zero_()
        if classes == 1:
            bias.fill_(odds)
        else:
            none = bias.view(classes, -1)[0] if extractor.classes_first else bias.view(-1, classes)[:, 0]
            none.fill_(math.log(classes - 1) - odds)
