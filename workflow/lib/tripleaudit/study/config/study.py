"""The configuration of a study."""

import functools
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from tripleaudit.core.devices import SHARES
from tripleaudit.core.fields import (
    NAME,
    Batch,
    Name,
    OrEmpty,
    Processes,
    Resamples,
    Section,
    Seed,
    Share,
    Text,
    Unique,
    among,
    form,
    model_from,
    one_of,
)
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.units import SENTENCE, UNITS
from tripleaudit.study.config.collections import Collection
from tripleaudit.study.config.corpora import Corpus, Encoder
from tripleaudit.study.config.generative import Generative
from tripleaudit.study.config.grescores import Grescores
from tripleaudit.study.config.needles import Needles
from tripleaudit.study.config.protocols import SIFT, protocols_model
from tripleaudit.study.config.systems import System
from tripleaudit.study.config.tables import Table
from tripleaudit.study.config.training import Entry, Extractor, Noising, OwnExtractor, Training, Zcc

SHARED_FOLDER = "cache"
SWITCHES = {"true": True, "false": False}


def read_switch(value: Any) -> Any:
    """Return the boolean for the text "true" or "false", and other values unchanged.

    Snakemake passes ``--config double=true`` as text.
    """
    return SWITCHES.get(value, value) if isinstance(value, str) else value


class Prediction(Section):
    """Settings of prediction."""

    batch_size: Batch = 32
    """Sentences at a time."""


class Scoring(Section):
    """Settings of scoring."""

    bootstrap: Resamples = 1000
    """Resamples for the 95 % intervals."""
    seed: Seed = 0
    """Seed of the resampling."""
    unit: Annotated[str, among(UNITS)] = SENTENCE
    """Unit of resampling: each sentence with its variants, or `shared-triple`: sentences that
    share a gold triple.
    """
    gate: Share | None = None
    """Score of a classifier above which a sentence has triples and passes; 0.5 if not given."""


def _check_study_name(name: str) -> str:
    """Refuse the name of the folder under ``results`` in which studies share their answers."""
    if name == SHARED_FOLDER:
        raise PydanticCustomError(
            "study_name",
            f"results/{SHARED_FOLDER} is the folder that studies share; expected another name",
        )
    return name


class StudyConfig(Section):
    """One study, corpora x protocols x settings x extractors x noising x seeds x tables."""

    study: Annotated[str, Field(max_length=60, pattern=NAME), AfterValidator(_check_study_name)]
    """Name of the study; everything it makes lies in results/<study>. Letters, digits, dot,
    dash, underscore.
    """
    description: str = ""
    """One or two sentences on what the study asks; printed at the top of its report."""
    raw_root: str | None = None
    """Folder with local copies of the raw files (the layout of the registry's `raw` paths); null
    downloads them.
    """
    seeds: Annotated[list[Seed], Unique] = Field([1], min_length=1)
    """Random seeds; every training is repeated once for each."""
    gpu: Annotated[Any, among(("auto", 0, 1))] = "auto"
    """Where trainings and predictions run, auto is a GPU where there is one; 0 the CPU; 1
    insists on a GPU.
    """
    gpu_share: Annotated[int, among(SHARES)] = 1
    """Jobs that may use one GPU side by side, each with that part of its memory; give Snakemake
    `--resources gpu=N` for one GPU, N times the number of GPUs for several.
    """
    threads: Processes = 4
    """CPU threads of a training or prediction; more trainings run side by side with fewer."""
    encoder: Encoder = Encoder()
    corpora: dict[Name, Annotated[Corpus, OrEmpty]] = {}
    """The corpora, by name; none where only stored outputs are scored."""
    protocols: Any = None  # made for each configuration, because the names of sifted sets are free
    settings: Annotated[list[Literal["nz", "wz"]], Unique] = Field(["nz"], min_length=1)
    """Cardinality settings, nz = sentences with triples only, wz = with zero-triple sentences."""
    extractors: dict[str, Extractor] = {}
    """The extractors to train, by name, each with the settings that differ from preset and
    `training`.
    """
    own_extractors: dict[str, OwnExtractor] = {}
    """Extractors of your own, name -> path/to/file.py:Class (docs/howto/extending.md)."""
    plugins: list[Text] = []
    """Files, or installed entry points, that add tables, extractors, protocols, matching rules or formats
    (docs/howto/extending.md)."""
    systems: dict[Name, Annotated[System, OrEmpty]] = {}
    """Systems of any kind, by name: stored outputs, programs, classes, language models, trained extractors
    (docs/howto/systems.md)."""
    noising: Noising | None = None
    training: Entry = Training()
    """Settings of every training; an extractor's own settings win over them, both over its
    preset.
    """
    double: Annotated[
        Any,
        form("true, false or a path", bool | Text, {"type": ["boolean", "string"]}),
        BeforeValidator(read_switch),
    ] = False
    """Whether each kind of training (extractor, noising, training set) is done once more, with the first seed and twice
    the epochs, to see whether it had converged: nothing else is made from it (docs/explanation/statistics.md). Or the
    `trainings.json` of a study that has done so: it counts for trainings of the same data, encoder and settings."""
    baselines: Annotated[list[Annotated[str, one_of(lambda: BASELINES, "baseline")]], Unique] = (
        list(BASELINES)
    )
    """Systems that learn nothing, as rows next to extractors and classifiers (docs/explanation/methods.md);
    [] for none.
    """
    zcc: Zcc = Zcc()
    prediction: Prediction = Prediction()
    scoring: Scoring = Scoring()
    tables: dict[Name, Annotated[Table, OrEmpty]] | None = None
    """The tables to make, each with its options; by default all that the study can fill."""
    collections: dict[Name, Collection] = {}
    """Large text collections, by name, whose triples a trained extractor extracts; made by the
    target `collection`.
    """
    generative: Generative = Generative()
    grescores: Grescores = Grescores()
    needles: Needles = Needles()


@functools.cache
def config_model(protocol_names: tuple[str, ...] = ()) -> type[StudyConfig]:
    """Return the model of a configuration with these free names of protocols."""
    protocols: Any = protocols_model(protocol_names)
    kind = Annotated[protocols, Field(description=protocols.__doc__)]
    return model_from("StudyConfig", {"protocols": (kind, protocols_model(())())}, StudyConfig)


def load_schema() -> dict[str, Any]:
    """Return the JSON schema of a configuration, made from the models."""
    name = "sift-1"
    schema = config_model((name,)).model_json_schema(by_alias=True)
    protocols = schema["$defs"]["Protocols"]
    protocols["patternProperties"] = {SIFT: protocols["properties"].pop(name)}
    protocols["required"] = []
    schema["title"] = "tripleaudit study"
    return schema
