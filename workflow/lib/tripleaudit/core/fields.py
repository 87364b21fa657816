"""Typed settings: the base class of a study's sections, types of values, and their errors.

A setting is an annotated field with a range, and a string below it that describes it. The checks
before the run and in the job, the JSON schema and the reference in ``config/README.md`` all follow
from this definition.
"""

import ast
import contextlib
import functools
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError, core_schema

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.files import read_jsonl, write_jsonl

TIME = r"^\s*\d+(\.\d+)?\s*(s|m|h|d|w|seconds?|secs?|minutes?|mins?|hours?|days?|weeks?)?\s*$"  # as Snakemake has it
EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
MAX_NAME = 80  # characters; a file name may contain two names and has at most 255 characters


def is_exponent(value: Any) -> bool:
    """Return whether a value is the text of a number with an exponent, such as ``3e-4``."""
    return isinstance(value, str) and EXPONENT.fullmatch(value.strip()) is not None


def read_exponents(values: Any) -> Any:
    """Return a mapping with numbers such as ``3e-4``, which YAML 1.1 takes for text, as numbers."""
    if not isinstance(values, Mapping):
        return values
    return {key: float(value) if is_exponent(value) else value for key, value in values.items()}


def _takes(annotation: Any, kind: type[Any]) -> bool:
    """Return whether a type is of this kind, or a union or list with it."""
    return annotation is kind or any(_takes(part, kind) for part in get_args(annotation))


class Section(BaseModel):
    """A part of a study's configuration: no unknown keys, no silent conversion, no nan."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        frozen=True,
        protected_namespaces=(),
        defer_build=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _read_exponents(cls, values: Any) -> Any:
        """Read numbers such as ``3e-4``, which YAML 1.1 takes for text, as numbers."""
        if not isinstance(values, Mapping):
            return values
        numbers = dict(values)
        for name, field in cls.model_fields.items():
            key = field.alias or name
            if is_exponent(values.get(key)) and _takes(field.annotation, float):
                numbers[key] = float(values[key])
        return numbers

    @classmethod
    def checked(cls, values: Mapping[str, Any], where: str) -> Self:
        """Return the settings of a command, validated.

        Raises:
            UserError: one sentence for each setting that is unknown, invalid or contradicts another
                one; all begin with ``where``.
        """
        settings, problems = cls.tried(values, where)
        if settings is None or problems:
            raise UserError("; ".join(problems))
        return settings

    @classmethod
    def tried(cls, values: Mapping[str, Any], where: str) -> tuple[Self | None, list[str]]:
        """Return the settings, None if invalid, and the sentences that :meth:`checked` raises."""
        try:
            settings = cls.model_validate(dict(values))
        except ValidationError as error:
            return None, [mistake.sentence(where) for mistake in mistakes(error, cls)]
        return settings, [f"{where}/{problem}" for problem in settings.contradictions()]

    @classmethod
    def trusted(cls, values: Mapping[str, Any]) -> Self:
        """Return settings that were validated before, without validation; lists become tuples."""
        settings = dict(values)
        for name, field in cls.model_fields.items():
            key = field.alias or name
            if AsTuple in field.metadata and isinstance(settings.get(key), list):
                settings[key] = tuple(settings[key])
        return cls.model_construct(**settings)

    def contradictions(self) -> Iterator[str]:
        """Yield key and sentence for each setting that contradicts another setting."""
        yield from ()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = handler(core)
        keys = handler.resolve_ref_schema(schema)["properties"]
        for name, text in cls.meanings().items():
            keys[cls.model_fields[name].alias or name].setdefault("description", text)
        return schema

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """Return the string below each field, which the source is parsed for."""
        meanings = {}
        for section in reversed(cls.__mro__):
            if not issubclass(section, Section):
                continue
            with contextlib.suppress(OSError):  # a class that was created at run time has no source
                (definition,) = ast.parse(textwrap.dedent(inspect.getsource(section))).body
                for field, text in itertools.pairwise(getattr(definition, "body", ())):
                    if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                        name = ast.unparse(field.target)
                        meanings[name] = inspect.cleandoc(ast.literal_eval(text.value))
        return meanings

    def given(self) -> dict[str, Any]:
        """Return the keys that the user named, as JSON values."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def full(self) -> dict[str, Any]:
        """Return all keys with their defaults, as JSON values."""
        return self.model_dump(mode="json", by_alias=True)


def _empty(value: Any) -> Any:
    return {} if value is None else value


