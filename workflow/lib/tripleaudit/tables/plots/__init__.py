"""Plots of a study: modules with ``NAME`` (the file stem) and ``draw(inputs)``.

A new plot is a new module. Its specification is a ``concat`` of panels
(:mod:`tripleaudit.tables.panels`).
"""

import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write
from tripleaudit.tables import panels
from tripleaudit.tables.building import ResultFiles, ResultReader
from tripleaudit.tables.inputs import TableInputs

NEEDS = {"lost-in-the-middle": "needles"}
"""Plot -> the part of a study whose scores it draws; all others draw those of extraction."""


def plots() -> dict[str, Callable[[TableInputs], dict[str, Any]]]:
    """Return plot name -> function that draws it."""
    modules = (
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
    )
    return {module.NAME: module.draw for module in modules}


def write_plot(name: str, inputs: TableInputs, path: str | Path) -> None:
    """Draw one plot as ``PATH.svg`` and as ``PATH.json`` for the report's page.

    Equal inputs give equal bytes.

    Raises:
        UserError: there is no plot of this name, or the path has another ending.
    """
    known = plots()
    if name not in known:
        raise UserError(f"there is no plot {name!r}; expected one of {', '.join(sorted(known))}")
    if Path(path).suffix != ".svg":
        raise UserError(f"{path}: expected a file that ends in .svg")
    spec = known[name](inputs)
    with atomic_write(Path(path).with_suffix(".json")) as stream:
        json.dump(spec, stream, indent=1)
        stream.write("\n")
    with atomic_write(path) as stream:
        stream.write(panels.to_svg(spec))


def make_plots(files: ResultFiles, plots: Mapping[str, Mapping[str, Any]], out: str | Path) -> None:
    """Draw the plots of a study into a folder; see :func:`write_plot`.

    Args:
        files: that plots are made from.
        plots: name of a plot -> options of the table next to which it stands.
        out: folder of ``NAME.svg`` and ``NAME.json``.

    Raises:
        UserError: some plots cannot be drawn; the others are written before, and the message has
            one line for each that failed.
    """
    reader = ResultReader(files)
    problems = []
    for name, options in plots.items():
        try:
            inputs = reader.inputs(NEEDS.get(name, "scores"), options)
            write_plot(name, inputs, Path(out) / f"{name}.svg")
        except UserError as error:
            problems.append(f"plot {name}: {error}")
    if problems:
        raise UserError("\n".join(problems))
