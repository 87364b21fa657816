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


def imports_of(module: str) -> set[str]:
    """Modules of the package that one imports anywhere, in functions too not for types alone,
    and of others.
    """
    found = set()
    text = re.sub(
        r"^if TYPE_CHECKING:\n(?:    .*\n|\n)+",
        "",
        MODULES[module].read_text("utf-8"),
        flags=re.MULTILINE,
    )
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.add(name if name in MODULES else node.module)
    return found


IMPORTS = {module: imports_of(module) for module in MODULES}
INSIDE = {module: {name for name in names if name in MODULES} for module, names in IMPORTS.items()}
