"""Names as people read them: corpora, protocols, extractors, triple types, settings, and the papers' order."""

from collections.abc import Iterable, Sequence

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
EXTRACTORS = {
    "casrel": "CasRel",
    "tplinker": "TPLinker",
    "prgc": "PRGC",
    "onerel": "OneRel",
    "birte": "BiRTE",
    "tdeer": "TDEER",
    "grte": "GRTE",
    "ptrnet": "PtrNet",
    "pfn": "PFN",
    "pfn-star": "PFN*",
    "zcc-binary": "ZCC binary",
    "zcc-mcml": "ZCC MCML",
}
RTE_ORDER = tuple(EXTRACTORS)
"""Order of rte-generalization's tables, the extractors it does not have after its three."""
CARDINALITY_ORDER = (
    "onerel",
    "birte",
    "tdeer",
    "prgc",
    "grte",
    "ptrnet",
    "casrel",
    "tplinker",
    "pfn",
    "pfn-star",
    "zcc-binary",
    "zcc-mcml",
)
"""Order of zero-cardinality's tables."""
PROTOCOLS = {"original": "Ori.", "rearranged": "Rearr.", "augmented": "Aug."}
PROTOCOL_ORDER = ("original", "rearranged", "sift-1", "sift-2", "sift-3", "augmented")
TYPES = {"entirely_seen": "Entirely seen", "partially_seen": "Partially seen", "unseen": "Unseen", "others": "Others"}
SHORT_TYPES = {"entirely_seen": "Entire", "partially_seen": "Partial", "unseen": "Unseen"}
SETTINGS = {"nz": "NZ", "wz": "WZ"}
SPLITS = {"train": "Train", "valid": "Valid", "test": "Test"}


def corpus(name: str) -> str:
    return CORPORA.get(name, name)


def protocol(name: str) -> str:
    return PROTOCOLS.get(name) or (name.capitalize() if name.startswith("sift-") else name)


def extractor(name: str, noise: str = "none") -> str:
    """Return the label of an extractor, ``CasRel+EN`` with Entity Noising."""
    return EXTRACTORS.get(name, name) + ("+EN" if noise == "noising" else "")


def ordered(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return different names in the given order, those that it lacks behind it by name."""
    rank = {name: place for place, name in enumerate(order)}
    return sorted(set(names), key=lambda name: (rank.get(name, len(rank)), name))


def device(name: str) -> str:
    """Return a device as in "measured on …": a GPU has a name, any CPU is "a CPU"."""
    return "a CPU" if name == "cpu" else name
