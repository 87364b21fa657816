"""Settings that decide the result of a MINEA study."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from tripleaudit.core.fields import AsTuple, Count, Number, Section, Seed, Unique
from tripleaudit.llm.conversation import Limits
from tripleaudit.needles.schema import Schema, load_schema

TEMPLATES = "templates"
PARTS = "parts"  # variant of a document: divided for the length experiment
RATING = ("thresholds",)  # settings of what follows the extraction


class NeedleSettings(Section):
    """Settings of a MINEA study besides documents and models.

    Defaults are the paper's unless a comment says otherwise.
    """

    schema_: str = Field("paper", alias="schema")
    """Entity types to extract: the name of an included schema (paper, demo) or a file."""
    types: Annotated[tuple[str, ...] | None, Field(min_length=1), AsTuple] = None
    """Only these types of the schema; null takes all."""
    needle_types: Annotated[tuple[str, ...] | None, Field(min_length=1), AsTuple] = None
    """Types of the needles, also such that are not in the schema; null takes the extracted ones."""
    per_type: Number = 3
    """Needles of each type that are made for each document."""
    keywords: Number = 6  # of the paper's toy example; equal for all, so that k(t) means the same
    """Keywords of a needle."""
    words: Annotated[tuple[Number, Number], AsTuple] = (40, 120)
    """Least and greatest number of words of a needle."""
    overlap: Annotated[float, Field(gt=0, le=1)] = 0.5  # the least threshold of k(t)
    """Share of common keywords at which two needles of a document could be taken for one another; the later one is
    refused."""
    refills: Count = 3
    """How often needles that were not valid are generated again."""
    needle_tokens: Number = 2000
    """Most tokens of an answer with needles or types."""
    target: Annotated[float, Field(gt=0, lt=1)] = 0.20  # this project's choice
    """Share of the enriched text that needles fill."""
    minimum: Annotated[float, Field(gt=0, lt=1)] = 0.10
    """Least share of the needles."""
    maximum: Annotated[float, Field(gt=0, lt=1)] = 0.30
    """Greatest share of the needles."""
    seed: Seed = 0
    """Seed of needles and positions."""
    piece_chars: Number = 4000
    """Length of the pieces that documents are split into."""
    iterations: Count = 3
    """Follow-up calls for each piece."""
    reserve: Number = 4095
    """Longest answer in tokens, which are kept free in the context."""
    untouched: bool = True
    """Extract the documents without needles, too (false positives, displaced entities,
    iterations).
    """
    parts: Count = 0
    """Parts of the length experiment (lost-in-the-middle); 0 leaves it out."""
    part_iterations: Count = 0
    """Follow-up calls in the length experiment."""
    candidates: Number = 30
    """Extracted entities that the judge sees."""
    judge_tokens: Number = 60
    """Most tokens of a judge's answer."""
    excerpt: Number = 4000
    """Characters of a document in prompts for needles."""
    discover: bool = False
    """Ask which Schema.org types fit each document; the answer is kept with the needles."""
    thresholds: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1), Unique, AsTuple
    ] = (0.5, 0.6, 0.7)
    """Shares of keywords for the criteria k."""

    def contradictions(self) -> Iterator[str]:
        """See :meth:`Section.contradictions`."""
        if not self.minimum <= self.target <= self.maximum:
            yield (
                "target: the shares must obey minimum <= target <= maximum, got "
                f"{self.minimum}, {self.target} and {self.maximum}"
            )
        if self.words[0] > self.words[1]:
            yield f"words: expected the least number first, got {list(self.words)}"

    def load_schema(self) -> Schema:
        """Return the types to extract.

        Raises:
            UserError: the schema cannot be read or lacks a type.
        """
        schema = load_schema(self.schema_)
        return schema if self.types is None else schema.subset(self.types)


class Plan(NeedleSettings):
    """All settings that the jobs of a study are given."""

    context: int | None = None
    """Tokens that prompt and answer may have together; null for no limit."""
    judge: bool = True
    """Ask for the criterion llm."""

    def contradictions(self) -> Iterator[str]:
        """See :meth:`Section.contradictions`."""
        yield from super().contradictions()
        if self.context is not None and self.context <= self.reserve:
            yield f"reserve: {self.reserve} tokens kept free leave none of a context of {self.context}"

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], context: int | None = None) -> "Plan":
        """Build a plan from configuration or JSON.

        Args:
            context: the endpoint's, which holds where the plan names none.

        Raises:
            UserError: an unknown key or an unusable value.
        """
        if values.get("context") is None:
            values = {**values, "context": context}
        return cls.checked(values, "needles")

    def made_json(self) -> dict[str, Any]:
        """Return all settings but those of the rating."""
        return {name: value for name, value in self.full().items() if name not in RATING}

    def limits_of(self, variant: str) -> Limits:
        """Return calls and context of the extraction of a variant of the documents."""
        iterations = self.part_iterations if variant == PARTS else self.iterations
        return Limits(iterations, self.context, self.reserve)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that enter MINEA: without a judge, ``llm`` does not."""
        by_keywords = [f"k{threshold:g}" for threshold in self.thresholds]
        return ("n", "ns", *by_keywords, *(["llm"] if self.judge else []))
