"""What the workflow's jobs need of the package: the code behind each rule, and the environment."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tripleaudit import code
from tripleaudit.descriptors import EXTRACTORS, FORMATS, MATCHINGS, PROTOCOLS
from tripleaudit.extractors.registry import class_reference
from tripleaudit.fields import CHECKED
from tripleaudit.registries import Registry
from tripleaudit.sources.registry import Model, RawFile, RegisteredCorpus
from tripleaudit.steps import STEPS


def entry(command: str) -> str:
    """Return the module that a command, or a step, runs."""
    return STEPS[command].function if command in STEPS else f"commands.{command.replace('-', '_')}"


def command_of(shell: str) -> str:
    """Return the command that a rule's shell text calls; empty if it calls none."""
    found = re.search(r"-m tripleaudit ([a-z][a-z0-9-]*)", shell)
    return found[1] if found else ""


def rule_code(shell: str) -> list[tuple[str, str]]:
    """Return (part, digest) of the code behind a rule; as parameters, they make its jobs run again if one changes.

    Besides the modules these are the plugins that add matching rules and what descriptors say of these, where the
    command applies them all, and what descriptors say of extractors and protocols, where the command prints it.
    """
    command = command_of(shell)
    if not command:
        return []
    used = entry(command)
    # a command that imports the matching rules applies all of them; a training applies the one that its rule names
    every = command != "train" and bool(code.importers("descriptors.MATCHINGS", used))
    own = sorted({rule.file for rule in MATCHINGS.values() if every and rule.file})
    found = code.versions(used, *MATCHINGS.homes * every, files=own) | (described(MATCHINGS) if every else {})
    for name, registry in (("EXTRACTORS", EXTRACTORS), ("PROTOCOLS", PROTOCOLS)):
        if any(not module.startswith(name.lower()) for module in code.importers(f"descriptors.{name}", used)):
            found |= described(registry)
    return list(found.items())


def described(registry: Registry, *names: str) -> dict[str, str]:
    """Return the digest of what descriptors say in words and numbers: labels, order, settings, their defaults too.

    Where a file lies decides nothing; what it holds counts as code. What is empty says nothing, so that a further field
    of a kind alters no entry that leaves it so.
    """
    said: dict[str, dict[str, Any]] = {
        name: {key: v for key, v in vars(registry[name]).items() if (v or v is None) and key not in ("module", "file")}
        for name in names or registry
    }
    for each in said.values():
        if isinstance(each.get("model"), str) and ".py:" in each["model"]:
            each["model"] = Path(each["model"]).name
    text = json.dumps(said, sort_keys=True, default=_named)
    return {f"{registry.word} as described": hashlib.sha256(text.encode()).hexdigest()[: code.DIGITS]}


def _named(value: object) -> str:
    return getattr(value, "__qualname__", "") if callable(value) else repr(value)


def chosen_code(command: str, *modules: str, files: Iterable[str | Path] = ()) -> dict[str, str]:
    """Return module or file -> digest of what one job uses beyond its command, such as its extractor or its table."""
    shared = code.versions(entry(command))
    return {name: part for name, part in code.versions(*modules, files=files).items() if name not in shared}


def described_code(command: str, registry: Registry, *names: str) -> dict[str, str]:
    """Return :func:`chosen_code` of what descriptors bring, those of the names or all."""
    chosen = [registry.need(name) for name in names or registry]
    files = {one.file for one in chosen if one.file}
    found = chosen_code(command, *(one.module for one in chosen if not one.file), files=sorted(files))
    return found | described(registry, *names)


def extractor_code(command: str, extractor: str) -> dict[str, str]:
    """Return :func:`chosen_code` of an extractor or classifier, of all of them where ``extractor`` is empty."""
    names = [extractor] if extractor else list(EXTRACTORS)
    chosen = {class_reference(name).rpartition(":")[0] for name in names}
    files = {one for one in chosen if one.endswith(".py")}
    return chosen_code(command, *sorted(chosen - files), files=sorted(files)) | described(EXTRACTORS, *names)


def corpus_code(formats: Iterable[str], entry: RegisteredCorpus | None, split: str) -> dict[str, str]:
    """Return :func:`chosen_code` of the readers of a split, and of a registered corpus how it is made of files.

    Args:
        formats: of files of one's own; none for files of which it is not known yet, so that it may be any.
        entry: the registered corpus, None for files of one's own.
    """
    if entry is None:
        return described_code("prepare", FORMATS, *formats)
    files = entry.raw_files(split)
    formats = {file.format for file in files if file.format}
    found = described_code("prepare", FORMATS, *formats) if formats else {}
    made = hashlib.sha256(repr((entry, files)).encode()).hexdigest()[: code.DIGITS]
    return {**found, f"registered {entry.name}": made}


def pinned(entry: RawFile | Model) -> str:
    """Return what decides the bytes of something fetched: their digest, else where they come from."""
    return entry.sha256 or str(entry.source)


def export_environment(library: Path | None, gpu: str | int, share: int = 1, offline: bool = False) -> None:
    """Let every job, on this machine or a cluster node, find this interpreter, this package and the study's device.

    ``library`` is the folder that the package is imported from, None where it is installed. Jobs do not check again
    what was checked when the study was read (:meth:`tripleaudit.fields.Section.checked`).
    Where a job runs does not decide what it computes, so the device is no parameter that would rerun it. With
    ``offline``, libraries that would ask the model hub for something do not try, and fail at once instead of waiting.
    """
    chosen = {"PATH": Path(sys.executable).parent} | ({"PYTHONPATH": library} if library else {})
    for name, first in ((name, str(folder)) for name, folder in chosen.items()):
        known = os.environ.get(name, "").split(os.pathsep)
        if known[0] != first:
            os.environ[name] = os.pathsep.join(filter(None, [first, *known]))
    os.environ[CHECKED] = "1"
    os.environ["TRIPLEAUDIT_GPU"] = str(gpu)
    os.environ["TRIPLEAUDIT_GPU_SHARE"] = str(share)
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
