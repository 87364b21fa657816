"""The section ``grescores``: embedder, matching, judge, data sets and stored outputs."""

from typing import Annotated, Literal

from pydantic import Field

from tripleaudit.core.fields import Batch, Name, Number, Resamples, Section, Seed, Share, Text

GreFile = Annotated[
    str,
    Field(
        min_length=1,
        description=(
            "A file, by a path under raw_root (or of the registry's raw files), or of your own: project .jsonl or the "
            "stored forms of GenRES."
        ),
    ),
]


class GreEmbedder(Section):
    """Model that turns subjects, relations and objects into vectors for US and CS.

    null leaves both scores out.
    """

    model: str = "minilm"
    """A sentence-transformers model, of the registry (data/registry/models.yaml) or by source."""
    endpoint: str | None = None
    """Name of an endpoint of generative/endpoints that answers embedding requests, instead of a
    model.
    """
    batch_size: Batch = 64
    """Strings that are embedded at once."""


class GreMatching(Section):
    """When two triples count as the same."""

    phi: float | None = Field(None, le=1, gt=0)
    """Cosine from which two triples are the same; null takes the value calibrated for the
    embedder.
    """


class GreJudge(Section):
    """The language model that answers the questions of FS and GS without stored answers."""

    endpoint: str
    """Name of an endpoint of generative/endpoints."""
    factualness_prompt: str = "judge"
    """Prompt of FS, by name or path."""
    granularity_prompt: str = "split"
    """Prompt of GS, by name or path."""
    most_unreadable: Share = 0.1
    """Share of the judge's answers that may be unreadable (they are missing values); more is an
    error.
    """


class GreGold(Section):
    """Gold triples and, where they were judged, the stored answers; the row "Ground truth"."""

    triples: GreFile
    order: Literal["auto", "sro", "sor"] = "auto"
    """Order of subject (s), relation (r) and object (o) in lists of three; auto recognises relation names of Freebase
    and TACRED, else assumes sro and refuses lists whose last parts look like relations."""
    factualness: GreFile | None = None
    granularity: GreFile | None = None


class GreTopics(Section):
    """The topic model of TS; null leaves TS out."""

    number: Number
    """Number of topics, K."""
    text: Text | None = None
    """Texts to train on; null takes the texts of the data set itself."""
    chunk_size: Number = 2000
    """Documents between two updates of the topics; a smaller corpus gets a single update."""
    evaluated_after: Share | None = None
    """Move the texts of the gold triples behind this share of the others; null leaves all texts in their order. Texts
    of the first update have their words in topics of their own, and get a higher TS for it."""


class GreSystem(Section):
    """The stored output of one system."""

    triples: GreFile
    factualness: GreFile | None = None
    granularity: GreFile | None = None
    similarities: GreFile | None = None
    setting: Literal["open", "semi-open", "closed", "trained"] = "open"
    """What the system was given; closed makes the official CS compare relations, too."""
    seed: Seed | None = None
    """Seed of the run; runs of one system share a row."""
    row: str | None = None
    """Name of the table row that several runs share; by default the system's."""
    judge: bool = False
    """Ask the judge where no stored answers are given."""


class GreDataset(Section):
    """A data set, with its gold triples and the systems that are scored on it."""

    level: Literal["sentence", "bag", "document"]
    """Whether a text is a sentence or a document; the table it stands in."""
    gold: GreGold | None = None
    corpus: str | None = None
    """Instead of gold, a corpus of the study, whose original test set gives texts and gold
    triples.
    """
    generative: str | None = None
    """Instead of gold, a data set of the section generative; its extractions are systems."""
    extractors: bool = True
    """Whether the study's extractors of the corpus, and its `systems`, are rows (with `corpus`
    or `generative`).
    """
    judged: bool = True
    """Whether this data set's own systems are judged."""
    extractors_judged: bool = False
    """Whether the study's extractors and `systems` are judged, too, on the texts of the data
    set.
    """
    topics: GreTopics | None = None
    systems: dict[Name, GreSystem] = {}
    """Stored outputs, by the system's name; also a published model's, a user's own, or a trained
    extractor's.
    """


class Grescores(Section):
    """GREScores of triples that systems extracted from the texts of data sets.

    They are topical similarity, uniqueness, factualness, granularity and completeness.
    """

    mode: Literal["default", "official"] = "default"
    """default, or official for the published rules about empty and malformed answers (an empty answer then counts as
    unique and is left out of hard matching)."""
    bootstrap: Resamples = 1000
    """Resamples of the texts for 95 % intervals; 0 for none."""
    seed: Seed = 0
    """Seed of the resampling and of the topic models."""
    embedder: GreEmbedder | None = GreEmbedder()
    """What turns subjects, relations and objects into vectors for US and CS; null leaves both
    out.
    """
    matching: GreMatching = GreMatching()
    judge: GreJudge | None = None
    datasets: dict[Name, GreDataset] = {}
    """The data sets, by name; cdr, docred, nyt10m, wiki20m, tacred and wiki80 have reported
    values.
    """
