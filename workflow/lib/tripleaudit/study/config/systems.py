"""A system in the configuration: the keys of the section ``systems``."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from tripleaudit.core.fields import (
    Count,
    Number,
    OrEmpty,
    Positive,
    Runtime,
    Text,
    form,
    one_of,
)
from tripleaudit.corpora.readers import REMOVED_FORMATS
from tripleaudit.corpora.readers.records import Columns
from tripleaudit.llm.endpoint import AnswerLimit
from tripleaudit.study.config.corpora import format_names
from tripleaudit.study.config.training import Training
from tripleaudit.systems.spec import SYSTEM_KINDS

RESOURCE_KEYS = ("protocols", "threads", "gpus", "mem_mb", "runtime")
COMMON_KEYS = (*RESOURCE_KEYS, "limit", "relations")


_Paths = str | list[str]
COMMAND, RELATIONS = (
    {"type": ["string", "array"]},
    {"type": ["boolean", "object", "string"]},
)  # as JSON schema


class System(AnswerLimit):
    """A row of the tables of F1, connected by one key (docs/howto/systems.md).

    GREScores are about `generative/systems`.
    """

    trained: Annotated[Training | None, OrEmpty] = None
    """An extractor that the study trains; the same as an entry of `extractors`, with its
    settings.
    """
    predictions: Annotated[
        Any,
        form(
            "a path, a list of paths, or these by corpus, or by corpus and protocol",
            _Paths | dict[str, _Paths | dict[str, _Paths]],
            {"type": ["string", "array", "object"]},
        ),
    ] = None
    """Stored outputs in any format that is read, by corpus and protocol; a path alone is the
    only corpus's test set.
    """
    command: Annotated[
        Any,
        form(
            "a command, as a text or a list of words",
            Text | Annotated[list[str], Field(min_length=1)],
            COMMAND,
        ),
    ] = None
    """A program that reads and answers JSON lines; `{train}` in it becomes the path of the
    training set.
    """
    python: Text | None = None
    """A class, file.py:Class, whose `extract(texts)` returns for each text a list of triples."""
    endpoint: Text | None = None
    """A language model, one of `generative/endpoints` by name; cache, budget and prices are
    those of `generative`.
    """
    address: Text | None = None
    """A service that is sent the JSON of a program by POST, one text at a time, and answers with
    it.
    """
    setting: Literal["closed", "semi-open", "open"] = "closed"
    """What a language model gets besides the text: relations with descriptions (closed; no entity
    pair), relations and entity types (semi-open), or nothing (open).
    """
    prompt: Text | None = None
    """A prompt of workflow/lib/tripleaudit/data/prompts by name, or the path of your own; null
    is the setting's.
    """
    entity_types: list[Text] = []
    """Types of things that relations link (semi-open)."""
    verbalise: dict[str, Text] = {}
    """Plain names of relations for prompts, as under `generative/datasets/<name>/verbalise`."""
    reask: bool = True
    """Query a language model once more where its answer cannot be read."""
    examples: Count = 0
    """How many training sentences a language model is shown with their gold triples before the
    text.
    """
    examples_seed: Count = 0
    """Seed of the draw of examples."""
    headers: dict[str, str] = {}
    """Headers of every request to an address; `env:NAME` takes a value from the environment
    variable NAME.
    """
    concurrency: Number = 1
    """Requests to an address at the same time."""
    format: Annotated[str, one_of(format_names, "format", REMOVED_FORMATS)] | None = None
    """Format of stored predictions; null looks at their content."""
    columns: Columns | None = None
    """Which column of stored predictions is what, as under `corpora/<name>/columns`."""
    training: Annotated[
        Any,
        form(
            "a path, or a path by corpus",
            str | dict[str, str] | None,
            {"type": ["string", "object", "null"]},
        ),
    ] = None
    """The `provenance.json` of the training that made stored predictions, its `history.jsonl` (or `.gz`) next to it.
    Files that it names under `stored`, with their SHA-256, are checked."""
    options: dict[str, Any] = {}
    """Keyword arguments of the class; `{train}` in a text becomes the path of the training set."""
    batch_size: Number = 1
    """Texts that the class gets at a time."""
    relations: Annotated[
        Any,
        form(
            "true, false, a map of names, or a file with one",
            bool | Text | dict[Text, Text],
            RELATIONS,
        ),
    ] = False
    """With true, it gets the relations of the corpus: those of the training set, with their descriptions. A map, or a
    YAML or JSON file with one, says of a system's relations what the corpus calls them (`tripleaudit relations`)."""
    files: list[Text] = []
    """Further files that its answers depend on; a change of one queries it again."""
    timeout: Positive = 60
    """Seconds within which every answer must come; of a class, for each text of a batch."""
    restarts: Count = 2
    """How often it is started again after it ended, or was stopped, before its last answer."""
    protocols: list[Text] | None = None
    """Protocols on whose test sets it is queried; null is all."""
    limit: Number | None = None
    """Query it about so many sentences of each test set, spread evenly; its row is about these
    alone.
    """
    threads: Number = 1
    """CPU threads that it may use (OMP_NUM_THREADS)."""
    gpus: int = Field(0, ge=0)
    """GPUs that it uses; with 0 it sees none."""
    mem_mb: int = Field(4000, ge=100)
    """Memory that a cluster job asks for."""
    runtime: Runtime = "4h"
    """Time that a cluster job asks for, minutes or '4h'."""

    @model_serializer(mode="wrap")
    def _dump_applicable(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the keys of other kinds, so that a written configuration can be read again."""
        kinds = [name for name in ("trained", *SYSTEM_KINDS) if name in self.model_fields_set]
        values = dump(self)
        if len(kinds) != 1:
            return values
        known = kinds
        if kinds != ["trained"]:
            known = [*kinds, *SYSTEM_KINDS[kinds[0]].options, *COMMON_KEYS]
        return {
            name: value
            for name, value in values.items()
            if name in {*known, *self.model_fields_set}
        }
