"""What an extractor declares, and the one check of its settings, which the plan, a job and a call in Python share.

A plan reads the file of an extractor without running it, and needs neither torch nor the extractor. Read are the class
``file.py:Class`` or ``package.module:Class`` with ``config_class``, ``training_defaults`` and ``sparse_outputs``, and
the annotated fields of its configuration class, those of its base classes included.
"""

import ast
import functools
import importlib.util
import math
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic

from tripleaudit import fields
from tripleaudit.errors import UserError, hint
from tripleaudit.extractors.registry import class_reference

RESERVED = ("encoder", "relations", "bf16", "entity_types")  # fields that training fills
TYPES = {name: getattr(typing, name) for name in ("Annotated", "Any", "Literal", "Optional")}
TYPES |= {kind.__name__: kind for kind in (bool, dict, float, int, list, str, tuple)}
TYPES |= {"Field": pydantic.Field, "inf": math.inf}
TYPES |= {name: value for name, value in vars(fields).items() if not name.startswith("_")}


@dataclass(frozen=True)
class Declared:
    """What is known of an extractor, imported or not.

    Attributes:
        types: field of its configuration -> type and default.
        defaults: its ``training_defaults``.
        outputs: the outputs that ``prior`` may name.
    """

    types: Mapping[str, tuple[Any, Any]]
    defaults: Mapping[str, Any]
    outputs: tuple[str, ...]

    def check(self, values: Mapping[str, Any], where: str) -> None:
        """Refuse values that are no fitting fields of the configuration.

        Raises:
            UserError: one sentence for each.
        """
        if found := [*self.problems(values, where)]:
            raise UserError("; ".join(found))

    def problems(self, values: Mapping[str, Any], where: str) -> Iterator[str]:
        """Yield one sentence for each of ``values`` that is no fitting field of the configuration."""
        model = fields.model_from("Fields", {**self.types, "prior": (Any, None)})
        try:
            model.model_validate(dict(values))
        except pydantic.ValidationError as error:
            yield from (mistake.sentence(where) for mistake in fields.mistakes(error, model))
        prior = values.get("prior")
        for output, value in prior.items() if isinstance(prior, Mapping) else [(None, prior)]:
            place = f"{where}/prior" + (f"/{output}" if output else "")
            if output is not None and output not in self.outputs:
                yield f"{where}/prior: unknown output '{output}'{hint(output, self.outputs)}"
            elif value is None and output is None:
                continue
            elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
                yield f"{place}: expected a probability inside 0 to 1, got {value!r}"


@functools.cache
def declared(reference: str) -> Declared:
    """Return what an extractor declares.

    Args:
        reference: name of an extractor or classifier, ``file.py:Class`` or ``package.module:Class``.

    Raises:
        UserError: there is no such file, it is no Python, or it has no such class.
    """
    reference = reference if ":" in reference else class_reference(reference)
    place, _, name = reference.rpartition(":")
    path = Path(place) if place.endswith(".py") else _path(place)
    if path is None or not path.is_file():
        raise UserError(f"{place}: no such file (extractor {name})")
    found = _class(path, name)
    if found is None:
        raise UserError(f"{place}: has no class {name!r}")
    types: dict[str, tuple[Any, Any]] = {}
    values: dict[str, Any] = {"training_defaults": {}, "sparse_outputs": {}}
    for file, each in reversed([*_lineage(*found)]):
        names = _names(file)
        for statement in each.body:
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            target = getattr(targets[0], "id", None)
            if target in values and getattr(statement, "value", None) is not None:
                values[target] = _mapping(statement.value, names)
            if target == "config_class" and isinstance(statement, ast.Assign):
                config = _class(file, ast.unparse(statement.value))
                types |= {} if config is None else _fields(*config)
    return Declared(types, values["training_defaults"], tuple(values["sparse_outputs"]))


def _fields(path: Path, config: ast.ClassDef) -> dict[str, tuple[Any, Any]]:
    """The annotated fields of a configuration class and its bases; a type that cannot be read fits everything."""
    found: dict[str, tuple[Any, Any]] = {}
    for file, each in reversed([*_lineage(path, config)]):
        names = {**_names(file), **TYPES}
        for statement in each.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                found[statement.target.id] = (_type(statement.annotation, names), _value(statement.value, names))
    return {name: kind for name, kind in found.items() if name not in RESERVED}


def _type(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The type that an annotation states, in quotes or not; any type where it cannot be read or checked."""
    try:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.parse(node.value, mode="eval").body
        return checkable(_value(node, names, Any))
    except SyntaxError:
        return Any


def checkable(kind: Any) -> Any:
    """A type, or any where values cannot be checked against it."""
    try:
        pydantic.TypeAdapter(kind)
    except (pydantic.PydanticUserError, NameError):
        return Any
    return kind


def _lineage(path: Path, node: ast.ClassDef) -> Iterator[tuple[Path, ast.ClassDef]]:
    """The class and the classes that it is made from, as far as they can be found."""
    yield path, node
    for base in node.bases:
        found = _class(path, ast.unparse(base).rpartition(".")[2])
        if found is not None:
            yield from _lineage(*found)


def _class(path: Path, name: str) -> tuple[Path, ast.ClassDef] | None:
    """The class of a name in a file, or in the module of this package that the file imports it from."""
    for statement in ast.walk(_tree(path)):
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return path, statement
        if isinstance(statement, ast.ImportFrom) and name in [item.name for item in statement.names]:
            other = _path(statement.module or "")
            return _class(other, name) if other is not None else None
    return None


@functools.cache
def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as Python ({error})") from error


def _path(module: str) -> Path | None:
    """The file of a module of this package; others are not looked into."""
    if module.partition(".")[0] != __name__.partition(".")[0]:
        return None
    spec = importlib.util.find_spec(module)
    return Path(spec.origin) if spec and spec.origin else None


@functools.cache
def _names(path: Path) -> dict[str, Any]:
    """The plain constants of a file, and those that it imports from this package."""
    found: dict[str, Any] = {}
    for statement in _tree(path).body:
        if isinstance(statement, ast.ImportFrom):
            other = _path(statement.module or "")
            wanted = {item.name for item in statement.names}
            if other is not None and any(name.isupper() for name in wanted):
                found |= {name: value for name, value in _names(other).items() if name in wanted}
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            value = _value(statement.value, found)
            if isinstance(target, ast.Name) and value is not None:
                found[target.id] = value
    return found


def _value(node: ast.expr | None, names: Mapping[str, Any], otherwise: Any = None) -> Any:
    """The value of an expression of constants, names and types; ``otherwise`` for any other."""
    if node is None:
        return otherwise
    try:
        return eval(compile(ast.Expression(node), "<declared>", "eval"), {"__builtins__": {}, **names})
    except Exception:  # noqa: BLE001  whatever evaluation raises
        return otherwise


def _mapping(node: ast.expr, names: Mapping[str, Any]) -> dict[str, Any]:
    """A dictionary whose keys are constants; values that cannot be read are None."""
    if not isinstance(node, ast.Dict):
        return _value(node, names) or {}
    found: dict[str, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        found |= (_value(value, names) or {}) if key is None else {_value(key, names): _value(value, names)}
    return found