OrEmpty = BeforeValidator(_empty)  # `casrel:` with nothing after it is an entry with all defaults


class form:
    """Check of a value by a type, with a message in words: ``Annotated[KIND, form(…)]``.

    Args:
        expected: description of valid values.
        kind: the type of valid values.
        schema: JSON schema of valid values.
    """

    def __init__(self, expected: str, kind: Any, schema: Mapping[str, Any]):
        self.expected, self.kind, self.schema = expected, kind, schema

    def check(self, value: Any) -> Any:
        try:
            _adapter(self.kind).validate_python(value, strict=True)
        except ValidationError:
            values = {"wanted": self.expected, "value": _short(value)}
            raise PydanticCustomError("form", "expected {wanted}, got {value}", values) from None
        return value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: Any, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.schema)


def among(values: Collection[Any]) -> form:
    """Return the check of a value that is one of a few; ``True`` is not the same as 1."""
    typed_values = [(type(value), value) for value in values]
    expected = f"one of {', '.join(str(value) or '(empty)' for value in values)}"

    def same(value: Any) -> Any:
        if (type(value), value) not in typed_values:
            raise ValueError
        return value

    return form(expected, Annotated[Any, AfterValidator(same)], {"enum": list(values)})


class one_of(form):
    """Check of a name that a registry contains.

    Args:
        known: function that returns all names, called for each value because plugins add names.
        what: word for the names, such as ``matching rule``.
        removed: names of former versions -> their replacement.
    """

    def __init__(
        self,
        known: Callable[[], Collection[str]],
        what: str,
        removed: Mapping[str, str] = MappingProxyType({}),
    ):
        self.known, self.what, self.removed = known, what, removed

    def check(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value  # the type of the field refuses it
        if value not in self.known():
            advice = hint(value, self.known())
            if value in self.removed:
                advice = f"; it is no longer built in, expected {self.removed[value]} in its place"
            values = {"what": self.what, "value": value, "hint": advice}
            raise PydanticCustomError("name", "unknown {what} '{value}'{hint}", values)
        return value

    def __get_pydantic_json_schema__(
        self, schema: Any, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"enum": list(self.known())}


def _paths(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _unique(value: Sequence[Any]) -> Sequence[Any]:
    for number, item in enumerate(value):
        if item in value[:number]:
            raise PydanticCustomError(
                "unique", "expected each once, got {item} twice", {"item": repr(item)}
            )
    return value


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Unique = AfterValidator(_unique)
AsTuple = BeforeValidator(_as_tuple)  # the list of a file as the tuple of a dataclass
Name = Annotated[str, Field(pattern=NAME, max_length=MAX_NAME)]
Text = Annotated[str, Field(min_length=1)]
MAX_COUNT = 10**9
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Number = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Resamples = Annotated[int, Field(ge=0, le=10**5)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]  # of NumPy's generators
Batch = Annotated[int, Field(ge=1, le=2**16)]
Processes = Annotated[int, Field(ge=1, le=2**10)]  # or threads, of one machine
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, le=MAX_COUNT)]
NotNegative = Annotated[float, Field(ge=0, le=MAX_COUNT)]
LearningRate = Annotated[float, Field(gt=0, le=1)]
Temperature = Annotated[float, Field(ge=0, le=2)]  # the range of the servers' APIs
Paths = Annotated[
    list[Text],
    Field(min_length=1),
    BeforeValidator(_paths),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]
Runtime = Annotated[
    Any,
    form(
        "minutes, or a time such as '4h'",
        Annotated[str, Field(pattern=TIME)] | Annotated[int, Field(gt=0)],
        {"type": ["string", "integer"]},
    ),
]


EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
    "finite_number": "a finite number",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "literal_error": "one of {expected}",
    "string_pattern_mismatch": "letters, digits, '.', '_' and '-', starting with a letter or digit",
}


class Mistake(NamedTuple):
    """One invalid value.

    Attributes:
        loc: path of the keys to the value.
        where: path that the sentence names: for an unknown or missing key, its section.
        text: the sentence.
        kind: pydantic's type of the error.
        key: path of a key that is missing, or that another one requires.
    """

    loc: tuple[str | int, ...]
    where: tuple[str | int, ...]
    text: str
    kind: str = ""
    key: tuple[str | int, ...] = ()

    def sentence(self, root: str = "") -> str:
        """Return the sentence behind its location; ``root`` is the name of the validated part."""
        return f"{'/'.join([*filter(None, [root]), *map(str, self.where)]) or '(top level)'}: {self.text}"


