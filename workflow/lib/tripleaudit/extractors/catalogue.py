"""The descriptors of the extractors and of the classifier (ZCC).

They stand apart from the classes because importing one of those imports torch, and a plan, a table or a command's help
needs their names and settings only: a class is named here and imported when it is trained or used.
"""

from typing import Any, Final

from tripleaudit.descriptors import ExtractorSpec
from tripleaudit.extractors.declared import ExtractorSettings
from tripleaudit.extractors.declared.birte_settings import BiRTESettings
from tripleaudit.extractors.declared.casrel_settings import CasRelSettings
from tripleaudit.extractors.declared.grte_settings import GRTESettings
from tripleaudit.extractors.declared.onerel_settings import OneRelSettings
from tripleaudit.extractors.declared.pfn_settings import PFNSettings
from tripleaudit.extractors.declared.prgc_settings import PRGCSettings
from tripleaudit.extractors.declared.ptrnet_settings import PtrNetSettings
from tripleaudit.extractors.declared.tdeer_settings import TDEERSettings
from tripleaudit.extractors.declared.tplinker_settings import TPLinkerSettings
from tripleaudit.extractors.declared.unirel_settings import UniRelSettings
from tripleaudit.extractors.declared.zcc_settings import ZCCSettings


def _of(settings: type[ExtractorSettings], order: float, rte: float = 0, cardinality: float = 0, **options: Any):
    """The descriptor of a class of this package, with its positions in the tables of both papers."""
    kind = settings.__name__.removesuffix("Settings")
    return ExtractorSpec(
        **{"name": kind.lower(), "label": kind, "reported": kind, **options},
        model=f"tripleaudit.extractors.{kind.lower()}:{kind}",
        settings=settings,
        defaults=settings.training_defaults,
        order=order,
        rte_order=rte or order,
        cardinality_order=cardinality or order,
    )


EXTRACTORS: Final = (
    _of(CasRelSettings, 1, 1, 7),
    _of(TPLinkerSettings, 2, 2, 8),
    _of(TDEERSettings, 3, 6, 3),
    _of(PRGCSettings, 4, 3, 4),
    _of(GRTESettings, 5, 7, 5),
    _of(PFNSettings, 6, 9, 9),
    _of(OneRelSettings, 7, 4, 1),
    _of(BiRTESettings, 8, 5, 2),
    _of(PtrNetSettings, 9, 8, 6),
)
UNIREL: Final = _of(UniRelSettings, 9.5, 10.9, 10.9, takes_schema=True, reported="")
LAST_WORD: Final = {"fields": {"entities": "last_word"}, "training": {"matching": "partial-last"}}
PFN_STAR: Final = _of(PFNSettings, 10, name="pfn-star", base="pfn", label="PFN*", **LAST_WORD)
# without sentences of zero triples, as the authors train; the papers' rows of the two are such trainings
NZ_ONLY: Final = {"fields": {"drop_zero": True}}
DROP_ZERO: Final = (
    _of(TDEERSettings, 10.25, name="tdeer-drop-zero", base="tdeer", label="TDEER, trained NZ only", **NZ_ONLY),
    _of(CasRelSettings, 10.5, name="casrel-drop-zero", base="casrel", label="CasRel, trained NZ only", **NZ_ONLY),
)
CLASSIFIERS: Final = tuple(
    _of(
        ZCCSettings,
        order,
        name=f"zcc-{head}",
        base="zcc",
        label=f"ZCC {label}",
        fields={"head": head},
        classifier=True,
        reported=f"ZCC-{label}",
    )
    for order, head, label in ((11, "binary", "binary"), (12, "mcml", "MCML"))
)
