"""Shipped files: data in the package; workflow, studies and demo corpus next to it.

In a checkout the latter are in its top folder, in an installed wheel in the package's folder
``project``.
"""

import importlib.resources
from pathlib import Path

from tripleaudit.core.errors import UserError

PACKAGE = Path(str(importlib.resources.files("tripleaudit")))
DATA = PACKAGE / "data"
DEMO = "demo"  # the study of config/config.yaml
MODELS = Path("resources") / "models"
DEFAULT_MODEL = "webnlg-ten"
PROJECT = PACKAGE / "project" if (PACKAGE / "project").is_dir() else PACKAGE.parents[2]
REMOVED_STUDIES = {
    "webnlg-small": "use webnlg-ten or webnlg-central (CPU), or webnlg (GPU)",
    "webnlg-systems": "webnlg-stored and demo have its systems",
    "conll04-all": "add extractors to conll04",
    "scierc": "replace the corpus of conll04 by scierc",
    "learning-check": "write a study of your own",
    "unseen-relations": "write a study with the protocol unseen_relations",
    "instrument": "use resources/instrument/study.yaml",
    "nyt24": "papers has this corpus",
    "nyt24star": "papers has this corpus",
    "nyt29star": "papers has this corpus",
    "webnlg-gpu": "set encoder/model of webnlg to mpnet-base and its seeds to [1, 2]",
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
    candidates = [PROJECT / path]
    if path.parts[:1] == ("resources",) and len(path.parts) > 1:
        candidates.append(DATA.joinpath(*path.parts[1:]))
    for candidate in candidates:
        if candidate.exists():
            return str(candidate)
    return str(path)


def study_file(name: str | Path) -> str:
    """Return the file of a study, given as a path or as the name of a shipped one (``webnlg``).

    Raises:
        UserError: an earlier version shipped a study of this name.
    """
    name = str(name)
    path = shipped(name)
    if Path(path).exists() or Path(name).name != name:
        return path
    file_name = "config.yaml" if name == DEMO else f"{name}.yaml"
    file = PROJECT / "config" / file_name
    if file.is_file():
        return str(file)
    if name in REMOVED_STUDIES:
        raise UserError(f"{name}: this study was removed; {REMOVED_STUDIES[name]}")
    return path


def model_folder(name: str | Path) -> Path:
    """Return the folder of a model, given as a path or as the name of a shipped one."""
    given, own = Path(name), PROJECT / MODELS / name
    is_name = given.name == str(name)
    return own if is_name and not given.exists() and own.is_dir() else given


def models() -> list[str]:
    """Return the names of the models that ship with the project."""
    return sorted(path.parent.name for path in (PROJECT / MODELS).glob("*/config.json"))


def studies() -> list[str]:
    """Return the names of the studies that ship with the project."""
    names = [path.stem for path in (PROJECT / "config").glob("*.yaml")]
    return sorted(DEMO if name == "config" else name for name in names)
