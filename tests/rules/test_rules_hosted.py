"""The workflow as a module out of a repository: `github(...)` and `gitfile(...)`, with a
repository on this disk.
"""

import os
import shutil
import subprocess
import sys

import pytest

from support.workflow import DEMO_FILES, ROOT

pytestmark = pytest.mark.thorough

SNAKEFILE = """
module audit:
    snakefile: {snakefile}
    config: {{"study": "own", "corpora": {{"own": {{"format": "jsonl", "files": {files}}}}}}}

use rule * from audit as audit_*

rule first:
    default_target: True
    input: "results/own/tables/split-sizes.md"
"""


@pytest.fixture(scope="module")
def hosted(tmp_path_factory):
    """A repository `audit/tripleaudit` with the tag v1, whose package leaves a trace where it is
    imported.
    """
    folder = tmp_path_factory.mktemp("host") / "audit" / "tripleaudit"
    listed = subprocess.run(
        [
            "git",
            "-C",
            ROOT,
            "ls-files",
            "-co",
            "--exclude-standard",
            "workflow",
            "resources",
            "config",
            "envs",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(lambda name: (ROOT / name).is_file(), listed.stdout.splitlines()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    package = folder / "workflow/lib/tripleaudit/__init__.py"
    with package.open("a", encoding="utf-8") as stream:
        stream.write('\nopen(__import__("os").environ["WITNESS"], "a").write("hosted\\n")\n')
    git = ["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"], ["tag", "v1"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


@pytest.mark.parametrize("kind", ["github", "gitfile"])
def test_a_module_out_of_a_repository_runs_with_the_package_of_its_tag(hosted, tmp_path, kind):
    repository = "audit/tripleaudit" if kind == "github" else hosted
    address = f'{kind}("{repository}", path="workflow/Snakefile", tag="v1")'
    (tmp_path / "Snakefile").write_text(
        SNAKEFILE.format(snakefile=address, files=DEMO_FILES), encoding="utf-8"
    )
    rewritten = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{hosted.parents[1]}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "WITNESS": str(tmp_path / "witness"),
    }
    result = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **rewritten},
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert (tmp_path / "results/own/tables/split-sizes.md").exists()
    assert (tmp_path / "witness").read_text().count("hosted") > 2, (
        "the workflow and its jobs import the tag's package"
    )
