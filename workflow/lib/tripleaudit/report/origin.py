"""Where the numbers of a report come from: code, versions, devices, seeds and digests, gathered from the sidecars."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit import __version__
from tripleaudit.files import read_json
from tripleaudit.provenance import git_state


@dataclass(frozen=True)
class Origin:
    """Facts of all jobs of a study, different values side by side.

    Attributes:
        report_code: version and commit that wrote the report.
        code: commits of the trainings, with a mark where files had uncommitted changes.
        versions: package -> versions.
        devices, seeds: of the trainings.
        finished: first and last time that a training ended.
        data: ``(corpus / training set, role, SHA-256)`` of what was trained on.
    """

    report_code: str
    code: list[str] = field(default_factory=list)
    versions: dict[str, list[str]] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    data: list[tuple[str, str, str]] = field(default_factory=list)


def origin_of(sidecars: Iterable[str | Path]) -> Origin:
    """Gather the facts of ``models/<run>/provenance.json`` files and of sidecars of merged scores.

    Raises:
        UserError: a file is missing or not JSON.
    """
    code, devices, seeds, finished = set(), set(), set(), set()
    versions: dict[str, set[str]] = {}
    data: dict[tuple[str, str, str], None] = {}
    for path in map(Path, sidecars):
        facts = read_json(path)
        if "files" in facts:
            data.update(dict.fromkeys(_scored(facts["files"].values())))
            continue
        code.add(commit_of(facts.get("git")))
        packages = {"tripleaudit": facts.get("version"), "python": facts.get("python"), **facts.get("packages", {})}
        for name, version in packages.items():
            if version:
                versions.setdefault(name, set()).add(str(version))
        devices.add(str(facts.get("device", "unknown")))
        if facts.get("seed") is not None:
            seeds.add(facts["seed"])
        if facts.get("finished"):
            finished.add(facts["finished"])
        where = "/".join(path.parent.parts[-5:-3])
        for role, entry in facts.get("inputs", {}).items():
            data.setdefault((where, role, str(entry.get("sha256"))))
    return Origin(
        report_code=f"tripleaudit {__version__}, {commit_of(git_state())}",
        code=sorted(code),
        versions={name: sorted(found) for name, found in sorted(versions.items())},
        devices=sorted(devices),
        seeds=[str(seed) for seed in sorted(seeds)],
        finished=[min(finished), max(finished)] if finished else [],
        data=sorted(data),
    )


def commit_of(state: Mapping[str, Any] | None) -> str:
    """Spell out the state of a checkout."""
    if not state:
        return "no git checkout"
    return f"commit {state['commit']}" + ("" if state.get("clean") else " with uncommitted changes")


def _scored(entries: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str, str]]:
    """The gold files that a merged scores file was computed from."""
    for entry in entries:
        facts = entry.get("provenance") or {}
        keys = facts.get("settings", {}).get("keys", {})
        gold = facts.get("inputs", {}).get("gold")
        if gold:
            where = "/".join(str(keys.get(name, "")) for name in ("corpus", "protocol"))
            yield f"{where}-{keys.get('testing', '')}", "test", str(gold.get("sha256"))
