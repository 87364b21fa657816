"""What CasRel declares."""

from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class CasRelSettings(ExtractorSettings):
    sparse_outputs = {"subject": 1, "object": 1}
    training_defaults = OFFICIAL["casrel"]
