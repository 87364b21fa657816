"""The descriptors of the extractors and of the classifier (ZCC).

They stand apart from the classes because importing one of those imports torch, and a plan, a table or a command's help
needs their names and settings only: a class is named here and imported when it is trained or used.
"""

from typing import Any, Final

from tripleaudit.descriptors import ExtractorSpec
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

SETTINGS: Final = {
    "CasRel": CasRelSettings,
    "TPLinker": TPLinkerSettings,
    "TDEER": TDEERSettings,
    "PRGC": PRGCSettings,
    "GRTE": GRTESettings,
    "PFN": PFNSettings,
    "OneRel": OneRelSettings,
    "BiRTE": BiRTESettings,
    "PtrNet": PtrNetSettings,
    "UniRel": UniRelSettings,
    "ZCC": ZCCSettings,
}


def _of(kind: str, order: float, rte_order: float = 0, cardinality_order: float = 0, **options: Any) -> ExtractorSpec:
    """The descriptor of a class of this package, with its places in the tables of both papers."""
    return ExtractorSpec(
        **{"name": kind.lower(), "label": kind, "reported": kind, **options},
        model=f"tripleaudit.extractors.{kind.lower()}:{kind}",
        settings=SETTINGS[kind],
        order=order,
        rte_order=rte_order or order,
        cardinality_order=cardinality_order or order,
    )


EXTRACTORS: Final = (
    _of("CasRel", 1, 1, 7),
    _of("TPLinker", 2, 2, 8),
    _of("TDEER", 3, 6, 3),
    _of("PRGC", 4, 3, 4),
    _of("GRTE", 5, 7, 5),
    _of("PFN", 6, 9, 9),
    _of("OneRel", 7, 4, 1),
    _of("BiRTE", 8, 5, 2),
    _of("PtrNet", 9, 8, 6),
)
UNIREL: Final = _of("UniRel", 9.5, 10.9, 10.9, told=True, reported="")
PFN_STAR: Final = _of(
    "PFN",
    10,
    name="pfn-star",
    base="pfn",
    label="PFN*",
    fields={"entities": "last_word"},
    training={"matching": "partial-last"},
)
DROP_ZERO: Final = tuple(  # as the authors do; the paper's rows of the two are such trainings
    _of(
        kind,
        order,
        name=f"{kind.lower()}-drop-zero",
        base=kind.lower(),
        label=f"{kind}, trained NZ only",
        fields={"drop_zero": True},
    )
    for order, kind in ((10.25, "TDEER"), (10.5, "CasRel"))
)
CLASSIFIERS: Final = tuple(
    _of(
        "ZCC",
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
