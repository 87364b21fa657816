"""Origin of the numbers of a report: code, versions, devices, seeds and digests."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tripleaudit.core.files import read_json
from tripleaudit.core.provenance import git_state
from tripleaudit.core.version import __version__
from tripleaudit.report.study_files import StudyFacts
from tripleaudit.tables.labels import SETTINGS_NOTE
from tripleaudit.tables.study_facts import describe_encoder


class Origin(NamedTuple):
    """Facts of all jobs of a study, different values side by side."""

    report_code: str
    """Version and commit that wrote the report."""
    entries: list[tuple[str, list[str]]]
    """Heading and values: commits of the trainings, versions of packages, devices, seeds,
    settings …
    """
    data: list[tuple[str, str, str]]
    """``(corpus / training set, role, SHA-256)`` of what was trained on and tested with."""


def origin_of(sidecars: Iterable[str | Path], study: StudyFacts) -> Origin:
    """Gather the facts of ``models/<run>/provenance.json`` files and of sidecars of merged scores.

    ``trainings.json`` has the facts of trainings behind stored predictions.

    Raises:
        UserError: a file is missing or not JSON.
    """
    code: set[str] = set()
    devices: set[str] = set()
    seeds: set[int] = set()
    finished: set[str] = set()
    encoders: set[str] = set()
    versions: dict[str, set[str]] = {}
    data: set[tuple[str, str, str]] = set()
    for path in map(Path, sidecars):
        facts = read_json(path)
        if isinstance(facts, list):
            encoders |= {describe_encoder(fact) for fact in facts if fact.get("encoder")}
            devices |= {str(fact["device"]) for fact in facts if fact.get("device")}
            finished |= {fact["finished"] for fact in facts if fact.get("finished")}
            continue
        if "files" in facts:
            data.update(_scored(facts["files"].values()))
            continue
        code.add(commit_of(facts.get("git")))
        packages = {
            "tripleaudit": facts.get("version"),
            "python": facts.get("python"),
            **facts.get("packages", {}),
        }
        for name, version in packages.items():
            if version:
                versions.setdefault(name, set()).add(str(version))
        devices.add(str(facts.get("device", "unknown")))
        if facts.get("command") == "train":
            encoders.add(describe_encoder(facts))
        seeds |= {facts["seed"]} if facts.get("seed") is not None else set()
        finished |= {facts["finished"]} if facts.get("finished") else set()
        where = "/".join(path.parent.parts[-5:-3])
        data |= {
            (where, role, str(entry.get("sha256")))
            for role, entry in facts.get("inputs", {}).items()
        }
    report_code = f"tripleaudit {__version__}, {commit_of(git_state())}"
    entries = [
        ("Report", [report_code]),
        ("Trainings", sorted(code)),
        (
            "Finished",
            [" to ".join(dict.fromkeys((min(finished), max(finished))))] if finished else [],
        ),
        ("Encoders", sorted(encoders)),
        ("Devices", sorted(devices)),
        ("Seeds", list(map(str, sorted(seeds) or study.seeds))),
        (
            "Settings",
            [setting.upper() for setting in study.settings]
            + [SETTINGS_NOTE] * bool(study.settings),
        ),
        (
            "Versions",
            [f"{name} {' and '.join(sorted(found))}" for name, found in sorted(versions.items())],
        ),
        ("Configuration", [f"SHA-256 {study.config_sha256}"] if study.config_sha256 else []),
    ]
    return Origin(report_code, entries, sorted(data))


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
