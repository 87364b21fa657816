"""Settings and spec of PtrNet."""

from typing import Annotated

from tripleaudit.core.fields import Number, Rate, among
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class PtrNetSettings(ExtractorSettings):
    """Settings of PtrNet."""

    training_defaults = OFFICIAL["ptrnet"]

    width: Number = 300
    """D, of words, decoder state and each direction of the pointer LSTMs."""
    dropout: Rate = 0.3
    """Of words, states, arguments and relation embeddings."""
    max_words: Number = 5
    """Longest entity that is decoded, in words."""
    max_triples: Number = 10
    """Steps when decoding. In training, a sentence with more triples trains on the first of them in `order`, without
    the NONE that would follow (the official code drops such sentences)."""
    order: Annotated[str, among(("text", "epoch"))] = "text"
    """`text` writes the triples of a sentence as their subjects, then their objects begin in the text, so that there is
    one right answer at each step; `epoch` shuffles them again in every epoch."""


PTRNET = ExtractorSpec(
    name="ptrnet",
    label="PtrNet",
    reported="PtrNet",
    model="tripleaudit.extractors.ptrnet:PtrNet",
    settings=PtrNetSettings,
    order=9,
    rte_order=8,
    cardinality_order=6,
)
