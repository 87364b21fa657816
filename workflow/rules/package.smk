# Import path of the package: next to these rules, from the repository they are read from, or installed.
import importlib.util
import os
import sys
import tarfile
import tempfile
from pathlib import Path

import git
from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import HostingProviderFile, LocalGitFile, LocalSourceFile


def package_folder(here):
    """Return the folder to import the package from; None if it has to be installed already.

    Rules that Snakemake reads from a repository (`github(...)`, `gitfile(...)`) come without the
    package; its files are unpacked once per commit into the user's cache.
    """
    if isinstance(here, LocalSourceFile):
        lib = Path(here.get_path_or_uri(secret_free=True)).parent / "lib"
        return lib if lib.is_dir() else None
    if not isinstance(here, (HostingProviderFile, LocalGitFile)):
        return None
    repository = (
        git.Repo(here.repo_path) if isinstance(here, LocalGitFile) else here.hosted_repo.repo
    )
    commit = repository.commit(here.ref).hexsha
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    checkouts = Path(cache).expanduser() / "tripleaudit" / "workflow"
    if not (checkouts / commit).exists():
        checkouts.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=checkouts) as folder:
            with tempfile.TemporaryFile() as archive:
                repository.archive(archive, commit, path=["workflow", "resources", "config"])
                archive.seek(0)
                tarfile.open(fileobj=archive).extractall(f"{folder}/files", filter="data")
            try:
                Path(folder, "files").rename(checkouts / commit)
            except OSError:
                pass  # another process was faster
    return checkouts / commit / "workflow" / "lib"


PACKAGE_FOLDER = package_folder(workflow.current_basedir)
if PACKAGE_FOLDER:
    sys.path.insert(0, str(PACKAGE_FOLDER))
elif not importlib.util.find_spec("tripleaudit"):
    raise WorkflowError(
        "these rules come without their package; install it in Snakemake's environment, or name the workflow by a repository, as "
        "in module: snakefile: github(...)"
    )
