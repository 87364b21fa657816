"""Validation of a study: all problems of all sections at once, before anything runs."""

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tripleaudit.core.errors import UserError
from tripleaudit.core.mistakes import UNKNOWN_KEY, Location, Mistake, mistakes
from tripleaudit.core.plugins import use_plugins
from tripleaudit.extractors.registry import settings_class
from tripleaudit.extractors.settings import ExtractorSettings
from tripleaudit.study.config.protocols import named_protocols
from tripleaudit.study.config.study import StudyConfig, config_model
from tripleaudit.study.config.training import CLASSIFIER_PREFIX
from tripleaudit.study.problems import LeftOut
from tripleaudit.study.removed import remove_keys

HEADING = "Configuration is not usable:"


@dataclass(frozen=True)
class ParsedConfig:
    """A configuration as far as it fits.

    Attributes:
        typed: the configuration.
        given: the same as the user wrote it, without what does not fit.
        problems: one sentence for each value that does not fit.
        left_out: the values that do not fit.
    """

    typed: StudyConfig
    given: dict[str, Any]
    problems: list[str]
    left_out: LeftOut


def parse_config(given: Mapping[str, Any]) -> ParsedConfig:
    """Read a configuration, and leave out the values that do not fit.

    Args:
        given: the configuration as the user wrote it.
    """
    remaining = copy.deepcopy(dict(given))
    sentences = [*_remove_keys_without_text(remaining, ()), *remove_keys(remaining)]
    found: list[Mistake] = []
    removed: set[Location] = set()
    while True:
        protocols = remaining.get("protocols")
        names = protocols if isinstance(protocols, dict) else ()
        model = config_model(named_protocols(map(str, names)))
        try:
            typed = model.model_validate(remaining)
        except ValidationError as error:
            for mistake in mistakes(error, model):
                # a key that was left out because it did not fit is not missing
                if mistake.key not in removed:
                    found.append(mistake)
                # another mistake may have removed the key already, alone or with its section
                parents = (mistake.loc[:depth] for depth in range(1, len(mistake.loc) + 1))
                if not any(parent in removed for parent in parents):
                    removed.add(_remove(remaining, mistake.loc, mistake.key))
        else:
            sentences += [_describe(mistake, typed) for mistake in found]
            locations = frozenset("/".join(map(str, location)) for location in removed)
            return ParsedConfig(typed, remaining, sentences, LeftOut(locations))


def _describe(mistake: Mistake, typed: StudyConfig) -> str:
    """Return the sentence of a mistake, with the right place of a field of an extractor."""
    fields = _extractor_fields(mistake.where, typed) if mistake.kind in UNKNOWN_KEY else {}
    key = str(mistake.loc[-1]) if mistake.loc else ""
    close_fields = difflib.get_close_matches(key, fields, 1, 0.8)
    if not close_fields:
        return mistake.sentence()
    field = close_fields[0]
    place = f"write it under model, as model: {{{field}: ...}}"
    if key == field:
        text = f"'{key}' is a field of the extractor and no setting of its training; {place}"
    else:
        text = f"unknown key '{key}', did you mean the extractor's field '{field}'? If so, {place}"
    return mistake._replace(text=text).sentence()


def _extractor_fields(section: Location, typed: StudyConfig) -> Mapping[str, Any]:
    """Return the fields of the extractor that a section trains; none if it trains none."""
    match section:
        case ("training",):
            return ExtractorSettings.model_fields
        case ("extractors", name) | ("systems", name, "trained"):
            reference = typed.own_extractors.get(str(name)) or str(name)
        case ("zcc", head):
            reference = f"{CLASSIFIER_PREFIX}{head}"
        case _:
            return {}
    try:
        return settings_class(reference).model_fields
    except (
        UserError
    ):  # an unknown extractor, or a file that cannot be loaded: problems of their own
        return {}


def load_plugins(items: Any) -> Iterator[str]:
    """Load the plugins of a study, whose names its other sections may use.

    Args:
        items: value of the key ``plugins``, not validated yet.

    Yields:
        One sentence for each plugin that cannot be loaded.
    """
    names = items if isinstance(items, list) else []
    for name in names:
        if not isinstance(name, str):  # reported with the types of all values
            continue
        try:
            use_plugins([name])
        except UserError as error:
            yield f"plugins: {error}"


def refused(problems: Iterable[str]) -> UserError:
    """Return the error that lists all problems, one a line."""
    return UserError("\n".join([HEADING, *(f"- {problem}" for problem in dict.fromkeys(problems))]))


def _remove_keys_without_text(part: Any, location: tuple[str, ...]) -> Iterator[str]:
    """Delete the keys that YAML does not read as text, and yield a sentence for each."""
    if isinstance(part, dict):
        entries = list(part.items())
    elif isinstance(part, list):
        entries = list(enumerate(part))
    else:
        entries = []
    for key, value in entries:
        if isinstance(part, dict) and not isinstance(key, str):
            where = "/".join(location) or "(top level)"
            yield f"{where}: YAML reads the key {key!r} as no text; expected it in quotes"
            del part[key]
        else:
            yield from _remove_keys_without_text(value, (*location, str(key)))


def _remove(config: dict[str, Any], location: Location, missing: Sequence[str | int]) -> Location:
    """Delete an entry of a configuration, or the whole list that has it as an item.

    Args:
        location: of the entry; empty for the top level.
        missing: location of the key that is missing, if the entry lacks one.

    Returns:
        The location of what was deleted.
    """
    if not location:  # a key of the top level is missing
        config[str(missing[-1])] = "unnamed"
        return tuple(missing)
    parents: list[Any] = [config]
    for key in location[:-1]:
        inner = parents[-1]
        in_mapping = isinstance(inner, dict) and key in inner
        in_list = isinstance(inner, list) and isinstance(key, int)
        if not (in_mapping or in_list):
            break
        parents.append(inner[key])
    for depth in reversed(range(len(parents))):
        if isinstance(parents[depth], dict) and location[depth] in parents[depth]:
            del parents[depth][location[depth]]
            return tuple(location[: depth + 1])
    raise UserError(f"{HEADING}\n- {'/'.join(map(str, location))}: cannot be used")
