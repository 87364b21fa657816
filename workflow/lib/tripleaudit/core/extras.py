"""Optional dependencies: the extras that install modules, and advice on missing modules."""

import importlib.metadata
import importlib.util
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

CHECKOUT = Path(__file__).resolve().parents[4]
"""Top folder of a checkout, if the package lies in one; no module of the package is needed for it."""
MODULE_NAMES = {"scikit-learn": "sklearn", "pyyaml": "yaml"}
"""Distribution -> its module, where the names differ."""
EXTRAS = (
    "hub",
    "rdf",
    "spacy",
    "track",
    "wandb",
    "train",
    "llm",
    "grescores",
    "serve",
    "workflow",
    "cluster",
)
"""Extras of the package; where several contain a module, the first of them is suggested."""
EXTRAS_OF_COMMANDS = {
    "gre-lda": "grescores",
    "gre-score": "grescores",
    "gre-systems": "grescores",
    "run": "workflow",
}
REQUIREMENT = re.compile(r"([\w.-]+)[^;]*;.*extra == ['\"](\w+)['\"]")
INCLUDED_EXTRAS = re.compile(r"tripleaudit\[([\w,]+)\][^;]*;.*extra == ['\"](\w+)['\"]")


def extras_by_module() -> dict[str, list[str]]:
    """Return module -> extras that install it, from the metadata of the package."""
    extras: dict[str, list[str]] = defaultdict(list)
    for requirement in importlib.metadata.requires("tripleaudit") or ():
        match = REQUIREMENT.match(requirement)
        if match is None:
            continue
        distribution, extra = match.groups()
        if extra in EXTRAS:
            module = MODULE_NAMES.get(distribution, distribution).replace("-", "_")
            extras[module].append(extra)
    return {module: sorted(names, key=EXTRAS.index) for module, names in extras.items()}


def missing(extra: str) -> list[str]:
    """Return the modules that are not installed of an extra and of the extras that it includes."""
    modules = []
    for module, extras in extras_by_module().items():
        if extra in extras and module != "tripleaudit":
            modules.append(module)
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    for included in sorted(_included_extras(extra)):
        absent += missing(included)
    return list(dict.fromkeys(absent))


def _included_extras(extra: str) -> set[str]:
    included: set[str] = set()
    for requirement in importlib.metadata.requires("tripleaudit") or ():
        match = INCLUDED_EXTRAS.match(requirement)
        if match is not None and match[2] == extra:
            included.update(match[1].split(","))
    return included - {extra}


def advice(missing: ModuleNotFoundError, command: str) -> str | None:
    """Return how to install a missing module; None if no extra contains it."""
    try:
        extras = extras_by_module().get((missing.name or "").partition(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return None
    if not extras:
        return None
    extra = EXTRAS_OF_COMMANDS.get(command, extras[0])
    return f"{command}: {missing.name} is not installed; run {install_command([extra])}"


def install_command(names: Iterable[str]) -> str:
    """Return the command that installs extras from where this package was installed.

    Args:
        names: the extras.
    """
    extras = ",".join(sorted(names))
    folder = source_folder()
    if folder is not None:
        target = f"{folder}[{extras}]"
    else:
        repository = _repository()
        target = f"tripleaudit[{extras}]" + (f" @ {repository}" if repository else "")
    return f"pip install '{target}'"


def source_folder() -> Path | None:
    """Return the checkout that the package runs or was installed from; None if there is none."""
    folders = [CHECKOUT]
    url = urlsplit(_origin().get("url", ""))
    if url.scheme == "file":
        folders.append(Path(unquote(url.path)))
    for folder in folders:
        if (folder / "pyproject.toml").is_file():
            return Path() if folder.samefile(Path()) else folder
    return None


def _repository() -> str | None:
    """Return the repository that pip installed the package from; None for a package index."""
    origin = _origin()
    version_control = origin.get("vcs_info", {}).get("vcs")
    return f"{version_control}+{origin['url']}" if version_control else None


def _origin() -> dict[str, Any]:
    """Return what pip recorded about the origin of the package (``direct_url.json``)."""
    try:
        text = importlib.metadata.distribution("tripleaudit").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return {}
    return json.loads(text) if text else {}
