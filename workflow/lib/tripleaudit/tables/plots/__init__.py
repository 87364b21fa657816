"""Plots of a study as SVG, one module each: ``NAME`` (the file stem) and ``draw(inputs) -> matplotlib Figure``.

A new plot is a new module; modules whose name starts with an underscore hold what several plots share. matplotlib is
imported by the functions that draw, never by importing this package.
"""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write
from tripleaudit.tables.evidence import TableInputs


def plots() -> dict[str, Callable[[TableInputs], Any]]:
    """Return plot name -> function that draws it."""
    modules = (
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
        if not info.name.startswith("_")
    )
    return {module.NAME: module.draw for module in modules}


def write_plot(name: str, inputs: TableInputs, path: str | Path) -> None:
    """Draw one plot and write it as SVG, atomically; equal inputs give equal bytes.

    Raises:
        UserError: there is no plot of this name.
    """
    known = plots()
    if name not in known:
        raise UserError(f"there is no plot {name!r}; expected one of {', '.join(sorted(known))}")
    from tripleaudit.tables.plots import _style

    with _style.applied(salt=name):
        figure = known[name](inputs)
        with atomic_write(path) as stream:
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": "tripleaudit"})
        _style.close(figure)
