# Helpers shared by all rules: the validated configuration, the study's plan, and how rules read it.
import json
import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

from tripleaudit import jobs
from tripleaudit.core.descriptors import FORMATS, MATCHINGS, PROTOCOLS, SYSTEM_KINDS, TABLES
from tripleaudit.core.errors import UserError
from tripleaudit.study import variables
from tripleaudit.study.study import Study
from tripleaudit.core.shipped import shipped

try:
    STUDY = Study.of_workflow(config, workflow.overwrite_configfiles or workflow.configfiles)
except UserError as error:
    raise WorkflowError(str(error))

config = STUDY.config

# a job that another machine runs sees no network; whatever is fetched is fetched by local rules
jobs.export_environment(
    PACKAGE_FOLDER, config["gpu"], config["gpu_share"], offline=workflow.remote_exec
)
PYTHON = sys.executable


def files_of(method):
    """Return an input function for the other files of the model folders that a method of the plan names."""

    def other_files(wildcards):
        return model_files(flat(method(wildcards)))

    return other_files


def flat(files):
    """Return input files as a list: a path, a list, or a mapping of names to either."""
    if isinstance(files, str):
        return [files]
    parts = files.values() if isinstance(files, dict) else files
    return [path for part in parts for path in flat(part)]


def content_of(*inputs):
    """Return a parameter function for the content of the study's own files among inputs.

    Each of them is a list of paths or an input function. Files that jobs make or fetch are left out.
    """

    def own_files(wildcards):
        paths = [
            path
            for files in inputs
            for path in flat(files(wildcards) if callable(files) else files)
        ]
        return jobs.content_digests(STUDY.paths.own_files(paths))

    return own_files


def scored_row(wildcards):
    """What is scored under a path, by the plan's list."""
    path = wildcards.get("row") or f"{wildcards.of}/classification"
    return STUDY.scored[path] if path in STUDY.scored else STUDY.doubled_scored[path]


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
        for part in (f"--{name.replace('_', '-')}", *([paths] if isinstance(paths, str) else paths))
        if paths
    ]


def section_for_job(wildcards, input):
    """The section of the configuration about language models; what of it decides a result is in other params."""
    return STUDY.language_models.json


def threads_to_serve(wildcards, input):
    """Threads of a job that queries a language model: those of the study where the job serves the model itself."""
    return config["threads"] if input.model else 1


# a model is a folder, of which a rule names a file or two; from a store comes only what is named
STORED = bool(workflow.storage_settings.default_storage_provider)
TOKENIZER = ["tokenizer.json", "tokenizer_config.json"] if STORED else []


def model_files(paths):
    """With files in a store, the other files of the folders of models: all that are here, or else what is made."""
    made = ["config.json", "model.safetensors", *TOKENIZER]
    folders = {Path(path).parent for path in paths if STORED and Path(path).name in made}
    there = {folder: [path.name for path in folder.glob("*.*")] or made for folder in folders}
    return sorted(
        {f"{folder}/{name}" for folder, names in there.items() for name in names} - set(paths)
    )


def refuse_lost_arrays():
    """Stop before SLURM's executor loses jobs: of a rule in arrays it forgets those that --jobs holds back, and waits
    for them without end."""
    named = getattr(workflow.executor_settings, "array_jobs", None) or ""
    arrays = set(map(str.strip, named.replace(";", ",").split(","))) - {""}
    counts = Counter(
        job.rule.name for job in workflow.dag.needrun_jobs() if arrays and not job.is_local
    )
    for name, count in counts.items():
        if arrays & {name, "all"} and count > workflow.nodes:
            raise WorkflowError(
                f"{count} jobs of {name} are to be submitted as an array, but --jobs allows {workflow.nodes}; expected "
                f"--jobs {count} or more, or no arrays: --slurm-array-jobs none"
            )


def refuse_unset_variables():
    """Stop before jobs whose keys are not there, which might be the last ones of a long run."""
    wanted = [
        (job.rule.name, job.wildcards) for job in workflow.dag.needrun_jobs() if not workflow.touch
    ]
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
    lm="|".join(map(re.escape, STUDY.needles.models)) or "none",
