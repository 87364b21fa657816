"""A study's configuration as one typed object, and everything in it that does not fit."""

import copy
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from tripleaudit.core.devices import SHARES
from tripleaudit.core.errors import UserError
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
    mistakes,
    model_from,
    one_of,
)
from tripleaudit.core.yaml_files import read_with_repeated
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.units import SENTENCE, UNITS
from tripleaudit.study.collections import Collection
from tripleaudit.study.corpora import Corpus, Encoder
from tripleaudit.study.gre_section import Grescores
from tripleaudit.study.language_models import Generative
from tripleaudit.study.needles import Needles
from tripleaudit.study.protocol_section import SIFT, named_protocols, protocols_model
from tripleaudit.study.removed import remove_keys
from tripleaudit.study.report import Table
from tripleaudit.study.system_section import System
from tripleaudit.study.training import Entry, Extractor, Noising, OwnExtractor, Training, Zcc

SHARED_FOLDER = "cache"
HEADING = "Configuration is not usable:"


def _has_nz(settings: list[str]) -> list[str]:
    if "nz" not in settings:
        raise PydanticCustomError(
            "nz", "expected nz, alone or with wz, got {got}", {"got": repr(settings)}
        )
    return settings


_HasNz = AfterValidator(_has_nz)


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
    """Jobs that may use one GPU side by side, each with that part of its memory; say gpu=N a GPU
    to Snakemake.
    """
    threads: Processes = 4
    """CPU threads of a training or prediction; more trainings run side by side with fewer."""
    encoder: Encoder = Encoder()
    corpora: dict[Name, Annotated[Corpus, OrEmpty]] = {}
    """The corpora, by name; none where only stored outputs are scored."""
    protocols: Any = None  # made for each configuration, because the names of sifted sets are free
    settings: Annotated[list[Literal["nz", "wz"]], Unique, _HasNz] = ["nz"]
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
        Any, form("true, false or a path", bool | Text, {"type": ["boolean", "string"]})
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
def _model(sifted: tuple[str, ...] = ()) -> type[StudyConfig]:
    """The model of a configuration whose protocols have these names of sifted sets."""
    protocols: Any = protocols_model(sifted)
    kind = Annotated[protocols, Field(description=protocols.__doc__)]
    return model_from("StudyConfig", {"protocols": (kind, protocols_model(())())}, StudyConfig)


def load_schema() -> dict[str, Any]:
    """Return the JSON schema of a configuration, made from the models."""
    name = "sift-1"
    schema = _model((name,)).model_json_schema(by_alias=True)
    protocols = schema["$defs"]["Protocols"]
    protocols["patternProperties"] = {SIFT: protocols["properties"].pop(name)}
    protocols["required"] = []
    schema["title"] = "tripleaudit study"
    return schema


def parsed(given: Mapping[str, Any]) -> tuple[StudyConfig, dict[str, Any], list[str], set[str]]:
    """Return a configuration as far as it fits, and what does not fit.

    Returns:
        The typed configuration; the same as given, without what does not fit; one sentence for each
        of these; and the names of entries that are left out because of them, which others may speak
        of.
    """
    left = copy.deepcopy(dict(given))
    sentences = [*_without_other_keys(left, ()), *remove_keys(left)]
    removed: set[tuple[str | int, ...]] = set()
    gone: set[str] = set()
    while True:
        protocols = left.get("protocols")
        names = protocols if isinstance(protocols, dict) else ()
        model = _model(named_protocols(map(str, names)))
        try:
            return model.model_validate(left), left, sentences, gone
        except ValidationError as error:
            for mistake in mistakes(error, model):
                # a key that was left out because it did not fit is not missing
                if mistake.key not in removed:
                    sentences.append(mistake.sentence())
                if mistake.kind == "missing":
                    gone.add(str(mistake.loc[-1]) if mistake.loc else "")
                # another mistake may have taken it out already, alone or with the entry around it
                if not any(
                    mistake.loc[:depth] in removed for depth in range(1, len(mistake.loc) + 1)
                ):
                    removed.add(_remove(left, mistake.loc, mistake.key))


def _without_other_keys(part: Any, loc: tuple[str, ...]) -> Iterator[str]:
    """Take out of all mappings the keys that YAML does not read as text; yield a sentence for
    each.
    """
    entries = (
        list(part.items())
        if isinstance(part, dict)
        else enumerate(part)
        if isinstance(part, list)
        else ()
    )
    for key, value in entries:
        if isinstance(part, dict) and not isinstance(key, str):
            yield f"{'/'.join(loc) or '(top level)'}: YAML reads the key {key!r} as no text; expected it in quotes"
            del part[key]
        else:
            yield from _without_other_keys(value, (*loc, str(key)))


def _remove(
    config: dict[str, Any], loc: Sequence[str | int], missing: Sequence[str | int]
) -> tuple[str | int, ...]:
    """Take an entry out of a configuration, the whole list of an item of one, and return where
    it was.
    """
    if not loc:  # a key of the top level is missing
        config[str(missing[-1])] = "unnamed"
        return tuple(missing)
    parents: list[Any] = [config]
    for key in loc[:-1]:
        inner = parents[-1]
        fits = (
            isinstance(inner, dict)
            and key in inner
            or isinstance(inner, list)
            and isinstance(key, int)
        )
        if not fits:
            break
        parents.append(inner[key])
    for depth in reversed(range(len(parents))):
        if isinstance(parents[depth], dict) and loc[depth] in parents[depth]:
            del parents[depth][loc[depth]]
            return tuple(loc[: depth + 1])
    raise UserError(f"{HEADING}\n- {'/'.join(map(str, loc))}: cannot be used")


def refused(problems: Iterable[str]) -> UserError:
    """Return the error that lists all problems, one a line."""
    return UserError("\n".join([HEADING, *(f"- {problem}" for problem in dict.fromkeys(problems))]))


def read_files(paths: Iterable[str | Path]) -> tuple[dict[str, Any], list[str]]:
    """Read configuration files, later ones winning key by key.

    Returns:
        The configuration, and one sentence for each key that a file has twice.

    Raises:
        UserError: a file cannot be read.
    """
    config: dict[str, Any] = {}
    twice: list[str] = []
    for path in paths:
        value, found = read_with_repeated(path)
        twice += found
        _update(config, value)
    return config, twice


def _update(config: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Merge as Snakemake does: mappings key by key, everything else replaced."""
    for key, value in other.items():
        if isinstance(value, Mapping) and isinstance(config.get(key), dict):
            _update(config[key], value)
        else:
            config[key] = value
