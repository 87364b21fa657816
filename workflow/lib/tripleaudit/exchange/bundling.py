"""``bundle``: the results of a study in one archive that others can verify, read back, compare and publish.

The archive has the layout of a study's folder; sentences are Parquet, everything else JSON, CSV and the tables' own
forms. Equal results make equal bytes: names are sorted, and nothing of the machine, the hour or an account goes in.
Weights, logs, benchmarks and training sets stay behind.
"""

import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from tripleaudit import __version__
from tripleaudit.corpora.bundled import FORMAT, MANIFEST
from tripleaudit.corpora.store import load_sentences
from tripleaudit.corpora.writers import write_parquet
from tripleaudit.errors import UserError
from tripleaudit.exchange.cards import evaluation_card, results_card
from tripleaudit.exchange.scored import runs_of_study
from tripleaudit.files import atomic_write, read_json, read_jsonl, sha256, write_json
from tripleaudit.yaml_files import read_yaml

CONTENTS: Final = (
    "predictions/**/*",
    "protocols/**/test.jsonl",
    "protocols/**/report.json",
    "counts/**/*.csv",
    "scores/**/*",
    "scores.*",
    "models/**/provenance.json",
    "models/**/history.jsonl",
    "trainings.json",
    "systems.json",
    "corpora/*/*.counts.json",
    "generative/**/*.json*",
    "gre/**/*.json",
    "gre/**/*.csv",
    "needles/**/*.json*",
    "needles/**/*.csv",
    "audits/**/*.json",
    "tables/*",
    "plots/*.json",
    "plots/*.svg",
)
OF_RUNS: Final = ("predictions", "counts", "scores", "models")  # folders that --only chooses from
SENTENCES: Final = re.compile(r"(predictions|protocols)/.*\.jsonl")
PROVENANCE: Final = re.compile(r".*(provenance|report|systems|trainings)\.json")
PATHS: Final = frozenset(
    ("path", "source", "encoder", "embedder", "model", "schema", "endpoint", "base_url", "address", "url")
)
"""Fields of provenance that name files, models and services."""
OF_SETTINGS: Final = PATHS | frozenset(
    ("raw_root", "cache", "files", "plugins", "own_extractors", "predictions", "training", "python", "prompt", "text")
    + ("triples", "factualness", "granularity", "similarities", "documents", "needle_file", "tokenizer", "lda")
)
"""The same of a study's own file."""
SECRETS: Final = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD)S?$")
EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # of every member: the earliest date that a zip archive can name
SHORTEST_SECRET: Final = 8


def write_bundle(study: Path, out: Path, config: Path | None = None, only: str = "") -> dict[str, Any]:
    """Write the archive.

    Args:
        study: ``results/STUDY``.
        out: the zip file.
        config: of the study; its settings go in with those that the provenance of every job has.
        only: keep only runs whose path has this in it, such as ``casrel/none/seed1``.

    Returns:
        The manifest.

    Raises:
        UserError: nothing was scored, a file is broken, or the value of a secret variable stands in a file.
    """
    chosen = [one for one in runs_of_study(study) if only in one.name]
    if not chosen:
        raise UserError(f"{study}: no scored run has {only!r} in its path; expected a part of predictions/…/seedN")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        for source in _sources(study, only):
            _copy(source, folder / source.relative_to(study), study)
        if config is not None:
            write_json(folder / "settings.json", portable(read_yaml(config), study, OF_SETTINGS))
        counts, name = [run.counts for run in chosen], study.resolve().name
        card = evaluation_card(folder, counts)
        write_json(folder / "genbench.json", card)
        with atomic_write(folder / "README.md") as stream:
            stream.write(results_card(folder, name, counts, [run.mark for run in chosen], card))
        _refuse_secrets(folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        manifest = {
            "format": FORMAT,
            "study": name,
            "tripleaudit": __version__,
            "files": {
                path.relative_to(folder).as_posix(): {"sha256": sha256(path), "bytes": path.stat().st_size}
                for path in files
            },
        }
        write_json(folder / MANIFEST, manifest)
        with atomic_write(out, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
            for path in sorted([*files, folder / MANIFEST]):
                member = zipfile.ZipInfo(path.relative_to(folder).as_posix(), EPOCH)
                member.compress_type, member.create_system, member.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
                archive.writestr(member, path.read_bytes())
    return manifest


def _sources(study: Path, only: str) -> Iterator[Path]:
    found = {path for pattern in CONTENTS for path in study.glob(pattern) if path.is_file()}
    for path in sorted(found):
        inside = path.relative_to(study)
        if inside.parts[0] in OF_RUNS and only not in inside.as_posix():
            continue
        if not any(part.startswith((".", "checkpoints")) for part in inside.parts):
            yield path


def _copy(source: Path, target: Path, study: Path) -> None:
    """Copy one file in the form that it has in a bundle."""
    target.parent.mkdir(parents=True, exist_ok=True)
    sentences = SENTENCES.fullmatch(source.relative_to(study).as_posix())
    if sentences and any("triples" in row for _, row in read_jsonl(source)):
        write_parquet(target.with_suffix(".parquet"), load_sentences(source))
    elif PROVENANCE.fullmatch(source.name):
        facts = read_json(source)
        if isinstance(facts, dict) and "files" in facts:  # merged scores, by their paths
            facts["files"] = {_plain(path, study): entry for path, entry in facts["files"].items()}
        write_json(target, portable(facts, study, PATHS))
    else:
        shutil.copyfile(source, target)


def portable(value: Any, study: Path, fields: frozenset[str], named: bool = False) -> Any:
    """Return JSON without paths of this machine: paths within the study from there, others by their last name.

    Addresses lose what stands before an ``@`` in them and after a ``?``. Texts are paths only below one of the
    ``fields``, or where ``named`` says so; one may name several, with commas between.
    """
    if isinstance(value, dict):
        return {key: portable(each, study, fields, named or key in fields) for key, each in value.items()}
    if isinstance(value, list):
        return [portable(each, study, fields, named) for each in value]
    return ", ".join(_plain(part, study) for part in value.split(", ")) if named and isinstance(value, str) else value


def _plain(text: str, study: Path) -> str:
    if re.match(r"[a-z][a-z0-9+.-]*://\S+$", text):
        parts = urlsplit(text)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    path = Path(os.path.expanduser(text))  # noqa: PTH111  Path's raises where there is no home
    for base in (study, study.resolve(), Path("results") / study.name):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return path.name if path.is_absolute() or ".." in path.parts else text


def _refuse_secrets(folder: Path) -> None:
    secrets = {
        name: value.encode()
        for name, value in os.environ.items()
        if SECRETS.search(name.upper()) and len(value) >= SHORTEST_SECRET
    }
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for name, value in secrets.items():
            if value in content:
                where = path.relative_to(folder)
                raise UserError(f"{where}: holds the value of {name}, which must not be published; nothing was written")
