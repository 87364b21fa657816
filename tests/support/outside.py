"""Home and temporary folders of a test run: their own ones, which are watched, so that nothing
is written elsewhere.
"""

import os
import shutil
import tempfile
from pathlib import Path

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


def remove() -> None:
    """Remove the folders of this test run."""
    shutil.rmtree(os.environ.pop(VARIABLE), ignore_errors=True)
