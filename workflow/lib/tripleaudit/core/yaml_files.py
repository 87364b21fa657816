"""Reading of YAML files, with messages that name file, line and key.

Studies, prompts and profiles are read here. Refused are text that is no UTF-8, repeated keys, the
character NUL, and aliases that stand for too many values.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tripleaudit.core.errors import UserError

MAX_VALUES = 1_000_000  # each alias counts as all the values that it stands for
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where PyYAML has libyaml


class TooManyValues(UserError):
    """A file whose aliases stand for more values than can be read.

    A class of its own, because a workflow that reads a file again must not ignore this error.
    """


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
        if _count_values(node, {}) > MAX_VALUES:
            raise TooManyValues(
                f"{path}: its aliases stand for more than {MAX_VALUES} values; expected fewer"
            )
        problems = []
        value = None
        if node is not None:
            _refuse_nul(node, (), path)
            problems = list(_repeated(node, (), path))
            value = loader.construct_document(node)
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


def _count_values(node: yaml.Node | None, counts: dict[int, int]) -> int:
    """Return the number of values in a node as if every alias were written out.

    Args:
        node: the node; None for an empty file.
        counts: id of each node that was counted before -> its values.
    """
    if node is None:
        return 0
    if id(node) not in counts:
        # An alias inside of what it stands for would never end; construct_document refuses it.
        counts[id(node)] = 1
        counts[id(node)] += sum(_count_values(part, counts) for part in _parts(node))
    return counts[id(node)]


def _parts(node: yaml.Node) -> list[yaml.Node]:
    """Return the items of a sequence, or the keys and values of a mapping."""
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return []


def _refuse_nul(node: yaml.Node, keys: tuple[str, ...], path: Path) -> None:
    """Refuse values with the character NUL, which no file name and no argument can have.

    Raises:
        UserError: a value has the character.
    """
    for name, inner in _named_parts(node):
        _refuse_nul(inner, (*keys, name), path)
    if isinstance(node, yaml.ScalarNode) and "\0" in node.value:
        line = node.start_mark.line + 1
        raise UserError(
            f"{path}, line {line}: the value of {'/'.join(keys)} holds the character NUL; expected text"
        )


def _repeated(node: yaml.Node, keys: tuple[str, ...], path: Path) -> Iterator[str]:
    """Yield a sentence for each key of a mapping, at any depth, that stands twice."""
    first_lines: dict[str, int] = {}
    if isinstance(node, yaml.MappingNode):
        for key, _ in node.value:
            name = _name(key)
            line = key.start_mark.line + 1
            if name in first_lines and name != "<<":
                where = "/".join([*keys, name])
                yield (
                    f"{where}: the key stands twice in {path}, in lines {first_lines[name]} and {line}; "
                    "expected it once"
                )
            first_lines.setdefault(name, line)
    for name, inner in _named_parts(node):
        yield from _repeated(inner, (*keys, name), path)


def _named_parts(node: yaml.Node) -> list[tuple[str, yaml.Node]]:
    """Return the values in a node, each with its key or its position."""
    if isinstance(node, yaml.MappingNode):
        return [(_name(key), value) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [(str(position), item) for position, item in enumerate(node.value)]
    return []


def _name(key: yaml.Node) -> str:
    """Return the text of a key; empty for a key that is a sequence or mapping."""
    return key.value if isinstance(key, yaml.ScalarNode) else ""
