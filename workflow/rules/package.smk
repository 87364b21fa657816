# The package that the rules call: next to them, out of the repository that they are read from, or installed.
import importlib.util
import sys
import tarfile
import tempfile
from pathlib import Path

import git
from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import HostingProviderFile, LocalGitFile, LocalSourceFile


def package_folder(here):
    """The folder to import the package from: next to these rules, out of the repository that they are read from
    (`github(...)`, `git+file:`), or None where the package has to be installed already."""
    if isinstance(here, LocalSourceFile):
        lib = Path(here.get_path_or_uri(secret_free=True)).parent / "lib"
        return lib if lib.is_dir() else None
    if not isinstance(here, (HostingProviderFile, LocalGitFile)):
        return None
    repository = (
        git.Repo(here.repo_path) if isinstance(here, LocalGitFile) else here.hosted_repo.repo
    )
    commit = repository.commit(here.ref).hexsha
    checkouts = Path(workflow.sourcecache.cache_path) / "tripleaudit"
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
