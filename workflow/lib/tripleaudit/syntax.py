"""What is in the source of one module: what runs, what it imports, what it calls with which texts."""

import ast
import copy
import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

PACKAGE = "tripleaudit"
DIGITS = 8


class Module(NamedTuple):
    """What was read off the source of a module.

    Attributes:
        digest: first digits of the digest of what runs.
        imports: names that it imports, in full.
        uses: (function, class or variable at the top of the module, what of the package it uses in full, string or
            beginning of one that it hands over in a call); ``DATA / "name"`` counts as a call.
    """

    digest: str
    imports: list[str]
    uses: list[tuple[str, str, str]]


def analysed(tree: ast.Module, module: str, is_package: bool = False) -> Module:
    """Return what is in the source of a module."""
    tree = _Running().visit(tree)
    parts: list[str] = []
    _spell(tree, parts)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]
    imported = sorted(set(_imported(tree, module, is_package)))
    return Module(digest, [name for _, name in imported], sorted(set(_used(tree, module, dict(imported)))))


class _Running(ast.NodeTransformer):
    """Leaves out of a module what does not run, or only speaks to people."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        checking = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return node.orelse if checking else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("add_argument", "add_parser"):
            node.keywords = [word for word in node.keywords if word.arg not in ("help", "metavar")]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return None if names in (["__version__"], ["HELP"], ["DESCRIPTION"]) else self.generic_visit(node)

    def _without_docstring(self, node):
        self.generic_visit(node)
        node.body = [
            part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        ]
        return node

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = _without_docstring


def _spell(node: object, parts: list[str]) -> None:
    """Append the spelling of a syntax tree without places, equal in all versions of Python."""
    if isinstance(node, ast.AST):
        parts.append(type(node).__name__)
        for name in node._fields:
            value = getattr(node, name, None)
            if value is not None and value != [] and name not in ("ctx", "kind", "type_comment"):
                parts.append(name)
                _spell(value, parts)
        parts.append(")")
    elif isinstance(node, list):
        parts.append("[")
        for part in node:
            _spell(part, parts)
        parts.append("]")
    else:
        parts.append(repr(node))


def _imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """Yield (name in the module, imported name in full)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                beside = module.split(".")[: None if is_package and node.level == 1 else -node.level + is_package]
                source = ".".join(filter(None, [*beside, source]))
            yield from ((alias.asname or alias.name, f"{source}.{alias.name}") for alias in node.names)


def _used(tree: ast.Module, module: str, imported: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield :attr:`Module.uses`."""
    own = set(map(_name_of, tree.body))

    def full(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return imported.get(node.id, f"{module}.{node.id}" if node.id in own else "")
        if isinstance(node, ast.Attribute) and (before := full(node.value)):
            return f"{before}.{node.attr}"
        return ""

    for top in tree.body:
        owner = _name_of(top)
        for node in ast.walk(top):
            given: list[ast.expr] = []
            if isinstance(node, ast.Call):
                given = node.args
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                given = [node.right]
            named = getattr(node, "func", None) or getattr(node, "left", None) or node
            name = full(named) if isinstance(named, ast.expr) else ""
            if name.startswith(f"{PACKAGE}."):
                yield from ((owner, name, text) for text in {"", *map(_text, given)})


def _name_of(top: ast.stmt) -> str:
    """Return the one name that a statement at the top of a module binds, empty for none or several."""
    names = _names_of(top)
    return names[0] if len(names) == 1 else ""


def _names_of(top: ast.stmt) -> list[str]:
    """Return the names that a statement at the top of a module binds; none for one that does anything else."""
    if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [top.name]
    if isinstance(top, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in top.names]
    if not isinstance(top, ast.Assign | ast.AnnAssign):
        return []
    targets = top.targets if isinstance(top, ast.Assign) else [top.target]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _text(node: ast.expr) -> str:
    """Return a string of the source, the beginning and ``*`` of one that is put together, else an empty one."""
    if isinstance(node, ast.JoinedStr) and node.values and (begin := _text(node.values[0])):
        return f"{begin}*"
    named = isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w./-]+", node.value)
    return named[0] if named else ""


def only_used(tree: ast.Module, name: str) -> ast.Module:
    """Return a module with what one of its functions, classes or variables uses of it, and what always runs.

    Raises:
        AttributeError: it defines no such name.
    """
    body = [part for node in tree.body for part in _apart(node)]
    defined: dict[str, list[ast.stmt]] = {}
    for node in body:
        for bound in _names_of(node):
            defined.setdefault(bound, []).append(node)
    if name not in defined:
        raise AttributeError(f"there is no function {name}")
    # a command with steps: its options count, the other steps' functions (`work=_other`) do not
    entrance = {one for one in ("configure", "run") if isinstance(defined.get(one, [None])[-1], ast.FunctionDef)}
    for one in entrance:
        defined[one] = [_WithoutSteps().visit(copy.deepcopy(node)) for node in defined[one]]
    always = [node for node in body if not _names_of(node)]
    used = {name, *entrance}
    queue = [*always, *(node for one in used for node in defined[one])]
    while queue:
        for each in ast.walk(queue.pop()):
            if isinstance(each, ast.Name) and each.id in defined and each.id not in used:
                used.add(each.id)
                queue += defined[each.id]
    kept = {id(node): node for one in sorted(used) for node in defined[one]}
    return ast.Module(body=[*always, *kept.values()], type_ignores=[])


def _apart(node: ast.stmt) -> list[ast.stmt]:
    """Return an import as one for each name, anything else as it is."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return [node]
    return [type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}) for alias in node.names]


class _WithoutSteps(ast.NodeTransformer):
    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return None if node.arg == "work" else self.generic_visit(node)
