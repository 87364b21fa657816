"""Extractors by name: their classes, their settings and saved models; imports no torch."""

import importlib.util
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.core.model_folders import check_layers
from tripleaudit.core.modules import load_attribute
from tripleaudit.extractors.settings import ExtractorSettings
from tripleaudit.extractors.spec import EXTRACTORS, ExtractorSpec

BASE = "tripleaudit.extractors.base.Extractor"  # by name: the base asks this module for classes
MODEL_TYPE_PREFIX = "tripleaudit-"


def extractor_names() -> list[str]:
    """Return the names of extractors with a class of their own; no classifiers, plugins last."""
    return [name for name, spec in EXTRACTORS.items() if not spec.classifier and not spec.base]


def find_spec(name: str) -> ExtractorSpec:
    """Return the spec of a name of a study, or of the name under which a class saves models.

    Raises:
        UserError: The name is unknown.
    """
    if name in EXTRACTORS:
        return EXTRACTORS[name]
    for spec in EXTRACTORS.values():
        if spec.base == name:
            return spec
    return EXTRACTORS.need(name)


def class_reference(name: str) -> str:
    """Return the location of an extractor's class: ``package.module:Class`` or ``file.py:Class``.

    Modules of other packages are located by their file, so that its content is part of digests.

    Args:
        name: Name in a study or of a saved model.

    Raises:
        UserError: The name is unknown.
    """
    spec = find_spec(name)
    if not isinstance(spec.model, str):
        return f"{spec.file or spec.model.__module__}:{spec.model.__name__}"
    source, _, class_name = spec.model.rpartition(":")
    is_shipped = source.partition(".")[0] == __name__.partition(".")[0]
    if not source.endswith(".py") and not is_shipped:
        module = importlib.util.find_spec(source)
        if module is not None:
            source = module.origin or source
    return f"{source}:{class_name}"


def extractor_class(name: str) -> type:
    """Import and return the class of an extractor or classifier.

    Raises:
        UserError: The name is unknown, or its file has no such extractor.
    """
    spec = find_spec(name)
    extractor = _import_class(spec)
    if not spec.module:
        _validate_class(extractor, spec.base or spec.name)
    return extractor


def settings_class(name: str) -> type[ExtractorSettings]:
    """Return the settings of an extractor; its class is imported only if its spec names none.

    Args:
        name: Name in a study, or ``file.py:Class``.

    Raises:
        UserError: The name is unknown, there is no such class, or it has no settings.
    """
    spec = ExtractorSpec(name=name, model=name) if ":" in name else find_spec(name)
    settings = spec.settings or getattr(_import_class(spec), "settings", None)
    if settings is None:
        raise UserError(f"{spec.model}: declares no settings; expected a subclass of {BASE}")
    return settings


def resolve(name: str) -> tuple[type, dict[str, Any]]:
    """Return the class of an extractor, and the configuration fields that the name implies.

    ``zcc-mcml`` is the zero-cardinality classifier with one of its heads, ``pfn-star`` is PFN on
    the last word of each entity (PFN*), ``casrel-drop-zero`` leaves sentences without triples out
    of training.

    Raises:
        UserError: The name is unknown.
    """
    return extractor_class(name), dict(find_spec(name).fields)


def saved_extractor_name(folder: str | Path) -> str:
    """Return the name of the extractor that is saved in a folder.

    Raises:
        UserError: The folder is missing or holds something else.
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
        UserError: The folder holds no extractor, or an unknown one.
    """
    return extractor_class(saved_extractor_name(folder)).from_pretrained(folder)


def _import_class(spec: ExtractorSpec) -> type:
    if isinstance(spec.model, str):
        return load_attribute(spec.model, "extractor")
    return spec.model


def _validate_class(extractor: Any, expected_name: str) -> None:
    """Check that a class is an extractor with a name of its own, the expected one.

    Raises:
        UserError: It is not.
    """
    parents = extractor.__mro__[1:] if isinstance(extractor, type) else ()
    if BASE not in {f"{parent.__module__}.{parent.__qualname__}" for parent in parents}:
        raise UserError(f"{extractor!r} cannot be registered: expected a subclass of {BASE}")
    name = vars(extractor).get("name")
    if not name:
        raise UserError(
            f"{extractor.__name__} cannot be registered: expected a class attribute 'name' of its own"
        )
    if name != expected_name:
        raise UserError(f"{extractor.__name__} has the name {name!r}, expected {expected_name!r}")
