"""Home and temporary folders of a test run: their own ones, which are watched, so that nothing
is written elsewhere.
"""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

GIVEN = "TRIPLEAUDIT_GIVEN_TEMPORARY"  # the temporary folder that the run was given
OWNER = "TRIPLEAUDIT_TEST_PROCESS"  # the id of the process that started the run
OURS = ("tripleaudit", "triple-audit")  # beginnings of names that this project would write there
VARIABLE = "TRIPLEAUDIT_TEST_FOLDER"  # set by the process that started the run, for its workers and their children
READ_FROM_HOME = {"GIT_CONFIG_GLOBAL": ".gitconfig", "PIP_CONFIG_FILE": ".config/pip/pip.conf"}


def redirect() -> None:
    """Give this test run a home and a temporary folder of its own; workers share those of the
    run.
    """
    if VARIABLE in os.environ:
        return
    temporary, home = Path(tempfile.gettempdir()), Path.home()
    folder = Path(tempfile.mkdtemp(prefix="ta-tests-"))  # short, because sockets lie in it
    os.environ[VARIABLE] = str(folder)
    os.environ[GIVEN] = str(temporary)
    os.environ[OWNER] = str(os.getpid())
    _present.update(files_in_temporary())
    for variable, name in READ_FROM_HOME.items():
        if (home / name).is_file():
            os.environ.setdefault(variable, str(home / name))
    os.environ.setdefault(
        "PIP_CACHE_DIR", str(home / ".cache" / "pip")
    )  # of the wheel test, which installs PyTorch
    os.environ.setdefault("RUSTUP_HOME", str(home / ".rustup"))  # pip asks rustc for its version
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(
        temporary
    )  # where pytest keeps the folders of its last runs
    for variable, name in (("HOME", "home"), ("TMPDIR", "tmp")):
        (folder / name).mkdir()
        os.environ[variable] = str(folder / name)
    os.environ["WANDB_CACHE_DIR"] = str(folder / "tmp" / "wandb")
    os.environ["TRIPLEAUDIT_LOCKS"] = str(folder / "tmp" / "locks")
    tempfile.tempdir = None  # it is looked up again


def files_in_home() -> list[str]:
    """Return the files that the tests have written into their home folder, by their paths in it."""
    home = Path(os.environ[VARIABLE]) / "home"
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


_present: set[str] = set()  # in the given temporary folder before the run


def files_in_temporary() -> set[str]:
    """Return what the given temporary folder has of this project, by name.

    Other programs write there, too, so that only names of this project count.
    """
    names = (path.name for path in Path(os.environ[GIVEN]).iterdir())
    return {name for name in names if name.startswith(OURS)}


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if a test has left files outside, and remove the folders of the run."""
    if os.environ.get(OWNER) != str(os.getpid()):
        return  # a worker or a test's own pytest; the process that started the run looks
    left = {"home": files_in_home(), "temporary": sorted(files_in_temporary() - _present)}
    for folder, names in left.items():
        if names:
            print(f"\nwritten into the {folder} folder: {', '.join(names[:10])}")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    remove()


def remove() -> None:
    """Remove the folders of this test run."""
    shutil.rmtree(os.environ.pop(VARIABLE), ignore_errors=True)
