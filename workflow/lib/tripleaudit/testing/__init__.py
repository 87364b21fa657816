"""Contract tests for extractors: what every shipped extractor passes and a plugin's should.

:func:`check_extractor` runs all of them on a random encoder of two layers, without a network.
"""

from tripleaudit.testing.checks import (
    Oracle,
    build_extractor,
    ceiling,
    check_determinism,
    check_extractor,
    check_overfit,
    check_padding_invariance,
    check_predicted_rows,
    check_save_and_load,
    check_structures,
    check_unlearnable,
    check_zero_triple_batch,
    exact_f1,
    exact_triples,
    training_batch,
)
from tripleaudit.testing.encoders import save_tiny_encoder
from tripleaudit.testing.sentences import (
    RELATIONS,
    make_sentence,
    structures,
    toy_sentences,
    worked_example,
)

__all__ = [
    "RELATIONS",
    "Oracle",
    "build_extractor",
    "ceiling",
    "check_determinism",
    "check_extractor",
    "check_overfit",
    "check_padding_invariance",
    "check_predicted_rows",
    "check_save_and_load",
    "check_structures",
    "check_unlearnable",
    "check_zero_triple_batch",
    "exact_f1",
    "exact_triples",
    "make_sentence",
    "save_tiny_encoder",
    "structures",
    "toy_sentences",
    "training_batch",
    "worked_example",
]
