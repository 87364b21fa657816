"""Helpers of rules: digests of the code and files behind a job, and the environment of jobs.

Functions ``*_code`` return a mapping from parts of the code to their digests. A rule passes it as a
parameter, so Snakemake reruns the job when a digest changes. :func:`command_code` covers the
command of the rule. The others cover what one job uses in addition: modules
(:func:`chosen_code`), entries of a registry (:func:`described_code`), an extractor
(:func:`extractor_code`) or a corpus (:func:`corpus_code`).
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tripleaudit.core import code
from tripleaudit.core.files import sha256
from tripleaudit.core.outputs import VARIABLE
from tripleaudit.core.plugins import Registry, Spec
from tripleaudit.corpora.spec import FORMATS
from tripleaudit.extractors.registry import class_reference
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.sources.registry import Model, RawFile, RegisteredCorpus
from tripleaudit.steps import STEPS


def command_module(command: str) -> str:
    """Return the module that a command runs."""
    return STEPS[command].function if command in STEPS else f"commands.{command.replace('-', '_')}"


def command_of(shell: str) -> str:
    """Return the command of a rule's shell text; empty if it runs none."""
    match = re.search(r"-m tripleaudit ([a-z][a-z0-9-]*)", shell)
    return match[1] if match else ""


def command_code(command: str) -> dict[str, str]:
    """Return the digests of the code of a command.

    A command that imports the matching rules applies all of them, also those of plugins; a training
    applies one, which its rule names. A command that prints labels of extractors or protocols
    depends on their descriptions.
    """
    module = command_module(command)
    parts = code.versions(module)
    if command != "train" and code.importers("scoring.spec.MATCHINGS", module):
        plugins = sorted({rule.file for rule in MATCHINGS.values() if rule.file})
        parts |= code.versions(*MATCHINGS.shipped, files=plugins) | _description_digest(MATCHINGS)
    for package, registry in (("extractors", EXTRACTORS), ("protocols", PROTOCOLS)):
        users = code.importers(f"{package}.spec.{package.upper()}", module)
        if any(not file.startswith(f"{package}/") for file in users):
            parts |= _description_digest(registry)
    return parts


def chosen_code(command: str, *modules: str, files: Iterable[str | Path] = ()) -> dict[str, str]:
    """Return the digests of modules and files that a job uses in addition to its command."""
    shared = code.versions(command_module(command))
    chosen = code.versions(*modules, files=files)
    return {part: digest for part, digest in chosen.items() if part not in shared}


def described_code(command: str, registry: Registry, *names: str) -> dict[str, str]:
    """Return the digests of registry entries: of their modules and of their fields.

    Args:
        names: of the entries; without names, all entries.
    """
    entries = [registry.need(name) for name in names or registry]
    modules = sorted({entry.module for entry in entries if not entry.file})
    files = sorted({entry.file for entry in entries if entry.file})
    return chosen_code(command, *modules, files=files) | _description_digest(registry, *names)


def _description_digest(registry: Registry, *names: str) -> dict[str, str]:
    """Return the digest of the fields of entries: labels, order, settings and their defaults.

    Empty fields are left out, so that adding a field to a spec does not change the digests of
    entries that do not use it. Paths of files are left out, because a study may be moved; the
    content of the files counts as code.
    """
    fields = {name: _described_fields(registry[name]) for name in names or registry}
    text = json.dumps(fields, sort_keys=True, default=_qualified_name)
    return {
        f"{registry.word} as described": hashlib.sha256(text.encode()).hexdigest()[: code.DIGITS]
    }


def _described_fields(entry: Spec) -> dict[str, Any]:
    fields = {key: value for key, value in vars(entry).items() if key not in ("module", "file")}
    fields = {key: value for key, value in fields.items() if value or value is None}
    model = fields.get("model")
    if model is not None and ".py:" in str(model):
        fields["model"] = Path(str(model)).name
    return fields


def _qualified_name(value: object) -> str:
    return getattr(value, "__qualname__", "") if callable(value) else repr(value)


