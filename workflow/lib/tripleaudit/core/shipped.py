"""Shipped files: data in the package; workflow, studies and demo corpus next to it.

In a checkout the latter lie where their names say; an installed wheel carries them inside the
package, in ``project``.
"""

import importlib.resources
from pathlib import Path

from tripleaudit.core.errors import UserError

PACKAGE = Path(str(importlib.resources.files("tripleaudit")))
DATA = PACKAGE / "data"
DEMO = "demo"  # the study of config/config.yaml
PROJECT = PACKAGE / "project" if (PACKAGE / "project").is_dir() else PACKAGE.parents[2]
REMOVED_STUDIES = {
    "webnlg-small": "use webnlg-ten or webnlg-central (CPU), or webnlg (GPU)",
    "webnlg-systems": "webnlg-stored and demo have its systems",
    "conll04-all": "add extractors to conll04",
    "scierc": "replace the corpus of conll04 by scierc",
    "learning-check": "write a study of your own",
    "unseen-relations": "write a study with the protocol unseen_relations",
    "instrument": "use resources/instrument/study.yaml",
}
"""What to use in place of the studies that earlier versions shipped."""


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
    """Return the file of a study, given as a path or as the name of a shipped one (``webnlg``).

    Raises:
        UserError: an earlier version shipped a study of this name.
    """
    given, found = Path(name), shipped(name)
    if not Path(found).exists() and given.name == str(name):
        own = PROJECT / "config" / f"{'config' if name == DEMO else name}.yaml"
        if str(name) in REMOVED_STUDIES and not own.is_file():
            raise UserError(f"{name}: this study was removed; {REMOVED_STUDIES[str(name)]}")
        return str(own) if own.is_file() else found
    return found


def studies() -> list[str]:
    """Return the names of the studies that ship with the project."""
    return sorted(
        DEMO if path.stem == "config" else path.stem for path in (PROJECT / "config").glob("*.yaml")
    )
