"""What the modules of the package import, by their syntax trees."""

import ast
import re
from pathlib import Path

from tripleaudit.core.shipped import PACKAGE


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


MODULES = {
    module_of(path): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if PACKAGE / "project" not in path.parents
}


def imports_of(module: str, with_types: bool = False) -> set[str]:
    """Return what a module imports anywhere, in functions too.

    Args:
        with_types: count imports that only type checkers see.
    """
    names = set()
    text = MODULES[module].read_text("utf-8")
    if not with_types:
        text = re.sub(r"^if TYPE_CHECKING:\n(?:    .*\n|\n)+", "", text, flags=re.MULTILINE)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                names.add(name if name in MODULES else node.module)
    return names


IMPORTS = {module: imports_of(module) for module in MODULES}
INSIDE = {module: {name for name in names if name in MODULES} for module, names in IMPORTS.items()}