def extractor_code(command: str, extractor: str) -> dict[str, str]:
    """Return the digests of an extractor or classifier; of all if the name is empty."""
    names = [extractor] if extractor else list(EXTRACTORS)
    sources = {class_reference(name).rpartition(":")[0] for name in names}
    files = {source for source in sources if source.endswith(".py")}
    modules = sources - files
    chosen = chosen_code(command, *sorted(modules), files=sorted(files))
    return chosen | _description_digest(EXTRACTORS, *names)


def corpus_code(
    formats: Iterable[str], corpus: RegisteredCorpus | None, split: str
) -> dict[str, str]:
    """Return the digests of the readers of a split, and of the entry of a registered corpus.

    Args:
        formats: formats of a study's own files; empty for all formats, while the format of a file
            is not yet known.
        corpus: the registered corpus; None for a study's own files.
        split: name of the split.
    """
    if corpus is None:
        return described_code("prepare", FORMATS, *formats)
    files = corpus.raw_files(split)
    formats = {file.format for file in files if file.format}
    readers = described_code("prepare", FORMATS, *formats) if formats else {}
    description = hashlib.sha256(repr((corpus, files)).encode()).hexdigest()[: code.DIGITS]
    return {**readers, f"registered {corpus.name}": description}


def pinned(source: RawFile | Model) -> str:
    """Return the SHA-256 of a fetched file or model; without one, its address."""
    return source.sha256 or str(source.source)


def content_digests(paths: Iterable[str]) -> list[str]:
    """Return ``NAME DIGEST`` of each path that is a file, in their order.

    As a parameter they rerun a job when a file was replaced by an older one: Snakemake compares the
    content of an input only if it is newer than the output.
    """
    files = [Path(path) for path in paths]
    return [
        f"{file.name} {_content_digest(file, *_state(file))}" for file in files if file.is_file()
    ]


def _state(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


@cache
def _content_digest(file: Path, size: int, changed: int) -> str:
    return sha256(file)[: code.DIGITS]


def export_study_folder(folder: str) -> None:
    """Let jobs record digests of files in a study's folder (:mod:`tripleaudit.core.outputs`)."""
    os.environ[VARIABLE] = folder


def export_environment(
    library: Path | None, gpu: str | int, share: int = 1, offline: bool = False
) -> None:
    """Let jobs on any machine find this interpreter, this package and the study's device.

    The device is passed in the environment and not as a parameter, because a job that moves to
    another device does not have to be rerun.

    Args:
        library: folder that the package is imported from; None for an installed package.
        gpu: the study's key ``gpu``.
        share: the study's key ``gpu_share``.
        offline: whether requests to the model hub fail at once, without an attempt to connect.
    """
    _set_search_path("PATH", Path(sys.executable).parent)
    _set_search_path("PYTHONPATH", library)
    os.environ["TRIPLEAUDIT_GPU"] = str(gpu)
    os.environ["TRIPLEAUDIT_GPU_SHARE"] = str(share)
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"


def _set_search_path(variable: str, first: Path | None) -> None:
    """Put a folder first in a list of folders in the environment.

    Empty entries are removed: they mean the current folder, which is that of the study, whose
    modules would be imported and programs run by accident.
    """
    folders = [folder for folder in os.environ.get(variable, "").split(os.pathsep) if folder]
    if first is not None and folders[:1] != [str(first)]:
        folders.insert(0, str(first))
    if folders:
        os.environ[variable] = os.pathsep.join(folders)
    else:
        os.environ.pop(variable, None)


def protect_imports() -> str:
    """Keep Snakemake's own processes from importing modules of the study's folder.

    On clusters, Snakemake starts itself by ``python -m snakemake`` in that folder, where Python
    would import a file ``json.py``. PYTHONSAFEPATH prevents that. Programs of jobs do not inherit
    it, unless the user has set it; the second variable says that the workflow has.

    Returns:
        The beginning of every shell command.
    """
    prefix = "set -euo pipefail; "
    if "PYTHONSAFEPATH" in os.environ and "TRIPLEAUDIT_SAFE_PATH" not in os.environ:
        return prefix
    os.environ["PYTHONSAFEPATH"] = os.environ["TRIPLEAUDIT_SAFE_PATH"] = "1"
    return f"{prefix}unset PYTHONSAFEPATH; "
