"""The sections ``corpora`` and ``encoder``."""

from typing import Annotated, Literal

from tripleaudit.core.fields import Number, Paths, Section, Share, Text, one_of
from tripleaudit.corpora.readers import REMOVED_FORMATS
from tripleaudit.corpora.readers.records import Columns
from tripleaudit.corpora.spec import FORMATS


def format_names() -> list[str]:
    """Return the values of `format`: the names of all formats, and `auto`."""
    return ["auto", *FORMATS]


class Encoder(Section):
    """The pretrained encoder under every extractor and classifier."""

    model: str = "minilm"
    """A model of workflow/lib/tripleaudit/data/registry/models.yaml, or a source (local folder,
    hub:name, pypi:wheel).
    """
    layers: Number | None = None
    """Use only the first layers of the encoder; null uses all."""


class Files(Section):
    """Your own files instead of a registered corpus, one path or a list of paths for each split."""

    train: Paths | None = None
    """Training sentences; without them nothing is trained, and seen and unseen triples are not
    told apart.
    """
    valid: Paths | None = None
    """Validation sentences; by default a seeded tenth of the training sentences."""
    test: Paths
    """Test sentences."""
    augmented: Paths | None = None
    """Your own rewritten test sentences, other names in them, for `protocols/augmented`; each with the id of its test
    sentence, a dot and a name (`test-00012.su`), as many for a sentence as you have."""


class HubSplits(Section):
    """Names of the splits of a data set of the Hugging Face hub."""

    train: Text | None = "train"
    """Training sentences; null if there are none."""
    valid: Text | None = "validation"
    """Validation sentences; null takes a seeded tenth of the training sentences."""
    test: Text = "test"
    """Test sentences."""


class Limit(Section):
    """Keep only the first sentences of each split, for quick runs; null keeps all."""

    train: Number | None = None
    """Training sentences at most."""
    valid: Number | None = None
    """Validation sentences at most."""
    test: Number | None = None
    """Test sentences at most."""


class Corpus(Section):
    """One corpus, registered or of your own; nothing after its name means the registered one."""

    registry: str | None = None
    """Name in workflow/lib/tripleaudit/data/registry/corpora.yaml; by default the corpus's own
    name.
    """
    files: Files | None = None
    hub: Text | None = None
    """A data set of the Hugging Face hub instead of a registered corpus (`organisation/name` or
    `organisation/name@revision`), or a folder with a copy of its repository; fetched once.
    """
    hub_subset: Text | None = None
    """Subset of the data set, where it has several."""
    hub_splits: HubSplits | None = None
    """Names of its splits; by default train, validation and test."""
    format: Annotated[str, one_of(format_names, "format", REMOVED_FORMATS)] = "auto"
    """Format of the files, see `tripleaudit prepare --help`; auto looks at their content."""
    columns: Columns | None = None
    """Which column of the files is what, where they are in no known form; see docs/reference/formats.md."""
    encoding: Text | None = None
    """Encoding of files that are not UTF-8 or UTF-16, such as cp1252."""
    occurrence: Literal["first", "all"] = "first"
    """Which mention of an entity string is its span, the first one or all of them."""
    uncased: bool = False
    """Lower-case sentences and entities and strip their accents, as an uncased encoder reads
    them.
    """
    limit: Limit | None = None
    only_relations: list[Text] = []
    """Keep only sentences all of whose triples have these relations (those without triples,
    too); empty keeps all.
    """
    encoder: str | None = None
    """The encoder of this corpus by source, instead of encoder/model, such as an uncased one for
    NYT29*.
    """
    noise_probability: Share | None = None
    """Entity Noising probability for this corpus, instead of noising/probability."""
    relations: dict[Text, str] = {}
    """What its relations mean, by name, for systems that take them; relations that do not
    occur in training may be listed, too.
    """

    @property
    def has_training(self) -> bool:
        """Whether there is a training set; files of the user may be a test set alone."""
        return self.files is None or self.files.train is not None
