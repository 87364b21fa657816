"""What cannot work of a study's systems, before anything runs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.core.descriptors import EXTRACTORS, SYSTEM_KINDS
from tripleaudit.core.errors import hint
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.relation_names import load_map
from tripleaudit.study.problems import refused, unknown
from tripleaudit.study.system_section import FOR_ALL
from tripleaudit.study.training import CLASSIFIER
from tripleaudit.systems.facts import check_stored, training_fact

if TYPE_CHECKING:
    from tripleaudit.study.systems import Systems


def problems(systems: "Systems") -> Iterator[str]:
    """Yield one sentence for each thing that cannot work, before anything runs."""
    ways = ["trained", *SYSTEM_KINDS]
    for name, each in systems.all.items():
        where, given = f"systems/{name}", each.given()
        said = [key for key in ways if key in given]
        if len(said) != 1:
            found = f"{' and '.join(said)} are several" if said else "none of them is given"
            yield f"{where}: expected exactly one of {', '.join(ways)}; {found}"
        elif said == ["trained"]:
            yield from _problems_of_trained(systems, where, name, given)
        else:
            yield from _problems_of_kind(systems, where, name, given)


def _problems_of_trained(
    systems: "Systems", where: str, name: str, given: Mapping[str, Any]
) -> Iterator[str]:
    known = [
        *(one for one, spec in EXTRACTORS.items() if not spec.classifier),
        *systems.study.typed.own_extractors,
    ]
    yield from unknown(f"{where}/trained", "extractor", name, known)
    if name in systems.study.typed.extractors:
        yield f"{where}: '{name}' is an entry of extractors, too; expected it once"
    for key in given:
        if key != "trained":
            yield f"{where}/{key}: of a trained extractor all settings stand under 'trained'"


def _problems_of_kind(
    systems: "Systems", where: str, name: str, given: Mapping[str, Any]
) -> Iterator[str]:
    kind, settings, study = systems.kinds[name], systems.settings(name), systems.study
    taken = (*EXTRACTORS, *BASELINES, *study.typed.own_extractors)
    if kind.name == "predictions":  # those of an extractor have its name and its published values
        taken = (*study.extractors, *BASELINES)
    if name in taken or name.startswith(CLASSIFIER):
        yield f"{where}: '{name}' is the name of an extractor or a baseline; expected another one"
    allowed = (kind.name, *kind.options, *FOR_ALL)
    for key in given:
        if key not in allowed:
            yield f"{where}/{key}: a system by '{kind.name}' has no such key{hint(key, allowed)}"
    if given[kind.name] is None:
        yield f"{where}/{kind.name}: nothing stands there; expected a value"
        return
    if kind.name == "endpoint":
        yield from _problems_of_endpoint(systems, where, settings)
    if kind.name == "predictions":
        yield from _problems_of_stored(systems, where, name)
    if given.get("relations") is True and "relations" not in kind.options:
        yield f"{where}/relations: a system by '{kind.name}' takes no relations; expected a map of names"
    if isinstance(file := given.get("relations"), str):
        yield from refused(f"{where}/relations", load_map, study.paths.file(file))
    yield from (f"{where}/{sentence}" for sentence in kind.problems(settings))
    for protocol in systems.given[name].protocols or ():
        yield from _absent(f"{where}/protocols", "protocol", protocol, study.protocols)
    for path in settings.get("files") or ():
        if not Path(path).is_file():
            yield f"{where}/files: {path}: no such file"


def _absent(where: str, what: str, name: str, known: Sequence[str]) -> Iterator[str]:
    if name not in known:
        yield f"{where}: there is no {what} '{name}'{hint(name, known)}"


def _problems_of_endpoint(
    systems: "Systems", where: str, settings: Mapping[str, Any]
) -> Iterator[str]:
    study = systems.study
    yield from study.language_models.unknown_endpoint(f"{where}/endpoint", settings["endpoint"])
    for corpus in study.corpora:
        has = study.data.sizes(corpus).get("train", settings["examples"])
        if settings["examples"] > has:
            more = f"{settings['examples']} sentences, but the training split of {corpus} has {has}"
            yield f"{where}/examples: {more}"


def _problems_of_stored(systems: "Systems", where: str, name: str) -> Iterator[str]:
    given = systems.given[name].predictions
    corpora, tested = (
        systems.study.corpora,
        ["original", *(p for p in systems.study.protocols if p != "original")],
    )
    if not isinstance(given, dict) and len(corpora) != 1:
        yield f"{where}/predictions: the study has {len(corpora)} corpora; expected the paths by corpus"
    for corpus, paths in systems.stored(name).items():
        yield from _absent(f"{where}/predictions", "corpus", corpus, corpora)
        for protocol, files in paths.items():
            yield from _absent(f"{where}/predictions/{corpus}", "protocol", protocol, tested)
            for path in sorted({path for path in files if files.count(path) > 1}):
                yield f"{where}/predictions/{corpus}: {path}: the same file twice; expected it once"
            for path in files:
                yield from systems.study.paths.problems_of_file(f"{where}/predictions", path)
    for corpus, path in systems.training(name).items():
        yield from _absent(f"{where}/training", "corpus", corpus, corpora)
        if corpus in corpora:
            yield from _problems_of_training(systems, f"{where}/training", path)


def _problems_of_training(systems: "Systems", where: str, path: str) -> Iterator[str]:
    file = systems.study.paths.file(path)
    yield from (missing := list(systems.study.paths.problems_of_file(where, path)))
    if not missing:
        found = list(refused(where, training_fact, file, {}))
        yield from found or refused(where, check_stored, file)
