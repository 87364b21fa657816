"""Plots of a study, one module each: ``NAME`` (the file stem) and ``draw(inputs) -> Vega-Lite
specification``.

A new plot is a new module. Its specification is a ``concat`` of panels
(:mod:`tripleaudit.tables.panels`).
"""

import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write
from tripleaudit.tables import panels
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.loading import load_inputs


def plots() -> dict[str, Callable[[TableInputs], dict[str, Any]]]:
    """Return plot name -> function that draws it."""
    modules = (
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
    )
    return {module.NAME: module.draw for module in modules}


def write_plot(name: str, inputs: TableInputs, path: str | Path) -> None:
    """Draw one plot as ``PATH.svg`` and, for the report's page, ``PATH.json``; equal inputs give
    equal bytes.

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


def make_study_plot(
    name: str,
    out: str | Path,
    scores: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    runs: Sequence[str | Path] = (),
    curves: Sequence[str | Path] = (),
    history: Sequence[str | Path] = (),
    predictions: Sequence[str | Path] = (),
    options: Mapping[str, Any] | None = None,
) -> None:
    """Draw one plot of a study from files of each kind; see :func:`write_plot`."""
    from tripleaudit.tables.plots.time_memory import benchmarks_of

    files = {"curves": curves, "history": history, "benchmarks": benchmarks_of(predictions)}
    write_plot(
        name,
        load_inputs(scores=scores, counts=counts, runs=runs, options=options, files=files),
        out,
    )
