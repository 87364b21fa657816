"""What PRGC declares."""

from tripleaudit.core.fields import Rate, Share
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class PRGCSettings(ExtractorSettings):
    sparse_outputs = {"pair": 1, "subject": 3, "object": 3}
    training_defaults = OFFICIAL["prgc"]

    dropout: Rate = 0.3
    """After each hidden layer of the heads."""
    relation_threshold: Share = 0.1
    """Probability above which a relation counts."""
    pair_threshold: Share = 0.5
    """Probability above which a pair of heads counts."""
    fallback: bool = True
    """Decode the likeliest relation where none is above the threshold, as the official code
    does.
    """
