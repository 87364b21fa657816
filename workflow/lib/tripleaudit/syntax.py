"""What is in the source of one module: what runs, what it imports, what it calls with which texts."""

import ast
import contextlib
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
            beginning of one that it hands over in a call); ``DATA / "name"`` counts as a call, a variable at the top
            of the module as the strings that it holds.
    """

    digest: str
    imports: list[str]
    uses: list[tuple[str, str, str]]


def analysed(tree: ast.Module, module: str, is_package: bool = False) -> Module:
    """Return what is in the source of a module."""
    tree = _Running().visit(tree)
    tree.body = [node for node in tree.body if not _only_says(node, tree)]
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
        return None if ast.unparse(node.targets[0]) == "parser.description" else self.generic_visit(node)

    def _without_docstring(self, node):
        self.generic_visit(node)
        node.body = [
            part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        ]
        return node

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = _without_docstring


def _only_says(node: ast.stmt, tree: ast.Module) -> bool:
    """Whether a statement at the top of a module names its version or says what it does, and the module reads neither.

    Of other modules none but the way in reads them.
    """
    names = _names_of(node)
    if names not in (["__version__"], ["HELP"], ["DESCRIPTION"]):
        return False
    read = (
        isinstance(each, ast.Name) and each.id == names[0] and isinstance(each.ctx, ast.Load) for each in _walk(tree)
    )
    return not any(read) and not any(map(_looks_up, ast.walk(tree)))


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


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, with those that strings in annotations of classes and functions stand for.

    Libraries evaluate these, such as a dataclass's or a setting's, and not those of variables at the top of a module.
    """
    for each in ast.walk(node):
        yield each
        variable = each is node and isinstance(each, ast.AnnAssign)
        found = () if variable else (getattr(each, "annotation", None), getattr(each, "returns", None))
        for annotation in filter(None, found):
            for part in ast.walk(annotation):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    with contextlib.suppress(SyntaxError):  # a text, as in Literal["a b"]
                        yield from ast.walk(ast.parse(part.value.strip(), mode="eval"))


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
        elif isinstance(node, ast.Call) and node.args and isinstance(text := node.args[0], ast.Constant):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in ("import_module", "__import__", "load_attribute"):
                yield "", str(text.value).partition(":")[0]


def _used(tree: ast.Module, module: str, imported: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield :attr:`Module.uses`."""
    own = {_name_of(top): top for top in tree.body}
    texts = {name: _texts(top.value, {}) for name, top in own.items() if isinstance(top, ast.Assign | ast.AnnAssign)}

    def full(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return imported.get(node.id, f"{module}.{node.id}" if node.id in own else "")
        if isinstance(node, ast.Attribute) and (before := full(node.value)):
            return f"{before}.{node.attr}"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return full(node.left)
        return ""

    for top in tree.body:
        owner = _name_of(top)
        loops = (each for each in ast.walk(top) if isinstance(each, ast.For | ast.comprehension))
        several = (each for each in loops if not isinstance(each.iter, ast.Constant))
        known = texts | {getattr(each.target, "id", ""): _texts(each.iter, texts) for each in several}
        for node in _walk(top):
            given: list[ast.expr] = []
            if isinstance(node, ast.Call):
                given = [*node.args, *(word.value for word in node.keywords)]
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                given = [node.right]
            named = getattr(node, "func", None) or getattr(node, "left", None) or node
            name = full(named) if isinstance(named, ast.expr) else ""
            if isinstance(node, ast.FunctionDef) and node is top:  # a default is handed over, too
                name, given = f"{module}.{owner}", [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            if name.startswith(f"{PACKAGE}."):
                handed = (text for each in given for text in _texts(each, known))
                yield from ((owner, name, text) for text in {"", *handed})


def _name_of(top: ast.stmt) -> str:
    """Return the one name that a statement at the top of a module binds, empty for none or several."""
    names = _names_of(top)
    return names[0] if len(names) == 1 else ""


def _names_of(top: ast.stmt) -> list[str]:
    """Return the names that a statement at the top of a module binds; none for one that does anything else."""
    if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [top.name]
    if isinstance(top, ast.Import | ast.ImportFrom):
        names = [(alias.asname or alias.name).partition(".")[0] for alias in top.names]
        return [] if "*" in names else names
    if not isinstance(top, ast.Assign | ast.AnnAssign):
        return []
    targets = top.targets if isinstance(top, ast.Assign) else [top.target]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _texts(node: ast.expr | None, known: dict[str, list[str]]) -> list[str]:
    """Return the strings that an expression may stand for, of one that is put together the beginning and ``*``.

    Args:
        known: variable -> strings that it holds.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value] if re.fullmatch(r"[\w./-]*", node.value) else []
    if isinstance(node, ast.JoinedStr):
        begun = [""]
        for place, part in enumerate(node.values):
            value = part.value if isinstance(part, ast.FormattedValue) else part
            if not (found := _texts(value, known)):
                begun = [f"{text}*" for text in begun if text] if place else []
                break
            begun = [text + more for text in begun for more in found]
        return [*begun, *(f"{text}*" for text in _texts(node.values[0], {}) if text)]  # more than is seen, perhaps
    if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
        parts = node.values if isinstance(node, ast.Dict) else node.elts
        return [text for part in parts for text in _texts(part, known)]
    if isinstance(node, ast.Subscript):
        return _texts(node.value, known)
    return known.get(node.id, []) if isinstance(node, ast.Name) else []