def mistakes(error: ValidationError, model: type[Any]) -> Iterator[Mistake]:
    """Yield each mistake that a validation found."""
    details = error.errors(include_url=False)
    parents = {detail["loc"][:-1] for detail in details}
    for detail in details:
        loc, kind, value = detail["loc"], detail["type"], detail["input"]
        context = detail.get("ctx", {})
        if kind == "too_short" and loc in parents:  # its items are invalid, which is reported
            continue
        if loc and loc[-1] == "[key]":
            is_long = kind == "string_too_long"
            what = "is too long a name" if is_long else "is no name"
            expected = EXPECTED["string_too_long" if is_long else "string_pattern_mismatch"]
            expected = expected.format(**context)
            text = f"{_short(loc[-2])} {what}; expected {expected}"
            yield Mistake(loc[:-1], loc[:-2], text)
        elif kind in ("extra_forbidden", "unexpected_keyword_argument"):
            advice = hint(loc[-1], keys_at(schema_of(model), loc[:-1]))
            yield Mistake(loc, loc[:-1], f"unknown key '{loc[-1]}'{advice}")
        elif kind == "missing":
            yield Mistake(loc[:-1], loc[:-1], f"the key '{loc[-1]}' is missing", kind, loc)
        elif kind in EXPECTED:
            numbers = {
                name: f"{limit:g}" if isinstance(limit, float) else limit
                for name, limit in context.items()
            }
            expected = EXPECTED[kind].format(**numbers)
            yield Mistake(loc, loc, f"expected {expected}, got {_short(value)}")
        else:
            required = context.get("needed")  # a key that another one requires
            yield Mistake(loc, loc, detail["msg"], kind, (*loc, required) if required else ())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def keys_at(schema: dict[str, Any], loc: Iterable[str | int]) -> list[str]:
    """Return the keys of a JSON schema at a location."""
    part = schema
    for key in loc:
        part = resolved(part, schema)
        entries = [
            part.get("additionalProperties"),
            part.get("items"),
            *part.get("patternProperties", {}).values(),
        ]
        entries = [entry for entry in entries if isinstance(entry, dict)]
        part = part.get("properties", {}).get(key) or (entries[0] if entries else {})
    return sorted(resolved(part, schema).get("properties", {}))


@functools.cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@functools.cache
def schema_of(model: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of a model or a dataclass."""
    return _adapter(model).json_schema(by_alias=True)


CLOSED = ConfigDict(extra="forbid")
"""``__pydantic_config__`` of dataclasses for rows of files: unknown keys are refused."""
Row = TypeVar("Row")


def read_rows(path: str | Path, kind: type[Row]) -> list[Row]:
    """Read JSON lines, each as a dataclass or model of this kind.

    Raises:
        UserError: a line is invalid; the message names file and line.
    """
    return [row_of(row, kind, f"{path} line {number}") for number, row in read_jsonl(path)]


def write_rows(path: str | Path, rows: Iterable[Any]) -> None:
    """Write dataclasses as JSON lines, atomically."""
    write_jsonl(path, map(asdict, rows))


def row_of(value: Any, kind: type[Row], where: str) -> Row:
    """Return a JSON value as a dataclass or model.

    Raises:
        UserError: a key is unknown, missing or has the wrong type; ``where`` begins the message.
    """
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise UserError(
            "; ".join(mistake.sentence(where) for mistake in mistakes(error, kind))
        ) from None


def resolved(part: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a JSON schema without references; of a nullable part the other form."""
    while True:
        forms = [option for option in part.get("anyOf", ()) if option != {"type": "null"}]
        if "$ref" in part:
            name, inner = "$ref", schema["$defs"][part["$ref"].rpartition("/")[2]]
        elif "properties" not in part and forms:
            name, inner = "anyOf", forms[0]
        else:
            return part
        part = {**inner, **{key: value for key, value in part.items() if key != name}}


def model_from(
    name: str, types: Mapping[str, tuple[Any, Any]], base: type[Any] = Section
) -> type[Any]:
    """Return a model of fields, each with its type and default, added to those of ``base``."""
    fields: dict[str, Any] = {}
    for key, (kind, default) in types.items():
        if hasattr(BaseModel, key):  # such as `schema`
            fields[f"{key}_"] = (kind, Field(default, alias=key))
        else:
            fields[key] = (kind, default)
    return create_model(name, __base__=base, __doc__=base.__doc__, **fields)
