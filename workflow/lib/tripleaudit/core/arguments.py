"""Options that several commands share: numbers in a range, corpus formats, output files."""

import argparse
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin

from tripleaudit.core import storage
from tripleaudit.core.errors import UserError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from tripleaudit.core.fields import Section

BELOW = 3
"""Exit code where a score or a change is below a limit of the user; 1 and 2 stand for errors."""
UNDECIDED = 4
"""Exit code where the data cannot decide whether a limit of the user is kept."""
OUTPUT_PREFIXES = ("out", "report", "write", "facts", "calls")
"""Starts of the names of options that name a written file."""


@dataclass(frozen=True)
class Real:
    """The ``type`` of an option for a number from ``low`` to ``high``.

    ``open`` excludes ``low``.
    """

    low: float = 0
    high: float | None = None
    open: bool = False
    kind: ClassVar[Callable[[str], float]] = float
    word: ClassVar[str] = "number"

    def __call__(self, text: str) -> float:
        try:
            value = type(self).kind(text)
        except ValueError:
            value = math.nan
        above = value > self.low if self.open else value >= self.low
        if not above or value == math.inf or self.high is not None and value > self.high:
            upper = "" if self.high is None else f" and at most {self.high}"
            lower = f"{'above' if self.open else 'of at least'} {self.low}"
            text = repr(text if len(text) <= 40 else f"{text[:39]}…")
            raise argparse.ArgumentTypeError(f"expected a {self.word} {lower}{upper}, got {text}")
        return value


class Whole(Real):
    """The ``type`` of an option for a whole number from ``low`` to ``high``."""

    kind, word = int, "whole number"


def options_of(values: Mapping[str, Any]) -> list[str]:
    """Return options as command-line arguments, by their names without dashes.

    True gives a switch, a list one option for each item, None and False give nothing.
    """
    arguments: list[str] = []
    for name, value in values.items():
        for item in value if isinstance(value, list) else [value]:
            if item is None or item is False:
                continue
            arguments.append(f"--{name}")
            if item is not True:
                arguments.append(str(item))
    return arguments


NUMBER, SEED, RESAMPLES = Whole(1), Whole(0, 2**32 - 1), Whole(0, 10**5)
SHARE, POSITIVE, MONEY = Real(0, 1), Real(open=True), Real()


def add_settings(
    parser: argparse.ArgumentParser,
    section: "type[Section]",
    helps: Mapping[str, str] | None = None,
    /,
    **options: str,
) -> None:
    """Add options for keys of a configuration section, with their defaults and descriptions.

    Args:
        parser: the parser of the command.
        section: the section.
        helps: key -> description, where that of the configuration does not fit a command; required
            for switches that turn something off.
        options: key -> option; a switch is the opposite of the key's default.
    """
    helps = helps or {}
    names = {field.alias or name: name for name, field in section.model_fields.items()}
    for key, option in options.items():
        field = section.model_fields[names[key]]
        text = helps.get(key) or _as_help(section.meanings()[names[key]])
        types = {field.annotation, *get_args(field.annotation)}
        if bool in types:
            action = "store_false" if field.default else "store_true"
            parser.add_argument(f"--{option}", dest=key, action=action, help=text)
            continue
        form: dict[str, Any] = {"metavar": option.rpartition("-")[2].upper()}
        if types & {int, float}:
            form["metavar"] = "X" if float in types else "N"
        if get_origin(field.annotation) is Literal:
            form = {"choices": get_args(field.annotation)}
        elif types & {int, float}:
            number = Real if float in types else Whole
            form["type"] = number(_limit(field, "ge") or 0, _limit(field, "le"))
        elif str not in types:
            form["nargs"] = "+"
        if field.default is not None:
            text += f" (default: {field.default})"
        parser.add_argument(f"--{option}", dest=key, default=field.default, help=text, **form)


