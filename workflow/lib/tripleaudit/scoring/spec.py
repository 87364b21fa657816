"""The spec of a matching rule, and the registry of matching rules."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final

from tripleaudit.core.plugins import Registry, Spec


@dataclass(frozen=True, kw_only=True)
class MatchingRule(Spec):
    """A rule that decides when a predicted triple is correct.

    Gold and predicted triples are reduced to comparable values and then compared as sets.

    Attributes:
        reduce: ``(Span) -> Hashable``, the compared value of an entity.
        relation: ``(name) -> str``, the compared value of a relation; the name by default.
        note: Note under every table that is scored by the rule.
        typed: Whether the rule compares types of entities; runs without types in gold or predicted
            entities are not scored by it.
    """

    reduce: Callable[[Any], Hashable]
    relation: Callable[[str], str] = str
    note: str = ""
    typed: bool = False


MATCHINGS: Final = Registry(MatchingRule, "matching rule", shipped=["tripleaudit.scoring.matching"])
