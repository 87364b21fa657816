"""Checks of a Python class by its source code, which is not run.

A file may load a model when it is imported, so only the job that queries the class imports it. What
the source leaves open, such as the arguments of an inherited constructor, is not checked.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tripleaudit.core.errors import hint


def class_problems(
    file: str | Path, name: str, options: Iterable[str], gets_relations: bool
) -> Iterator[str]:
    """Yield ``key: sentence`` for everything that keeps a class from being made and queried.

    Args:
        file: an existing Python file.
        name: name of the class in it.
        options: names of the keyword arguments that the constructor is called with.
        gets_relations: whether the constructor also gets the argument ``relations``.
    """
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (SyntaxError, ValueError) as error:
        line = f" line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else error
        yield f"python: {file}{line}: cannot be read as Python ({reason})"
        return
    names = _defined_names(tree)
    if name not in names and "*" not in names:
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        yield f"python: {file}: has no class '{name}'{hint(name, classes)}"
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name and _is_plain(node):
            yield from _problems_of_definition(node, list(options), gets_relations)


def _defined_names(tree: ast.Module) -> set[str]:
    """Return all names that a file defines, imports or assigns; ``*`` for an import of all."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _is_plain(definition: ast.ClassDef) -> bool:
    """Return whether a class has no base, metaclass or decorator that may add members."""
    bases = [base for base in definition.bases if ast.unparse(base) != "object"]
    return not (bases or definition.keywords or definition.decorator_list)


def _problems_of_definition(
    definition: ast.ClassDef, options: list[str], gets_relations: bool
) -> Iterator[str]:
    members = _defined_names(ast.Module(definition.body, []))
    if "extract" not in members:
        yield f"python: the class {definition.name} has no method extract; expected extract(texts)"
    constructors = [
        node
        for node in definition.body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    if constructors:
        arguments = constructors[-1].args
        yield from _problems_of_arguments(definition.name, arguments, options, gets_relations)
    elif members.isdisjoint({"__init__", "__new__"}):
        no_arguments = ast.arguments([], [ast.arg("self")], None, [], [], None, [])
        yield from _problems_of_arguments(definition.name, no_arguments, options, gets_relations)


def _problems_of_arguments(
    class_name: str, arguments: ast.arguments, options: list[str], gets_relations: bool
) -> Iterator[str]:
    """Yield a sentence for each option that a constructor does not take, or lacks."""
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][1:]
    keyword_only = [argument.arg for argument in arguments.kwonlyargs]
    accepted = positional + keyword_only
    passed = [*options, "relations"] if gets_relations else options
    for name in passed:
        if name in accepted or arguments.kwarg is not None:
            continue
        where = "relations" if name == "relations" else f"options/{name}"
        yield f"{where}: {class_name} has no argument '{name}'{hint(name, accepted)}"
    required = positional[: len(positional) - len(arguments.defaults)]
    for name, default in zip(keyword_only, arguments.kw_defaults, strict=True):
        if default is None:
            required.append(name)
    for name in required:
        if name not in passed:
            advice = "relations: true" if name == "relations" else "it under options"
            yield f"python: {class_name} needs the argument '{name}'; add {advice}"
