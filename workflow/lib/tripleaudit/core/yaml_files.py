"""YAML files whose mistakes are named with their location: file, line and key."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tripleaudit.core.errors import UserError

MOST = 1_000_000  # values in a file, those counted again that aliases repeat


class TooManyValues(UserError):
    """A file whose aliases stand for more values than can be read."""


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where PyYAML has libyaml


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Return the mapping in a YAML file, empty for an empty file.

    Raises:
        UserError: there is no such file, it is no text in UTF-8 or holds NUL, no YAML, no mapping,
            or has a key twice.
    """
    value, problems = read_with_repeated(path)
    if problems:
        raise UserError("; ".join(problems))
    return value


def read_with_repeated(path: str | Path) -> tuple[dict[str, Any], list[str]]:
    """Return the mapping in a YAML file, and one sentence for each repeated key.

    Raises:
        UserError: there is no such file, it is no text in UTF-8 or holds NUL, no YAML, or no
            mapping.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, IsADirectoryError):
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise UserError(
            f"{path}, line {line}: not text in UTF-8; expected a YAML file, saved as UTF-8"
        ) from None
    try:
        loader = LOADER(text)
        node = loader.get_single_node()
        if _size(node, {}) > MOST:
            raise TooManyValues(
                f"{path}: its aliases stand for more than {MOST} values; expected a study of fewer"
            )
        problems = [] if node is None else list(_repeated(node, (), str(path)))
        value = {} if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = ", ".join(part for part in (error.context, error.problem) if part)
        raise UserError(f"{path}{where}: not valid YAML ({message})") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise UserError(
            f"{path}: expected keys with values ('study: my-study', …), got {type(value).__name__}"
        )
    return value, problems


def _size(node: yaml.Node | None, known: dict[int, int]) -> int:
    """Return the number of values below a node as if every alias were written out."""
    if id(node) not in known:
        known[id(node)] = (
            1  # an alias of what it stands in ends here, and is refused where it is made
        )
        inner = node.value if isinstance(node, yaml.CollectionNode) else []
        parts = (part for item in inner for part in (item if isinstance(item, tuple) else (item,)))
        known[id(node)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(node)]


def _repeated(node: yaml.Node, loc: tuple[str, ...], file: str) -> Iterator[str]:
    """Yield a sentence for each key below ``node`` that stands twice.

    Raises:
        UserError: a value holds the character NUL.
    """
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            name, line = str(getattr(key, "value", "")), key.start_mark.line + 1
            if name in first and name != "<<":
                where = "/".join([*loc, name])
                yield f"{where}: the key stands twice in {file}, in lines {first[name]} and {line}; expected it once"
            first.setdefault(name, line)
            yield from _repeated(value, (*loc, name), file)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _repeated(item, (*loc, str(number)), file)
    elif "\0" in node.value:  # no file has such a name, and no program takes such a word
        line = node.start_mark.line + 1
        raise UserError(
            f"{file}, line {line}: the value of {'/'.join(loc)} holds the character NUL; expected text"
        )
