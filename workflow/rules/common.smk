# Helpers shared by all rules: the package on the path, the validated configuration and the study's plan.
import importlib.util
import json
import re
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

import git
from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import HostingProviderFile, LocalGitFile, LocalSourceFile


def package_folder(here):
    """The folder to import the package from: beside these rules, out of the repository that they are read from
    (`github(...)`, `git+file:`), or None where the package has to be installed already."""
    if isinstance(here, LocalSourceFile):
        beside = Path(here.get_path_or_uri(secret_free=True)).parent / "lib"
        return beside if beside.is_dir() else None
    if not isinstance(here, (HostingProviderFile, LocalGitFile)):
        return None
    repository = git.Repo(here.repo_path) if isinstance(here, LocalGitFile) else here.hosted_repo.repo
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


if folder := package_folder(workflow.current_basedir):
    sys.path.insert(0, str(folder))
elif not importlib.util.find_spec("tripleaudit"):
    raise WorkflowError(
        "these rules come without their package; install it beside Snakemake, or name the workflow by a repository, as "
        "in module: snakefile: github(...)"
    )

from tripleaudit import jobs
from tripleaudit.descriptors import MATCHINGS, PROTOCOLS, SYSTEM_KINDS, TABLES
from tripleaudit.errors import UserError
from tripleaudit.plan import variables
from tripleaudit.plan.study import Study
from tripleaudit.shipped import shipped

try:
    STUDY = Study.of_workflow(config, workflow.overwrite_configfiles or workflow.configfiles)
except UserError as error:
    raise WorkflowError(str(error))

config = STUDY.config

# a job that another machine runs sees no network; whatever is fetched is fetched by local rules
jobs.export_environment(folder, config["gpu"], config["gpu_share"], offline=workflow.remote_exec)
PYTHON = sys.executable


def growing(amount):
    """A resource (memory in MB, run time in minutes) that every further attempt asks more of."""
    return lambda wildcards, attempt: amount * attempt


def plot_code(plot):
    """The code of a plot beyond that of the command that draws it."""
    return jobs.chosen_code("plots", f"tables.plots.{plot.replace('-', '_')}")


def score_keys(wildcards, **keys):
    """The keys of a run in the scores file, as JSON."""
    untrained = {"noise": "none", "seed": ""}  # a baseline
    named = {name: wildcards.get(name, untrained.get(name)) for name in ("corpus", "extractor", "noise", "seed")}
    return json.dumps({"study": STUDY.name, **named, **keys})


def scored_row(wildcards):
    """What is scored under a path, by the plan's list."""
    return STUDY.scored[wildcards.get("row") or f"{wildcards.of}/classification"]


def scored_inputs(wildcards):
    """The files that a row of the scores file is made from."""
    return scored_row(wildcards).inputs


def scored_keys(wildcards):
    """The keys of a row of the scores file, as JSON."""
    return json.dumps({"study": STUDY.name, **scored_row(wildcards).keys})


def scored_options(wildcards):
    """What else decides a row of the scores file; behind a classifier, its threshold."""
    row = scored_row(wildcards)
    return [*row.options, *(GATE if row.decisions else [])]


def as_options(wildcards, input):
    """Input files as options by their names in the rule."""
    given = {name: input.get(name) for name in input.keys()}
    return [
        part
        for name, paths in given.items()
        for part in (f"--{name}", *([paths] if isinstance(paths, str) else paths))
        if paths
    ]


def of(method, *names):
    """What a method of the plan says of a job's wildcards, such as ``of(STUDY.report.options, "table")``."""
    return lambda wildcards: method(*(wildcards[name] for name in names))


def code_of(command, registry, wildcard):
    """The code that a job chooses by a wildcard, such as its table, beyond that of its command."""
    return lambda wildcards: jobs.described_code(command, registry, wildcards[wildcard])


def section_for_job(wildcards, input):
    """The section of the configuration. Snakemake does not compare params that are made from the input, so that a new
    price, address or time-out reruns nothing; what decides a result is in the other params of a rule."""
    return STUDY.language_models.json


# a model is a folder, of which a rule names a file or two; from a store comes only what is named
STORED = bool(workflow.storage_settings.default_storage_provider)
TOKENIZER = ["tokenizer.json", "tokenizer_config.json"] if STORED else []


def beside(paths):
    """With files in a store, the other files of the folders of models: all that are here, or else what is made."""
    made = ["config.json", "model.safetensors", *TOKENIZER]
    folders = {Path(path).parent for path in paths if STORED and Path(path).name in made}
    there = {folder: [path.name for path in folder.glob("*.*")] or made for folder in folders}
    return sorted({f"{folder}/{name}" for folder, names in there.items() for name in names} - set(paths))


def refuse_lost_arrays():
    """Stop before SLURM's executor loses jobs: of a rule in arrays it forgets those that --jobs holds back, and waits
    for them without end."""
    named = getattr(workflow.executor_settings, "array_jobs", None) or ""
    arrays = set(map(str.strip, named.replace(";", ",").split(","))) - {""}
    counts = Counter(job.rule.name for job in workflow.dag.needrun_jobs() if arrays and not job.is_local)
    for name, count in counts.items():
        if arrays & {name, "all"} and count > workflow.nodes:
            raise WorkflowError(
                f"{count} jobs of {name} are to be submitted as an array, but --jobs allows {workflow.nodes}; expected "
                f"--jobs {count} or more, or no arrays: --slurm-array-jobs none"
            )


def refuse_unset_variables():
    """Stop before jobs whose keys are not there, which might be the last ones of a long run."""
    wanted = [(job.rule.name, job.wildcards) for job in workflow.dag.needrun_jobs() if not workflow.touch]
    try:
        for note in variables.refuse_without(STUDY, wanted, config["generative"]["cache"]):
            print(note, file=sys.stderr)
    except UserError as error:
        raise WorkflowError(str(error))


# all of them here: with files in a store, constraints that are declared after a rule cost its outputs those they had
wildcard_constraints:
    corpus="|".join(map(re.escape, STUDY.corpora)) or "none",
    protocol="|".join(map(re.escape, STUDY.protocols)),
    setting="nz|wz",
    testing="nz|wz",
    split="train|valid|test",
    trainset="|".join(map(re.escape, STUDY.trainsets)),
    extractor="|".join(map(re.escape, [*STUDY.extractors, *STUDY.classifiers])) or "none",
    noise="none|noising",
    testset="|".join(map(re.escape, ["test", *STUDY.data.tests_only])),
    seed=r"\d+",
    collection="|".join(map(re.escape, STUDY.collections)) or "none",
    lm="|".join(map(re.escape, dict.fromkeys([*STUDY.needles.runs, *STUDY.needles.triple_models]))) or "none",
