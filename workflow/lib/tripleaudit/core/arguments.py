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
    from tripleaudit.core.fields import Section

BELOW = 3
"""Exit code where a score or a change is below a limit of the user; 1 and 2 stand for errors."""
OUTPUTS = (
    "out",
    "report",
    "write",
    "facts",
    "calls",
)  # options that name what is written begin like this


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
    """The same of a whole number."""

    kind, word = int, "whole number"


def options_of(values: Mapping[str, Any]) -> list[str]:
    """Return options as command-line arguments, by their names without dashes.

    True gives a switch, a list one option for each item, None and False give nothing.
    """
    each = [
        (f"--{name}", one)
        for name, of in values.items()
        for one in (of if isinstance(of, list) else [of])
    ]
    said = [
        (option, *([] if one is True else [str(one)]))
        for option, one in each
        if one is not None and one is not False
    ]
    return [part for parts in said for part in parts]


NUMBER, SEED, RESAMPLES = Whole(1), Whole(0, 2**32 - 1), Whole(0, 10**5)
SHARE, POSITIVE, MONEY = Real(0, 1), Real(open=True), Real()


def add_settings(parser: argparse.ArgumentParser, section: "type[Section]", **options: str) -> None:
    """Add options for keys of a configuration section, with their defaults and descriptions.

    Args:
        options: key -> option; a switch turns round what its key is by default.
    """
    for key, option in options.items():
        name, field = next(
            each for each in section.model_fields.items() if (each[1].alias or each[0]) == key
        )
        text = " ".join(section.meanings()[name].split()).replace("%", "%%")
        kinds = {field.annotation, *get_args(field.annotation)}
        if bool in kinds:
            turned = "store_false" if field.default else "store_true"
            parser.add_argument(
                f"--{option}", dest=key, action=turned, help=f"{'turn off: ' * field.default}{text}"
            )
            continue
        low, high = (
            next((getattr(at, end) for at in field.metadata if hasattr(at, end)), None)
            for end in ("ge", "le")
        )
        of: dict[str, Any] = {"metavar": option.rpartition("-")[2].upper()}
        if get_origin(field.annotation) is Literal:
            of = {"choices": get_args(field.annotation)}
        elif kinds & {int, float}:
            of["type"] = (Whole if int in kinds else Real)(low or 0, high)
        elif str not in kinds:
            of["nargs"] = "+"
        default = "" if field.default is None else f" (default: {field.default})"
        parser.add_argument(
            f"--{option}", dest=key, default=field.default, help=f"{text}{default}", **of
        )


def add_reading(parser: argparse.ArgumentParser, files: str = "the files") -> None:
    """Add ``--format``, ``--column`` and ``--encoding``, which say how corpora are read."""
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


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Add ``--missing``, which says what a sentence without a prediction means."""
    parser.add_argument(
        "--missing",
        choices=("refuse", "empty"),
        default="refuse",
        help="for sentences without a prediction: refuse the file (default), or count them as empty",
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
        help="GPUs of a job; 0 hides all (default: 1)",
    )


def check_paths(given: Mapping[str, Any]) -> None:
    """Refuse options that would let a command write over what it reads, or has written.

    Args:
        given: the options of any command by their names.

    Raises:
        UserError: a file is to be both read and written, or written twice.
    """
    entries = [(name, path) for name, value in given.items() for path in _paths(value)]
    for name, path in entries:
        if "\0" in str(path):
            raise UserError(
                f"--{name.replace('_', '-')}: a name cannot hold a character of value 0"
            )
    written = [entry for entry in entries if entry[0].startswith(OUTPUTS)]
    read = [path for name, path in entries if not name.startswith(OUTPUTS)]
    over = [
        entry
        for entry, (_, other) in itertools.combinations(written, 2)
        if entry[1] == other != Path()
    ]
    over += [entry for entry, known in itertools.product(written, read) if _same(entry[1], known)]
    for name, path in over:
        option = name.replace("_", "-")
        raise UserError(
            f"{path}: this file would be written over (--{option}); expected another path"
        )


def named(option: str, texts: Iterable[str], form: str = "NAME=FILE") -> dict[str, str]:
    """Return what texts of the form ``NAME=VALUE`` say, in their order.

    Raises:
        UserError: one has another form, or the name of another one.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value or name in found:
            raise UserError(f"{option}: expected {form}, each name once, got {text!r}")
        found[name] = value
    return found


def json_given(option: str, text: str, form: type = dict) -> Any:
    """Return the JSON value that an option was given.

    Raises:
        UserError: the text is no JSON, or of another form.
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
    """Add ``--force``, which lets a command write into a folder that holds something."""
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
    """Refuse a folder to write to that is a file, or that holds something of others.

    Args:
        force: accept a filled folder.
        sources: files that are read.
        makes: names of the files that will be written, none of which may be a source.
        own: names that show that an earlier run of the command made the folder; it may go on, or
            make it again.

    Raises:
        UserError: it is refused.
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
        if any(_same(out / name, Path(source)) for source in sources):
            raise UserError(
                f"{out / name}: this file is read and would be written over; expected another folder"
            )


def _paths(value: Any) -> Iterator[Path]:
    for each in value if isinstance(value, list | tuple) else [value]:
        if isinstance(each, str | Path):
            yield Path(each)


def _same(one: Path, read: Path) -> bool:
    """Whether two paths are one file, of which the second may be given as ``NAME=FILE``."""
    try:
        read = read if read.is_file() else Path(str(read).partition("=")[2])
        return one.is_file() and read.is_file() and one.samefile(read)
    except (OSError, ValueError):  # no path at all, such as a text of 5,000 characters
        return False
