"""The section ``generative``: language models, texts and what extracts from them."""

from typing import Literal

from pydantic import Field

from tripleaudit.core.fields import Count, Name, NotNegative, Number, Section, Seed, Text
from tripleaudit.llm.endpoint import Endpoint, Sampling


class Texts(Section):
    """Texts to extract from."""

    corpus: str
    """A corpus of the study."""
    split: Literal["train", "valid", "test"] = "test"
    """Which split of it."""
    limit: Number | None = None
    """How many texts; null takes all."""
    sample_seed: Seed | None = None
    """Draw the texts at random with this seed; null takes the first ones."""
    relations: list[Text] | None = Field(None, min_length=1)
    """Relations of closed and semi-open extraction; null takes those of the texts' gold triples."""
    entity_types: list[Text] = []
    """Types of things that relations link (semi-open extraction)."""
    verbalise: dict[str, Text] = {}
    """Plain names of relations for prompts and for scoring; others get the last component of their path, underscores as
    blanks, camel case split."""


class _Task(Section):
    endpoint: str
    """An endpoint by name."""
    setting: Literal["closed", "semi-open", "open"] = "open"
    """What it gets: relations and a gold entity pair (closed), relations and types (semi-open),
    or nothing (open).
    """
    prompt: str | None = None
    """A prompt of workflow/lib/tripleaudit/data/prompts by name, or the path of your own; null
    is the setting's.
    """
    datasets: list[str] | None = None
    """Data sets by name; null takes all."""
    examples: Count = 0
    """How many sentences of the corpus's training split are shown with their gold triples before
    the text.
    """
    examples_seed: Seed = 0
    """Seed of the draw of examples."""
    reask: bool = True
    """Query once more where an answer cannot be read."""


class Extraction(Sampling, _Task):
    """A language model that extracts triples for GREScores, and its texts.

    Rows of F1 are `systems`.
    """


class Generative(Section):
    """Extraction by language models behind OpenAI-compatible endpoints; needs `systems`."""

    cache: str = "results/cache/llm"
    """Folder of paid answers, kept outside the study's results so that it outlives them; may be
    shared.
    """
    budget: NotNegative | None = None
    """Most money the study may ever spend, in the currency of the prices; null for no limit."""
    endpoints: dict[Name, Endpoint] = {}
    """Where language models answer, by name."""
    datasets: dict[Name, Texts] = {}
    """Texts to extract from, by name."""
    systems: dict[Name, Extraction] = {}
    """What extracts, by name; one row of the GRE tables each."""
