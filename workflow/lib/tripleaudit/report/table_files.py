"""Links from numbers of a table to their sentences, and differences to reported values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlencode

from tripleaudit.report.answered import answered
from tripleaudit.report.study_files import GENERATIVE, NEEDLES, Predicted
from tripleaudit.scoring.scores import CLASSIFICATION
from tripleaudit.tables.cells import Cell, Table


def compared(table: Table) -> str:
    """Summarise the differences to the papers' values, or return an empty text without any."""
    found = [cell.difference for cell in table.cells if cell.difference is not None]
    if not found:
        return ""
    values = "1 reported value" if len(found) == 1 else f"{len(found)} reported values"
    return (
        f"Compared with {values}: median absolute difference {median(map(abs, found)):.4g}, "
        f"greatest difference {max(found, key=abs):+.4g} (in the table's unit)."
    )


ENTITIES = (
    "needles",
    "needles-untouched",
    "parts",
    "iterations",
    "calls",
)  # measured by entities in documents
NO_SYSTEMS = ("", "groundtruth")  # what a number is of that is about the texts themselves


@dataclass(frozen=True)
class Links:
    """Where the sentences behind a number are found: the address of a filter within the page.

    Attributes:
        sets: of every ``(corpus, protocol)`` with sentences, the keys of its systems.
        types: of entities that were put into documents.
    """

    sets: Mapping[tuple[str, str], frozenset[str]]
    types: frozenset[str] = frozenset()

    @classmethod
    def to(cls, predicted: Iterable[Predicted]) -> "Links":
        """Return the links to what the page holds."""
        sets: dict[tuple[str, str], set[str]] = {}
        types: set[str] = set()
        for run in predicted:
            if run.entities and not types:
                types = {triple.relation for one in answered(run).gold for triple in one.triples}
            sets.setdefault((run.corpus, run.protocol), set()).add(
                system_key(run.training, run.extractor, run.noise)
            )
        return cls({name: frozenset(systems) for name, systems in sets.items()}, frozenset(types))

    def address(self, cell: Cell) -> str:
        """Return the address of a number's sentences, empty where the page does not hold them."""
        of = cell.of
        if not of:
            return ""
        protocol, extractor = of["protocol"], of["extractor"]
        generative, entities = protocol.startswith("gre-"), protocol in ENTITIES
        trained = generative and protocol.endswith("-trained")
        training = "" if generative and not trained else of["training"]
        system = system_key(training, extractor, of["noise"]) if extractor not in NO_SYSTEMS else ""
        protocols: tuple[str, ...] = (protocol,)
        if generative or entities:
            protocols = ("original" if trained else GENERATIVE if generative else NEEDLES,)
        pairs = [("" if entities else of["corpus"], one) for one in protocols]
        pair = next(
            (one for one in pairs if one in self.sets and (not system or system in self.sets[one])),
            None,
        )
        if pair is None:
            return ""
        kind, colon, name = of["stratum"].partition(":")
        with_triples = of["testing"] == "nz" or (
            of.get("matching") == CLASSIFICATION and of["metric"] == "recall"
        )
        stratum = "" if colon else kind if kind != "all" else "with" if with_triples else ""
        relation = name if kind == "relation" else ""
        if entities:  # strata are types of entities, groups of them, or parts and steps
            stratum, relation = "", of["stratum"] if of["stratum"] in self.types else ""
        texts = (of["corpus"], GENERATIVE)
        chosen = {"set": set_key(*pair), "system": system, "stratum": stratum, "relation": relation}
        chosen["among"] = set_key(*texts) if trained and texts in self.sets else ""
        return "#sentences?" + urlencode({name: value for name, value in chosen.items() if value})


def set_key(corpus: str, protocol: str) -> str:
    """Return the name of a test set in addresses."""
    return "/".join(filter(None, (corpus, protocol)))


def system_key(training: str, extractor: str, noise: str) -> str:
    """Return the name of a system in addresses."""
    return "/".join(filter(None, (extractor, noise if noise != "none" else "", training)))
