"""Labels of corpora, protocols, extractors, triple types and settings, and the papers' order."""

from collections.abc import Iterable, Sequence

from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.scoring.baselines import BASELINES

CORPORA = {
    "webnlg": "WebNLG",
    "webnlg-star": "WebNLG*",
    "nyt24": "NYT24",
    "nyt29": "NYT29",
    "nyt24star": "NYT24*",
    "nyt29star": "NYT29*",
    "conll04": "CoNLL04",
    "scierc": "SciERC",
    "ade": "ADE",
    "demo": "Demo",
}
TYPES = {
    "entirely_seen": "Entirely seen",
    "partially_seen": "Partially seen",
    "unseen": "Unseen",
    "others": "Mixed types",
}
SHORT_TYPES = {"entirely_seen": "Entire", "partially_seen": "Partial", "unseen": "Unseen"}
SETTINGS = {"nz": "NZ", "wz": "WZ"}
SETTINGS_NOTE = "NZ: sentences with triples only; WZ: with zero-triple sentences too."
SPLITS = {"train": "Train", "valid": "Valid", "test": "Test"}


def corpus(name: str) -> str:
    """Return the label of a corpus."""
    return CORPORA.get(name, name)


def protocol(name: str) -> str:
    """Return the label of a protocol."""
    if name in PROTOCOLS:
        return PROTOCOLS[name].label or name
    return name.capitalize() if name.startswith("sift-") else name


def extractor(name: str, noise: str = "none") -> str:
    """Return the label of an extractor, ``CasRel+EN`` with Entity Noising, or of a baseline."""
    spec = EXTRACTORS.get(name) or BASELINES.get(name)
    return ((spec and spec.label) or name) + ("+EN" if noise == "noising" else "")


def corpora(names: Iterable[str]) -> list[str]:
    """Return different corpora, the papers' first and in their order."""
    return ordered(names, tuple(CORPORA))


def rte_order() -> list[str]:
    """Return the extractors in the order of rte-generalization's tables, others after them."""
    return sorted(EXTRACTORS, key=lambda name: EXTRACTORS[name].rte_order)


def cardinality_order() -> list[str]:
    """Return the extractors in the order of zero-cardinality's tables."""
    return sorted(EXTRACTORS, key=lambda name: EXTRACTORS[name].cardinality_order)


def protocol_order() -> list[str]:
    """Return the protocols in the papers' order, published ones before those of the study."""
    return [name for spec in PROTOCOLS.values() for name in (*spec.defaults, spec.name)]


def ordered(names: Iterable[str], order: Sequence[str] = ()) -> list[str]:
    """Return distinct names in the given order, then others by name, then baselines."""
    rank = {name: position for position, name in enumerate(order)}
    last = list(BASELINES)
    return sorted(
        set(names),
        key=lambda name: (
            last.index(name) if name in last else -1,
            rank.get(name, len(rank)),
            name,
        ),
    )


def device(name: str) -> str:
    """Return a device as in "measured on …": a GPU has a name, any CPU is "a CPU"."""
    return "a CPU" if name == "cpu" else name
