"""Fixtures shared by all tests: the project's root, real data where it is at hand, and small
encoders.
"""

import difflib
import fcntl
import json
import logging
import os
import re
from pathlib import Path

import pytest
from hypothesis import settings

from support import outside
from support.outside import pytest_sessionfinish  # noqa: F401  (a hook of this module)

outside.redirect()

ROOT = Path(__file__).resolve().parents[1]

# a busy machine is no failure, nor is chance: `make fuzz` takes a seed to look further
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption(
        "--fresh",
        action="store_true",
        help="install the wheel into an environment of its own (minutes)",
    )


# Why a test may be skipped (CONTRIBUTING.md); with STRICT_SKIPS=1, as in CI, any other reason is a
# failure.
EXPECTED_SKIPS = re.compile(
    r"no real corpora|not installed|could not import|no (pdflatex|chromium|GPU|VNNI)|needs? (root|a GPU)"
    r"|only glibc|SLURM|slurm"
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and os.environ.get("STRICT_SKIPS"):
        reason = report.longrepr[2]
        if not EXPECTED_SKIPS.search(reason):
            report.outcome, report.longrepr = "failed", f"unexpected skip: {reason}"
    return report


@pytest.fixture(autouse=True)
def no_plugin_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test adds to the registries."""
    from tripleaudit.core import plugins

    monkeypatch.setenv(
        plugins.VARIABLE, ""
    )  # so that what a test sets is undone, also where nothing was set
    monkeypatch.delenv(plugins.VARIABLE)
    monkeypatch.setattr(plugins, "_loaded_plugins", set())
    for registry in plugins.registries():
        monkeypatch.setattr(registry, "_specs", dict(registry.load()))


@pytest.fixture
def logging_as_it_was():
    """Leave the logging of the test run as it was."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture
def told(capsys):
    """Run a command with ``--json`` and return what it prints."""
    from tripleaudit.cli import main

    def run(*arguments):
        capsys.readouterr()
        assert main([*map(str, arguments), "--json"]) == 0
        text = capsys.readouterr().out
        found = json.loads(text)
        assert text.splitlines()[1][:3] == '  "', "expected lines that are indented by two blanks"
        return found

    return run


@pytest.fixture
def refused(capsys):
    """Run a command that cannot work; it must say why in one sentence, which is returned."""
    from tripleaudit.cli import main

    def run(*arguments) -> str:
        capsys.readouterr()
        assert main([*map(str, arguments)]) == 1
        (sentence,) = capsys.readouterr().err.splitlines()
        assert sentence.startswith("error: ")
        return sentence

    return run


@pytest.fixture(scope="session")
def kept():
    """Compare a text with the kept one of ``tests/data/kept``: whatever changes in it is seen, and
    is to be intended.

    Long numbers are cut to six digits, as their last ones depend on the processor.
    ``TRIPLEAUDIT_KEEP=1 pytest …`` writes the files anew; ``git diff`` then shows what changed.
    """

    def compare(name: str, text: str) -> None:
        path = ROOT / "tests" / "data" / "kept" / name
        text = re.sub(r"\d+\.\d{7,}(e-\d+)?", lambda number: f"{float(number[0]):.6g}", text)
        if os.environ.get("TRIPLEAUDIT_KEEP"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        before, after = (each.splitlines() for each in (path.read_text(encoding="utf-8"), text))
        if changed := list(difflib.unified_diff(before, after, "kept", "found", lineterm="", n=8)):
            how = "if that is intended, TRIPLEAUDIT_KEEP=1 pytest … writes it anew"
            pytest.fail(
                "\n".join([f"not what {path.relative_to(ROOT)} keeps; {how}", *changed[:300]]),
                pytrace=False,
            )

    return compare


@pytest.fixture(scope="session")
def root() -> Path:
    """The top level of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real corpora: ``TRIPLEAUDIT_DATA`` or ``../shared/data``; skips where it is
    absent.
    """
    folder = Path(os.environ.get("TRIPLEAUDIT_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "webnlg").is_dir():
        pytest.skip(f"no real corpora at {folder}; set TRIPLEAUDIT_DATA to run this test")
    return folder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """A folder with all-MiniLM-L6-v2, fetched once into ``resources/downloads``."""
    pytest.importorskip("torch")
    return _model("minilm", "minilm")


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct, fetched once into ``resources/downloads``."""
    pytest.importorskip("xllamacpp", reason="xllamacpp, of the extra `serve`, is not installed")
    return _model("smollm2", "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")


def _model(name: str, place: str) -> Path:
    from tripleaudit.sources import registry
    from tripleaudit.sources.fetch import fetch

    path = ROOT / "resources" / "downloads" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.parent / f".{name}.lock", "w") as lock:  # test processes run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            entry = registry.model(name)
            fetch(entry.source, path, model=True, sha256=entry.sha256)
    return path


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory) -> Path:
    """A folder with a random two-layer BERT (width 32) and a WordPiece tokenizer, made on the
    fly.
    """
    pytest.importorskip("torch")
    from tripleaudit.testing import save_tiny_encoder

    return save_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder"))
