"""What the catalogue says of extractors without loading them is what their classes say."""

import pytest

from tripleaudit.extractors.catalogue import CLASSIFIERS, DROP_ZERO, EXTRACTORS, PFN_STAR, UNIREL
from tripleaudit.extractors.registry import resolve

EVERY = [*EXTRACTORS, UNIREL, PFN_STAR, *DROP_ZERO, *CLASSIFIERS]


@pytest.mark.parametrize("spec", EVERY, ids=lambda spec: spec.name)
def test_the_catalogue_says_what_the_class_says(spec) -> None:
    kind, implied = resolve(spec.name)
    assert (kind.name, kind.takes_schema) == (spec.base or spec.name, spec.takes_schema)
    assert implied == spec.fields and implied.keys() <= kind.config_class().to_dict().keys()


def test_names_stand_for_one_extractor_each() -> None:
    assert len({spec.name for spec in EVERY}) == len({spec.label for spec in EVERY}) == len(EVERY)
    assert [spec.label for spec in (PFN_STAR, *DROP_ZERO)] == [
        "PFN*",
        "TDEER, trained NZ only",
        "CasRel, trained NZ only",
    ]
    assert [spec.reported for spec in CLASSIFIERS] == ["ZCC-binary", "ZCC-MCML"]
