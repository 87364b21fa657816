"""The spec of an extractor, and the registry of extractors; imports neither torch nor models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tripleaudit.core.plugins import Registry, Spec


@dataclass(frozen=True, kw_only=True)
class ExtractorSpec(Spec):
    """An extractor, or a classifier of sentences, that a study trains.

    Attributes:
        model: The class, or its location if it is imported only for training and prediction:
            ``package.module:Class`` or ``file.py:Class``.
        settings: Settings of the model
            (a subclass of :class:`tripleaudit.extractors.settings.ExtractorSettings`), so that a
            study is validated without importing ``model``; None for the attribute ``settings`` of
            ``model``.
        base: Name under which the class saves models and under which its presets are listed; empty
            for ``name``.
        fields: Fields of the model's configuration that the name implies.
        training: Training settings that the name implies.
        defaults: Official training settings; by default those of ``settings``. They are part of
            the digest of a training.
        presets: Name -> settings; those of the shipped extractors are in ``data/presets.yaml``.
        classifier: Whether the model decides only which sentences have triples.
        rte_order: Position in the tables of rte-generalization; ``order`` if zero.
        cardinality_order: Position in the tables of zero-cardinality; ``order`` if zero.
        takes_schema: Whether the model reads the names of relations, so that a trained one can be
            given others.
        reported: Name in the files of reported values.
    """

    model: str | type
    settings: Any = None
    base: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    classifier: bool = False
    rte_order: float = 0
    cardinality_order: float = 0
    takes_schema: bool = False
    reported: str = ""

    def __post_init__(self) -> None:
        if not self.defaults:
            defaults = getattr(self.settings, "training_defaults", {})
            object.__setattr__(self, "defaults", defaults)
        for position in ("rte_order", "cardinality_order"):
            if not getattr(self, position):
                object.__setattr__(self, position, self.order)


EXTRACTORS: Final = Registry(
    ExtractorSpec,
    "extractor",
    shipped=[
        "tripleaudit.extractors.specs.casrel",
        "tripleaudit.extractors.specs.tplinker",
        "tripleaudit.extractors.specs.tdeer",
        "tripleaudit.extractors.specs.prgc",
        "tripleaudit.extractors.specs.grte",
        "tripleaudit.extractors.specs.pfn",
        "tripleaudit.extractors.specs.onerel",
        "tripleaudit.extractors.specs.birte",
        "tripleaudit.extractors.specs.ptrnet",
        "tripleaudit.extractors.specs.unirel",
        "tripleaudit.extractors.specs.zcc",
    ],
)
