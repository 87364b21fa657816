"""Names of extractors. Importing this module imports neither torch nor any extractor."""

import difflib
import importlib
import importlib.util
import sys
from pathlib import Path

from tripleaudit.errors import UserError
from tripleaudit.files import read_json

MODEL_TYPE_PREFIX = "tripleaudit-"

BUILTIN = {
    "casrel": "tripleaudit.extractors.casrel:CasRel",
    "tplinker": "tripleaudit.extractors.tplinker:TPLinker",
    "tdeer": "tripleaudit.extractors.tdeer:TDEER",
    "prgc": "tripleaudit.extractors.prgc:PRGC",
    "grte": "tripleaudit.extractors.grte:GRTE",
    "pfn": "tripleaudit.extractors.pfn:PFN",
    "onerel": "tripleaudit.extractors.onerel:OneRel",
    "birte": "tripleaudit.extractors.birte:BiRTE",
    "ptrnet": "tripleaudit.extractors.ptrnet:PtrNet",
}
CLASSIFIERS = {"zcc": "tripleaudit.extractors.zcc:ZCC"}
HEADS = ("binary", "mcml")
VARIANTS = {"pfn-star": ("pfn", {"entities": "last_word"}, {"matching": "partial-last"})}
"""Further names in a study: the extractor, and the fields of its configuration and training that the name implies."""
_registered: dict[str, type] = {}


def extractor_names() -> list[str]:
    """Return the names of all known extractors, built-in ones first."""
    return [*BUILTIN, *(name for name in _registered if name not in BUILTIN)]


def extractor_class(name: str) -> type:
    """Import and return the extractor class called ``name``.

    Raises:
        UserError: the name is unknown; the message suggests close names.
    """
    if name in _registered:
        return _registered[name]
    if name not in BUILTIN and name not in CLASSIFIERS:
        close = difflib.get_close_matches(name, extractor_names(), n=3)
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise UserError(f"unknown extractor {name!r}; {hint}expected one of {', '.join(extractor_names())}")
    module, attribute = (BUILTIN | CLASSIFIERS)[name].split(":")
    return getattr(importlib.import_module(module), attribute)


def resolve(name: str) -> tuple[type, dict[str, str]]:
    """Return the class behind a name of a study and the settings that the name implies.

    ``zcc-binary`` and ``zcc-mcml`` are the zero-cardinality classifier with one of its heads, ``pfn-star`` is PFN on
    the last word of each entity (PFN*).

    Raises:
        UserError: the name is unknown.
    """
    base, _, head = name.partition("-")
    if base in CLASSIFIERS and head in HEADS:
        return extractor_class(base), {"head": head}
    if name in VARIANTS:
        base, fields, _ = VARIANTS[name]
        return extractor_class(base), dict(fields)
    return extractor_class(name), {}


def base_name(name: str) -> str:
    """Return the extractor or classifier behind a name of a study, such as ``zcc`` of ``zcc-binary``."""
    base, _, head = name.partition("-")
    if base in CLASSIFIERS and head in HEADS:
        return base
    return VARIANTS[name][0] if name in VARIANTS else name


def implied_training(name: str) -> dict[str, str]:
    """Return the training settings that a name of a study implies."""
    return dict(VARIANTS[name][2]) if name in VARIANTS else {}


def register(extractor: type) -> str:
    """Make an extractor class known under its ``name``; returns the name.

    Raises:
        UserError: the class is no extractor with a name and a config class of its own, or the name is taken.
    """
    from tripleaudit.extractors.base import Extractor

    if not (isinstance(extractor, type) and issubclass(extractor, Extractor) and extractor is not Extractor):
        raise UserError(
            f"{extractor!r} cannot be registered: expected a subclass of tripleaudit.extractors.base.Extractor"
        )
    name = extractor.__dict__.get("name")
    if not name or extractor.config_class.model_type != MODEL_TYPE_PREFIX + name:
        raise UserError(
            f"{extractor.__name__} cannot be registered: expected a class attribute 'name' and a config class with "
            f"model_type = {MODEL_TYPE_PREFIX + (name or 'NAME')!r}"
        )
    if name in BUILTIN or name in CLASSIFIERS:
        raise UserError(f"{extractor.__name__} cannot be registered: the name {name!r} is a built-in extractor")
    _registered[name] = extractor
    return name


def register_from(reference: str) -> str:
    """Load ``path/to/file.py:Class``, register the class, and return its name. This runs the file's code.

    Raises:
        UserError: the file or the class does not exist, or the class is not an extractor.
    """
    path, _, attribute = reference.rpartition(":")
    if not path or not attribute:
        raise UserError(f"{reference!r} names no extractor; expected path/to/file.py:Class")
    file = Path(path).resolve()
    if not file.is_file():
        raise UserError(f"{path}: no such file (extractor {attribute})")
    module_name = f"tripleaudit_plugin_{file.stem}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise UserError(f"{path}: expected a Python file (extractor {attribute})")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # classes must be importable by worker processes and by pickle
    spec.loader.exec_module(module)
    if not hasattr(module, attribute):
        raise UserError(f"{path}: has no class {attribute!r}")
    return register(getattr(module, attribute))


def saved_extractor_name(folder: str | Path) -> str:
    """Return the name of the extractor that is saved in ``folder``.

    Raises:
        UserError: the folder is missing or holds something else.
    """
    config = Path(folder) / "config.json"
    if not config.is_file():
        raise UserError(f"{folder}: not a trained extractor, it has no config.json")
    model_type = str(read_json(config).get("model_type", ""))
    if not model_type.startswith(MODEL_TYPE_PREFIX):
        raise UserError(f"{folder}: holds a model of type {model_type!r}, expected an extractor of tripleaudit")
    return model_type.removeprefix(MODEL_TYPE_PREFIX)


def load_extractor(folder: str | Path, expected: str | None = None):
    """Load a trained extractor of any kind, with its tokenizer.

    Args:
        folder: what ``save_pretrained`` or training wrote.
        expected: refuse the checkpoint of any other extractor.

    Raises:
        UserError: the folder holds no extractor, an unknown one, or another one than ``expected``.
    """
    name = saved_extractor_name(folder)
    if expected is not None and name != expected:
        raise UserError(f"{folder}: holds a checkpoint of {name}, expected {expected}")
    return extractor_class(name).from_pretrained(folder)