def _as_help(meaning: str) -> str:
    """Return the description of a key in the style of options: small letter, no full stop."""
    text = " ".join(meaning.split()).replace("%", "%%").removesuffix(".")
    is_acronym = text[1:2].isupper()
    return text if is_acronym else text[0].lower() + text[1:]


def _limit(field: "FieldInfo", name: Literal["ge", "le"]) -> float | None:
    """Return the smallest (``ge``) or largest (``le``) value of a field; None without a limit."""
    for constraint in field.metadata:
        if hasattr(constraint, name):
            return getattr(constraint, name)
    return None


def add_reading(parser: argparse.ArgumentParser, files: str = "the files") -> None:
    """Add the options for reading corpora: ``--format``, ``--column`` and ``--encoding``."""
    parser.add_argument(
        "--format", default="auto", metavar="F", help=f"format of {files} (default: auto)"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="columns by their role, such as text=sentence,subject=head.word (docs/reference/formats.md)",
    )
    parser.add_argument(
        "--encoding",
        default="",
        metavar="E",
        help="encoding of files that are neither UTF-8 nor UTF-16, such as cp1252",
    )


def add_sides(parser: argparse.ArgumentParser) -> None:
    """Add gold triples and predictions, and how they are read."""
    parser.add_argument("gold", metavar="GOLD", help="gold triples in any corpus format")
    parser.add_argument(
        "predictions",
        metavar="PREDICTIONS",
        help="predictions in any corpus format, matched by id or text; may be GOLD if it contains both",
    )
    add_reading(parser, "the corpus files")
    parser.add_argument(
        "--predicted-column",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="like --column, for PREDICTIONS only, such as order=sor",
    )


def add_occurrence(parser: argparse.ArgumentParser) -> None:
    """Add ``--occurrence``: positions of strings whose position the file does not give."""
    parser.add_argument(
        "--occurrence",
        default="first",
        choices=("first", "all", "given"),
        help="positions of an entity for which the file gives none: its first mention (default), all "
        "mentions, or refuse such files (given)",
    )


def add_matching(parser: argparse.ArgumentParser, meaning: str = "matching rule") -> None:
    """Add ``--matching``, the rule by which a predicted triple counts as correct."""
    parser.add_argument(
        "--matching",
        default="exact-string",
        metavar="M",
        help=f"{meaning} (default: exact-string; the repository explains them in docs/explanation/methods.md)",
    )


def add_resampling(parser: argparse.ArgumentParser, seed_of: str = "the resampling") -> None:
    """Add ``--bootstrap`` and ``--seed``, which decide the intervals."""
    parser.add_argument(
        "--bootstrap",
        type=RESAMPLES,
        default=1000,
        metavar="N",
        help="number of bootstrap resamples (default: 1000); 0: no intervals",
    )
    parser.add_argument(
        "--seed", type=SEED, default=0, metavar="S", help=f"seed of {seed_of} (default: 0)"
    )


