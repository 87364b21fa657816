"""What a MINEA study is made of: the settings that decide its result, checked at once."""

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.llm.conversation import Limits
from tripleaudit.needles.entities import PLACEHOLDERS
from tripleaudit.needles.generation import Recipe
from tripleaudit.needles.haystack import MAXIMUM, MINIMUM, TARGET
from tripleaudit.needles.identification import CANDIDATES
from tripleaudit.needles.minea import CRITERIA, THRESHOLDS
from tripleaudit.needles.needle import KEYWORDS, WORDS
from tripleaudit.needles.schema import Schema, load_schema

TEMPLATES = "templates"
RATING = ("criteria", "placeholders", "thresholds")  # settings of what follows the extraction


@dataclass(frozen=True)
class Plan:
    """All settings of a study; the defaults are the paper's working point where it gives one.

    Attributes:
        schema: name or path of the schema.
        types: types to extract; ``None`` for all of the schema. ``needle_types``: types of the needles, ``None`` for
            the extracted ones; types outside the schema are allowed (group 5 of table 3).
        per_type: needles of each type for each document; ``keywords`` and ``words`` bound them, ``refills`` is how
            often missing ones are asked for again, ``needle_tokens`` bounds those answers, and ``fill``
            (``templates`` or ``none``) says where the rest comes from.
        target, minimum, maximum: share of the needles in the enriched text.
        seed: of needles and places.
        piece_chars: length of a piece; ``pieces`` fixes their number instead.
        iterations, context, reserve, stop_early: see :class:`~tripleaudit.llm.conversation.Limits`.
        structured: send the JSON schema of the answer to the server.
        untouched: extract the document without needles, too.
        parts: pieces of the length experiment (table 1), 0 for none; ``part_iterations`` its follow-up calls.
        judge: whether to ask for the criterion llm; ``candidates`` is how many entities a judge sees.
        judge_tokens: most tokens of a judge's answer.
        excerpt: characters of a document that prompts for needles show; also for schema discovery.
        discover: ask which types fit each document.
        casefold, thresholds, criteria, placeholders: of the criteria and scores.
    """

    schema: str = "paper"
    types: tuple[str, ...] | None = None
    needle_types: tuple[str, ...] | None = None
    per_type: int = 3
    keywords: int = KEYWORDS
    words: tuple[int, int] = WORDS
    refills: int = 3
    needle_tokens: int = 2000
    fill: str = TEMPLATES
    target: float = TARGET
    minimum: float = MINIMUM
    maximum: float = MAXIMUM
    seed: int = 0
    piece_chars: int = 4000
    pieces: int | None = None
    iterations: int = 3
    context: int | None = None
    reserve: int = 4095
    stop_early: bool = False
    structured: bool = False
    untouched: bool = True
    parts: int = 0
    part_iterations: int = 0
    judge: bool = True
    candidates: int = CANDIDATES
    judge_tokens: int = 60
    excerpt: int = 4000
    discover: bool = False
    casefold: bool = False
    thresholds: tuple[float, ...] = THRESHOLDS
    criteria: tuple[str, ...] = CRITERIA
    placeholders: tuple[str, ...] = PLACEHOLDERS

    def __post_init__(self) -> None:
        if self.fill not in (TEMPLATES, "none"):
            raise UserError(f"needles: 'fill' is {self.fill!r}, expected 'templates' or 'none'")
        for name, least in (
            ("per_type", 1),
            ("keywords", 1),
            ("refills", 0),
            ("parts", 0),
            ("piece_chars", 1),
            ("needle_tokens", 1),
        ):
            if getattr(self, name) < least:
                raise UserError(f"needles: '{name}' is {getattr(self, name)}, expected at least {least}")
        if not 0 < self.minimum <= self.target <= self.maximum < 1:
            raise UserError(
                "needles: the shares must obey 0 < minimum <= target <= maximum < 1, got "
                f"{self.minimum}, {self.target} and {self.maximum}"
            )
        known = ["n", "ns", *(f"k{threshold:g}" for threshold in self.thresholds), "llm"]
        for criterion in self.criteria:
            if criterion not in known:
                hint = difflib.get_close_matches(criterion, known, 1)
                raise UserError(
                    f"needles: unknown criterion {criterion!r}"
                    + (f", did you mean {hint[0]!r}?" if hint else f"; known are {', '.join(known)}")
                )
        if not self.criteria:
            raise UserError("needles: 'criteria' is empty, expected at least one")
        self.limits  # noqa: B018 - checks them

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "Plan":
        """Build a plan from configuration or JSON.

        Raises:
            UserError: an unknown key or an unusable value.
        """
        known = {item.name for item in dataclasses.fields(cls)}
        for key in values:
            if key not in known:
                hint = difflib.get_close_matches(key, known, 1)
                raise UserError(f"needles: unknown key {key!r}" + (f", did you mean {hint[0]!r}?" if hint else ""))
        settings: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in values.items()}
        return cls(**settings)

    def to_json(self) -> dict[str, Any]:
        """The plan as a JSON object, all settings named."""
        return dataclasses.asdict(self)

    def made_json(self) -> dict[str, Any]:
        """What of :meth:`to_json` decides needles and extraction."""
        return {name: value for name, value in self.to_json().items() if name not in RATING}

    @property
    def limits(self) -> Limits:
        """Calls and context of the extraction."""
        return Limits(self.iterations, self.context, self.reserve, self.stop_early)

    @property
    def recipe(self) -> Recipe:
        """How needles are made."""
        return Recipe(self.per_type, self.keywords, self.words, self.refills, self.seed, self.excerpt)

    def load_schema(self) -> Schema:
        """The types to extract.

        Raises:
            UserError: the schema cannot be read or lacks a type.
        """
        schema = load_schema(self.schema)
        return schema if self.types is None else schema.subset(self.types)

    @property
    def active_criteria(self) -> tuple[str, ...]:
        """The criteria that enter MINEA: without a judge, ``llm`` does not."""
        return tuple(criterion for criterion in self.criteria if self.judge or criterion != "llm")
