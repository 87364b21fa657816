"""The tables, one module each: ``NAME`` (the file stem) and ``build(inputs) -> Table``. A new table is a new module.

Modules whose name starts with an underscore hold what several tables share.
"""

import importlib
import pkgutil
from collections.abc import Callable

from tripleaudit.errors import UserError
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table


def builders() -> dict[str, Callable[[TableInputs], Table]]:
    """Return table name -> builder."""
    modules = (
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
        if not info.name.startswith("_")
    )
    return {module.NAME: module.build for module in modules}


def build_table(name: str, inputs: TableInputs) -> Table:
    """Build one table.

    Raises:
        UserError: there is no table of this name.
    """
    known = builders()
    if name not in known:
        raise UserError(f"there is no table {name!r}; expected one of {', '.join(sorted(known))}")
    return known[name](inputs)
