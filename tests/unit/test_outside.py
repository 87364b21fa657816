"""A run of tests that writes outside its folders fails."""

import os
import subprocess
import sys

import pytest

from support import outside
from support.workflow import ROOT

CONFTEST = """
import sys
sys.path[:0] = [{tests!r}, {package!r}]
from support import outside
outside.redirect()
from support.outside import pytest_sessionfinish
"""


@pytest.mark.parametrize(
    ("statements", "messages"),
    [
        ("(Path.home() / '.cache').mkdir()", ()),
        (
            "(Path.home() / 'left.txt').touch(); (Path(GIVEN) / 'tripleaudit-0.lock').touch()",
            ("written into the home folder: left.txt", "written into the temporary folder: "),
        ),
    ],
)
def test_a_run_fails_that_leaves_files_in_the_home_or_temporary_folder(
    tmp_path, statements, messages
):
    given = tmp_path / "given"
    given.mkdir()
    run = tmp_path / "run"
    run.mkdir()
    paths = {"tests": str(ROOT / "tests"), "package": str(ROOT / "workflow" / "lib")}
    (run / "conftest.py").write_text(CONFTEST.format(**paths), encoding="utf-8")
    code = f"from pathlib import Path\nGIVEN = {str(given)!r}\n\ndef test_a():\n    {statements}\n"
    (run / "test_a.py").write_text(code, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != outside.VARIABLE}
    environment |= {"TMPDIR": str(given), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    finished = subprocess.run(
        [*command, str(run)], env=environment, cwd=run, capture_output=True, text=True
    )
    assert finished.returncode == (1 if messages else 0), finished.stdout + finished.stderr
    assert all(message in finished.stdout for message in messages)
