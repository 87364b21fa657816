"""What BiRTE declares."""

from tripleaudit.core.fields import Rate
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class BiRTESettings(ExtractorSettings):
    sparse_outputs = {
        "subject": 1,
        "object": 1,
        "object_given_subject": 1,
        "subject_given_object": 1,
    }
    training_defaults = OFFICIAL["birte"]

    dropout: Rate = 0.1
    """On the three token representations and on the pooled sentence."""
