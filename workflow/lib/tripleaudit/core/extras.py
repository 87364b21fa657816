"""Optional dependencies: which extra brings a module, and the command that installs it."""

import importlib.metadata
import importlib.util
import re
from collections import defaultdict

MODULES = {
    "scikit-learn": "sklearn",
    "pyyaml": "yaml",
}  # distributions whose module has another name
ORDER = (
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
)  # the smallest that will do first
OF_COMMAND = {
    "gre-lda": "grescores",
    "gre-score": "grescores",
    "gre-systems": "grescores",
    "run": "workflow",
}
EXTRA = re.compile(r"tripleaudit\[([\w,]+)\][^;]*;.*extra == ['\"](\w+)['\"]")


def extras_by_module() -> dict[str, list[str]]:
    """Return ``{module: extras that bring it}`` by the package's metadata, direct ones first."""
    found: dict[str, list[str]] = defaultdict(list)
    for requirement in importlib.metadata.requires("tripleaudit") or ():
        match = re.match(r"([\w.-]+)[^;]*;.*extra == ['\"](\w+)['\"]", requirement)
        if match and match[2] in ORDER:
            found[MODULES.get(match[1], match[1]).replace("-", "_")].append(match[2])
    return {module: sorted(extras, key=ORDER.index) for module, extras in found.items()}


def missing(extra: str) -> list[str]:
    """Return the modules of an extra, and of those that it names, that are not installed."""
    named = [
        match
        for text in importlib.metadata.requires("tripleaudit") or ()
        if (match := EXTRA.match(text))
    ]
    inner = {name for match in named if match[2] == extra for name in match[1].split(",")} - {extra}
    own = [
        module
        for module, extras in extras_by_module().items()
        if extra in extras and module != "tripleaudit"
    ]
    absent = [module for module in own if importlib.util.find_spec(module) is None]
    return list(
        dict.fromkeys([*absent, *(module for name in sorted(inner) for module in missing(name))])
    )


def advice(missing: ModuleNotFoundError, command: str) -> str | None:
    """Return how to install a missing module; None if no extra brings it."""
    try:
        extras = extras_by_module().get((missing.name or "").partition(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return None
    if not extras:
        return None
    extra = OF_COMMAND.get(command, extras[0])
    return f"{command}: {missing.name} is not installed; expected what this brings: pip install 'tripleaudit[{extra}]'"
