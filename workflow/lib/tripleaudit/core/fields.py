"""Typed settings: the base class of a study's sections, and types of values.

A setting is an annotated field with a range, and a string below it that describes it. The checks
before the run and in the job, the JSON schema and the reference in ``config/README.md`` all follow
from this definition. Every section of :mod:`tripleaudit.study.config` and the settings of every
extractor derive from :class:`Section`. :mod:`tripleaudit.core.mistakes` writes the messages.
"""

import ast
import contextlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError, core_schema

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.mistakes import mistakes, shorten, type_adapter

TIME = r"^\s*\d+(\.\d+)?\s*(s|m|h|d|w|seconds?|secs?|minutes?|mins?|hours?|days?|weeks?)?\s*$"  # as Snakemake has it
EXPONENT = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
MAX_NAME = 80  # characters; a file name may contain two names and has at most 255 characters


def is_exponent(value: Any) -> bool:
    """Return whether a value is the text of a number with an exponent, such as ``3e-4``."""
    return isinstance(value, str) and EXPONENT.fullmatch(value.strip()) is not None


def read_exponents(values: Any) -> Any:
    """Return a mapping with texts such as ``3e-4``, numbers that YAML 1.1 reads as text, as numbers.

    For mappings whose types are not known yet. A :class:`Section` does this itself, for the fields
    that take numbers.
    """
    if not isinstance(values, Mapping):
        return values
    return {key: float(value) if is_exponent(value) else value for key, value in values.items()}


def _takes(annotation: Any, kind: type[Any]) -> bool:
    """Return whether a type is of this kind, or a union or list with it."""
    return annotation is kind or any(_takes(part, kind) for part in get_args(annotation))


class Section(BaseModel):
    """A part of a study's configuration: no unknown keys, no silent conversion, no nan.

    Commands validate settings with :meth:`checked`, and checks that go on after a problem with
    :meth:`tried`; :meth:`trusted` is for settings that were validated before. :meth:`given` and
    :meth:`full` return settings as JSON values, without and with defaults.
    """

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
        """Read texts such as ``3e-4`` as numbers in the fields that take numbers."""
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
        """Return the string below each field by the field's name.

        Python does not keep these strings, so the source of the class is parsed for them.
        """
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


class form:  # lower case, because it is used like a function within Annotated
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
            type_adapter(self.kind).validate_python(value, strict=True)
        except ValidationError:
            values = {"wanted": self.expected, "value": shorten(value)}
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
