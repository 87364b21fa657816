"""Shipped files: data in the package; workflow, studies and demo corpus next to it.

In a checkout the latter lie where their names say; an installed wheel carries them inside the
package, in ``project``.
"""

import importlib.resources
from pathlib import Path

PACKAGE = Path(str(importlib.resources.files("tripleaudit")))
DATA = PACKAGE / "data"
DEMO = "demo"  # the study of config/config.yaml
PROJECT = PACKAGE / "project" if (PACKAGE / "project").is_dir() else PACKAGE.parents[2]


def shipped(path: str | Path) -> str:
    """Return ``path`` if it exists, else the shipped file of that name, else ``path``.

    A study may run in any folder (installed, as a Snakemake module, or with ``--directory``); files
    under ``resources/`` are then taken from the project itself: ``resources/prompts/closed.yaml``
    is ``prompts/closed.yaml`` of the package's data.
    """
    path = Path(path)
    if path.is_absolute() or path.exists():
        return str(path)
    data = DATA.joinpath(*path.parts[1:]) if path.parts[:1] == ("resources",) else DATA
    other = [data] if data != DATA else []
    return str(next((one for one in (PROJECT / path, *other) if one.exists()), path))


def study_file(name: str | Path) -> str:
    """Return the file of a study, given as a path or as the name of a shipped one (``webnlg``)."""
    given, found = Path(name), shipped(name)
    if not Path(found).exists() and given.name == str(name):
        own = PROJECT / "config" / f"{'config' if name == DEMO else name}.yaml"
        return str(own) if own.is_file() else found
    return found


def studies() -> list[str]:
    """Return the names of the studies that ship with the project."""
    return sorted(
        DEMO if path.stem == "config" else path.stem for path in (PROJECT / "config").glob("*.yaml")
    )