def only_used(tree: ast.Module, name: str) -> ast.Module:
    """Return a module with what one of its functions, classes or variables uses of it, and what always runs.

    Always run, besides statements that bind no name, those that may alter what other names stand for: a definition
    under a decorator of the package, a class whose base or metaclass adds it somewhere, and a call of a method of a
    variable. All counts of a module that looks its names up (``globals()``).

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
    always = [node for node in body if not _names_of(node) or _alters(node, defined)]
    used = {name, *entrance}
    queue = [*always, *(node for one in used for node in defined[one])]
    while queue:
        for each in _walk(queue.pop()):
            if _looks_up(each):
                return tree
            if isinstance(each, ast.Name) and each.id in defined and each.id not in used:
                used.add(each.id)
                queue += defined[each.id]
    kept = {id(node): node for one in sorted(used) for node in defined[one]}
    return ast.Module(body=[*(node for node in always if id(node) not in kept), *kept.values()], type_ignores=[])


def _alters(node: ast.stmt, defined: dict[str, list[ast.stmt]]) -> bool:
    """Whether a statement that binds names may do more, such as to register a function."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return any(not _is_foreign(_root(one), defined) for one in node.decorator_list) or (
            isinstance(node, ast.ClassDef)
            and any(_hears(_root(base), defined) for base in (*node.bases, *(word.value for word in node.keywords)))
        )
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    roots = {_root(each) for each in calls if isinstance(each, ast.Attribute)}
    return any(isinstance(made, ast.Assign | ast.AnnAssign) for root in roots for made in defined.get(root, ()))


def _root(node: ast.expr) -> str:
    """Return the name that an expression begins with."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_foreign(name: str, defined: dict[str, list[ast.stmt]]) -> bool:
    """Whether a name comes from outside the package, or is Python's own."""
    return all(
        isinstance(made, ast.Import | ast.ImportFrom)
        and not getattr(made, "level", 0)
        and not (getattr(made, "module", "") or made.names[0].name).startswith(PACKAGE)
        for made in defined.get(name, ())
    )


def _hears(name: str, defined: dict[str, list[ast.stmt]]) -> bool:
    """Whether a class of the module, or one that it is made of, hears of each class made of it: a metaclass does."""
    classes = [made for made in defined.get(name, ()) if isinstance(made, ast.ClassDef)]
    bases = {_root(base) for made in classes for base in made.bases} - {name}
    heard = any(getattr(part, "name", "") == "__init_subclass__" for made in classes for part in made.body)
    return heard or "type" in bases or any(_hears(base, defined) for base in bases)


def _looks_up(node: ast.AST) -> bool:
    """Whether a node looks names of its own module up by strings."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("globals", "eval", "exec") or (node.func.id == "vars" and not node.args)
    return isinstance(node, ast.Subscript) and ast.unparse(node) == "sys.modules[__name__]"


def _apart(node: ast.stmt) -> list[ast.stmt]:
    """Return an import as one for each name, anything else as it is."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return [node]
    return [type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}) for alias in node.names]


class _WithoutSteps(ast.NodeTransformer):
    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return None if node.arg == "work" else self.generic_visit(node)
