"""The descriptors of the extractors and of the classifier (ZCC).

They stand apart from the classes because importing one of those imports torch, and a plan, a table
or a command's help needs their names and settings only: a class is named here and imported when it
is trained or used.
"""

from importlib import import_module
from typing import Any, Final

from tripleaudit.core.descriptors import ExtractorSpec
from tripleaudit.extractors.declared.casrel_settings import CasRelOwnSubjectSettings


def _of(
    kind: str, order: float, rte: float = 0, cardinality: float = 0, **options: Any
) -> ExtractorSpec:
    """The descriptor of a class of this package, with its positions in the tables of both
    papers.
    """
    home = import_module(f"tripleaudit.extractors.declared.{kind.lower()}_settings")
    settings = getattr(home, f"{kind}Settings")
    model = f"tripleaudit.extractors.{kind.lower()}:{kind}"
    return ExtractorSpec(
        **{
            "name": kind.lower(),
            "label": kind,
            "reported": kind,
            "model": model,
            "settings": settings,
            **options,
        },
        defaults=settings.training_defaults,
        order=order,
        rte_order=rte or order,
        cardinality_order=cardinality or order,
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
UNIREL: Final = _of("UniRel", 9.5, 10.9, 10.9, takes_schema=True, reported="")
LAST_WORD: Final = {"fields": {"entities": "last_word"}, "training": {"matching": "partial-last"}}
PFN_STAR: Final = _of("PFN", 10, name="pfn-star", base="pfn", label="PFN*", **LAST_WORD)
# without sentences of zero triples, as the authors train; the papers' rows of the two are such
# trainings
NZ_ONLY: Final = {"fields": {"drop_zero": True}}
DROP_ZERO: Final = (
    _of(
        "TDEER",
        10.25,
        name="tdeer-drop-zero",
        base="tdeer",
        label="TDEER, trained NZ only",
        **NZ_ONLY,
    ),
    _of(
        "CasRel",
        10.5,
        name="casrel-drop-zero",
        base="casrel",
        label="CasRel, trained NZ only",
        **NZ_ONLY,
    ),
)
# not the published model: separate weights for the subject (docs/explanation/differences.md)
CASREL_OWN_SUBJECT: Final = _of(
    "CasRel",
    10.6,
    name="casrel-own-subject",
    base="casrel",
    label="CasRel (own subject weights)",
    model="tripleaudit.extractors.casrel:CasRelOwnSubject",
    settings=CasRelOwnSubjectSettings,
    reported="",
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