def add_fail_under(parser: argparse.ArgumentParser, score: str) -> None:
    """Add ``--fail-under``, the limit in percent below which the exit code is ``BELOW``."""
    parser.add_argument(
        "--fail-under",
        type=Real(0, 100),
        metavar="F1",
        help=f"exit with code {BELOW} if {score} is below this number, in percent (such as 85)",
    )


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Add ``--missing``: whether sentences without a prediction are refused or count as empty."""
    parser.add_argument(
        "--missing",
        choices=("refuse", "empty"),
        default="refuse",
        help="sentences without a prediction: refuse the file (default) or count them as empty",
    )


def add_gpu(parser: argparse.ArgumentParser) -> None:
    """Add ``--gpu``."""
    parser.add_argument(
        "--gpu",
        default=os.environ.get("TRIPLEAUDIT_GPU", "auto"),
        choices=("auto", "0", "1"),
        help="auto uses a GPU if there is one (default: TRIPLEAUDIT_GPU, else auto)",
    )


def add_gpus(parser: argparse.ArgumentParser) -> None:
    """Add ``--gpu`` and ``--gpus`` of a job."""
    add_gpu(parser)
    parser.add_argument(
        "--gpus",
        type=Whole(),
        default=1,
        metavar="N",
        help="number of GPUs to use (default: 1); 0 uses the CPU",
    )


def check_paths(options: Mapping[str, Any]) -> None:
    """Refuse options that would let a command overwrite one of its inputs or outputs.

    Args:
        options: the values of the options of a command by name.

    Raises:
        UserError: a file would be both read and written, or written twice.
    """
    entries = [(name, path) for name, value in options.items() for path in _paths(value)]
    for name, path in entries:
        if "\0" in str(path):
            raise UserError(
                f"--{name.replace('_', '-')}: a name cannot hold a character of value 0"
            )
    outputs = [entry for entry in entries if entry[0].startswith(OUTPUT_PREFIXES)]
    inputs = [path for name, path in entries if not name.startswith(OUTPUT_PREFIXES)]
    overwritten = [
        entry
        for entry, (_, other) in itertools.combinations(outputs, 2)
        if entry[1] == other != Path()
    ]
    overwritten += [
        entry for entry, source in itertools.product(outputs, inputs) if _is_same(entry[1], source)
    ]
    for name, path in overwritten:
        option = name.replace("_", "-")
        raise UserError(
            f"{path}: this file would be written over (--{option}); expected another path"
        )


def named(option: str, texts: Iterable[str], form: str = "NAME=FILE") -> dict[str, str]:
    """Return name -> value of texts of the form ``NAME=VALUE``, in their order.

    Raises:
        UserError: a text has another form, or a name occurs twice.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value or name in values:
            raise UserError(f"{option}: expected {form}, each name once, got {text!r}")
        values[name] = value
    return values


def json_given(option: str, text: str, form: type = dict) -> Any:
    """Return the JSON value of an option.

    Raises:
        UserError: the text is not valid JSON, or not of the expected form.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UserError(f"{option}: not valid JSON ({error})") from error
    if not isinstance(value, form):
        raise UserError(
            f"{option}: expected a JSON {'object' if form is dict else 'list'}, got {text}"
        )
    return value


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``, with which a command writes into a folder that is not empty."""
    parser.add_argument(
        "--force", action="store_true", help="write into a folder that is not empty"
    )


def check_folder(
    out: str | Path,
    force: bool,
    sources: Iterable[str | Path] = (),
    makes: Iterable[str] = (),
    own: Iterable[str] = (),
) -> None:
    """Refuse an output folder that is a file, or that has files of other programs.

    Args:
        out: the folder.
        force: accept a folder that is not empty.
        sources: files that are read.
        makes: names of the files that will be written, none of which may be a source.
        own: names of files of an earlier run of the command; a folder with one of them is accepted.

    Raises:
        UserError: the folder is refused.
    """
    out = Path(out)
    with storage.explained(out):
        if out.exists() and not out.is_dir():
            raise UserError(f"{out}: this is a file, expected a folder")
        filled = out.is_dir() and next(out.iterdir(), None) is not None
    if filled and not force and not any((out / name).exists() for name in own):
        raise UserError(
            f"{out}: this folder holds something already; expected an empty or new one, or --force"
        )
    for name in makes:
        if any(_is_same(out / name, Path(source)) for source in sources):
            raise UserError(
                f"{out / name}: this file is read and would be written over; expected another folder"
            )


def _paths(value: Any) -> Iterator[Path]:
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, str | Path):
            yield Path(item)


def _is_same(output: Path, source: Path) -> bool:
    """Return whether two paths are the same file; the source may have the form ``NAME=FILE``."""
    try:
        if not source.is_file():
            source = Path(str(source).partition("=")[2])
        return output.is_file() and source.is_file() and output.samefile(source)
    except (OSError, ValueError):  # not a path, such as a text of 5,000 characters
        return False
