"""Names of extractors. Importing this module imports neither torch nor any extractor."""

import importlib.util
from pathlib import Path
from typing import Any

from tripleaudit.core.descriptors import EXTRACTORS, ExtractorSpec
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.core.model_folders import check_layers
from tripleaudit.core.modules import load_attribute
from tripleaudit.extractors.declared import ExtractorSettings

BASE = "tripleaudit.extractors.base.Extractor"  # by name: the base asks this module for classes
MODEL_TYPE_PREFIX = "tripleaudit-"


def extractor_names() -> list[str]:
    """Return the names of all extractors that stand for a class of their own, built-in ones
    first; no classifiers.
    """
    return [name for name, spec in EXTRACTORS.items() if not spec.classifier and not spec.base]


def class_reference(name: str) -> str:
    """Return where the class behind a name of a study, or of a saved model, is:
    ``package.module:Class`` or a file.

    A module of this package is named as such, one of another package by its file, which counts with
    the results.

    Raises:
        UserError: the name is unknown.
    """
    spec = _spec_of(name)
    if not isinstance(spec.model, str):
        return f"{spec.file or spec.model.__module__}:{spec.model.__name__}"
    module, _, attribute = spec.model.rpartition(":")
    if not module.endswith(".py") and module.partition(".")[0] != __name__.partition(".")[0]:
        found = importlib.util.find_spec(module)
        module = found.origin or module if found else module
    return f"{module}:{attribute}"


def extractor_class(name: str) -> type:
    """Import and return the class of the extractor or classifier called ``name``.

    Raises:
        UserError: the name is unknown, or its file holds no such extractor.
    """
    spec = _spec_of(name)
    return _class(spec) if spec.module else _checked(_class(spec), spec.base or spec.name)


def settings_class(name: str) -> type[ExtractorSettings]:
    """Return what an extractor declares, imported only where no descriptor has it (see
    :class:`ExtractorSettings`).

    Args:
        name: of a study, or ``file.py:Class``.

    Raises:
        UserError: the name is unknown, or there is no such class.
    """
    spec = ExtractorSpec(name=name, model=name) if ":" in name else _spec_of(name)
    found = spec.settings or getattr(_class(spec), "settings", None)
    if found is None:
        raise UserError(f"{spec.model}: declares no settings; expected a subclass of {BASE}")
    return found


def _class(spec: ExtractorSpec) -> type:
    return load_attribute(spec.model, "extractor") if isinstance(spec.model, str) else spec.model


def _spec_of(name: str) -> ExtractorSpec:
    found = EXTRACTORS.get(name) or next(
        (spec for spec in EXTRACTORS.values() if spec.base == name), None
    )
    return found or EXTRACTORS.need(name)


def resolve(name: str) -> tuple[type, dict[str, Any]]:
    """Return the class behind a name of a study and the fields of its configuration that the name
    implies.

    ``zcc-mcml`` is the zero-cardinality classifier with one of its heads, ``pfn-star`` is PFN on
    the last word of each entity (PFN*), ``casrel-drop-zero`` leaves sentences without triples out
    of training. Unknown names are errors.
    """
    return extractor_class(name), dict(_spec_of(name).fields)


def _checked(extractor: Any, expected: str = "") -> Any:
    """Return a class that is an extractor with a name of its own, the expected one.

    Raises:
        UserError: it is not.
    """
    parents = extractor.__mro__[1:] if isinstance(extractor, type) else ()
    if BASE not in {f"{parent.__module__}.{parent.__qualname__}" for parent in parents}:
        raise UserError(f"{extractor!r} cannot be registered: expected a subclass of {BASE}")
    name = vars(extractor).get("name")
    if not name:
        raise UserError(
            f"{extractor.__name__} cannot be registered: expected a class attribute 'name' of its own"
        )
    if expected and name != expected:
        raise UserError(f"{extractor.__name__} has the name {name!r}, expected {expected!r}")
    return extractor


def saved_extractor_name(folder: str | Path) -> str:
    """Return the name of the extractor that is saved in ``folder``.

    Raises:
        UserError: the folder is missing or holds something else.
    """
    config = Path(folder) / "config.json"
    if not config.is_file():
        raise UserError(f"{folder}: not a trained extractor, it has no config.json")
    check_layers(folder)
    value = read_json(config)
    model_type = str(value.get("model_type", "")) if isinstance(value, dict) else ""
    if not model_type.startswith(MODEL_TYPE_PREFIX):
        raise UserError(
            f"{folder}: holds a model of type {model_type!r}, expected an extractor of tripleaudit"
        )
    return model_type.removeprefix(MODEL_TYPE_PREFIX)


def load_extractor(folder: str | Path):
    """Load a trained extractor of any kind, with its tokenizer.

    Raises:
        UserError: the folder holds no extractor, or an unknown one.
    """
    return extractor_class(saved_extractor_name(folder)).from_pretrained(folder)
