"""What TDEER declares."""

from tripleaudit.core.fields import Count, NotNegative
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class TDEERSettings(ExtractorSettings):
    sparse_outputs = {"heads": 1, "tails": 1, "object": 1}
    training_defaults = OFFICIAL["tdeer"]

    neg_samples: Count = 2
    """The most negative instances for each positive one."""
    max_sample_triples: Count = 0
    """The most positive instances of a sentence and visit, a random choice; 0 for all."""
    translation_weight: NotNegative = 5.0
    """Weight of the object term."""
