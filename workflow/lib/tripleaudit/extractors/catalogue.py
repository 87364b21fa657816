"""The descriptors of the extractors and of the classifier (ZCC).

They stand apart from the classes because importing one of those imports torch, and a plan, a table or a command's help
needs their names only: a class is named here and imported when it is trained or used.
"""

from typing import Final

from tripleaudit.descriptors import ExtractorSpec

HOME: Final = "tripleaudit.extractors"

# class, place in rte-generalization's tables (those that it does not have behind its three), in zero-cardinality's
EXTRACTORS: Final = tuple(
    ExtractorSpec(
        name=kind.lower(),
        model=f"{HOME}.{kind.lower()}:{kind}",
        label=kind,
        order=order,
        rte_order=rte_order,
        cardinality_order=cardinality_order,
        reported=kind,
    )
    for order, (kind, rte_order, cardinality_order) in enumerate(
        (
            ("CasRel", 0, 6),
            ("TPLinker", 1, 7),
            ("TDEER", 5, 2),
            ("PRGC", 2, 3),
            ("GRTE", 6, 4),
            ("PFN", 8, 8),
            ("OneRel", 3, 0),
            ("BiRTE", 4, 1),
            ("PtrNet", 7, 5),
        )
    )
)
UNIREL: Final = ExtractorSpec(
    name="unirel",
    model=f"{HOME}.unirel:UniRel",
    label="UniRel",
    order=8.5,
    rte_order=9.9,
    cardinality_order=9.9,
    told=True,
)
PFN_STAR: Final = ExtractorSpec(
    name="pfn-star",
    model=f"{HOME}.pfn:PFN",
    base="pfn",
    label="PFN*",
    order=9,
    rte_order=9,
    cardinality_order=9,
    fields={"entities": "last_word"},
    training={"matching": "partial-last"},
    reported="PFN",
)
DROP_ZERO: Final = tuple(
    ExtractorSpec(
        name=f"{kind.lower()}-drop-zero",
        model=f"{HOME}.{kind.lower()}:{kind}",
        base=kind.lower(),
        label=f"{kind}, trained NZ only",
        order=9.25 + place / 4,
        rte_order=9.25 + place / 4,
        cardinality_order=9.25 + place / 4,
        fields={"drop_zero": True},  # as the authors do; the paper's rows of the two are such trainings
        reported=kind,
    )
    for place, kind in enumerate(("TDEER", "CasRel"))
)
CLASSIFIERS: Final = tuple(
    ExtractorSpec(
        name=f"zcc-{head}",
        model=f"{HOME}.zcc:ZCC",
        base="zcc",
        label=f"ZCC {label}",
        order=order,
        rte_order=order,
        cardinality_order=order,
        fields={"head": head},
        classifier=True,
        reported=f"ZCC-{label}",
    )
    for order, head, label in ((10, "binary", "binary"), (11, "mcml", "MCML"))
)
