# Validated configuration, wildcard constraints, and input and parameter functions of several rules.
#
# Defined elsewhere: DEFAULT_STUDY in Snakefile, PACKAGE_FOLDER in package.smk, GATE in scoring.smk.
import json
import re
import sys
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

from tripleaudit import jobs
from tripleaudit.corpora.spec import FORMATS
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.systems.spec import SYSTEM_KINDS
from tripleaudit.tables.spec import TABLES
from tripleaudit.core.errors import UserError
from tripleaudit.study import variables
from tripleaudit.study.paths import fill
from tripleaudit.study.study import Study
from tripleaudit.core.shipped import shipped

try:
    STUDY = Study.of_workflow(config, workflow.configfiles)
except UserError as error:
    raise WorkflowError(str(error))

config = STUDY.config
PATHS = STUDY.paths.results
UNTRAINED_RUN = "{corpus}/{trainset}/{extractor}"
STUDY_FILES = [] if DEFAULT_STUDY else workflow.configfiles

# Jobs on other machines have no network: only local rules download.
jobs.export_environment(
    PACKAGE_FOLDER, config["gpu"], config["gpu_share"], offline=workflow.remote_exec
)
PYTHON = sys.executable
shell.prefix(jobs.protect_imports())


def files_of(input_function):
    """Return an input function for the files of model folders that an input function leaves out."""

    def other_files(wildcards):
        return model_files(flat(input_function(wildcards)))

    return other_files


def flat(files):
    """Return input files as a list: a path, a list, or a mapping of names to either."""
    if isinstance(files, str):
        return [files]
    parts = files.values() if isinstance(files, dict) else files
    return [path for part in parts for path in flat(part)]


def content_of(*inputs):
    """Return a parameter function for digests of the study's own files among inputs.

    Each input is a list of paths or an input function. Files that jobs make or fetch are left out.
    """

    def own_files(wildcards):
        paths = []
        for files in inputs:
            paths += flat(files(wildcards) if callable(files) else files)
        return jobs.content_digests(STUDY.paths.own_files(paths))

    return own_files


def scored_row(wildcards):
    """Return the row of the scores file that a job computes; classifiers have no wildcard `row`."""
    path = wildcards.get("row") or f"{wildcards.classifier_run}/classification"
    return STUDY.runs.scores[path] if path in STUDY.runs.scores else STUDY.runs.doubled_scores[path]


def scored_inputs(wildcards):
    """Return the input files of a row of the scores file."""
    return scored_row(wildcards).inputs


def scored_keys(wildcards):
    """Return the keys of a row of the scores file as JSON."""
    return json.dumps({"study": STUDY.name, **scored_row(wildcards).keys})


def scored_options(wildcards):
    """Return the options of a row of the scores file, with the threshold of its classifier."""
    row = scored_row(wildcards)
    return [*row.options, *(GATE if row.decisions else [])]


def as_options(wildcards, input):
    """Return input files as command line options, by their names in the rule."""
    options = []
    for name in input.keys():
        paths = input.get(name)
        if paths:
            options += [
                f"--{name.replace('_', '-')}",
                *([paths] if isinstance(paths, str) else paths),
            ]
    return options


def section_for_job(wildcards, input):
    """Return the configuration of language models.

    A change of it reruns no job, because Snakemake does not compare the values of parameter
    functions that take `input`. Other parameters of the rules hold the settings that affect results.
    """
    return STUDY.language_models.json


def threads_to_serve(wildcards, input):
    """Return the threads of a job that queries a language model: more than one if it serves it."""
    return config["threads"] if input.model else 1


# Rules name one or two files of a model folder; a storage provider delivers only named files.
STORED = bool(workflow.storage_settings.default_storage_provider)
TOKENIZER = ["tokenizer.json", "tokenizer_config.json"] if STORED else []


def model_files(paths):
    """Return the unnamed files of model folders if files lie in a store, else nothing."""
    made = ["config.json", "model.safetensors", *TOKENIZER]
    folders = {Path(path).parent for path in paths if STORED and Path(path).name in made}
    files = set()
    for folder in folders:
        names = [path.name for path in folder.glob("*.*")] or made
        files.update(f"{folder}/{name}" for name in names)
    return sorted(files - set(paths))


def refuse_unset_variables():
    """Stop before the first job if the key of any job is missing."""
    if {"--touch", "-t"} & set(sys.argv):
        return
    needed = [(job.rule.name, job.wildcards) for job in workflow.dag.needrun_jobs()]
    try:
        for note in variables.refuse_without(STUDY, needed, config["generative"]["cache"]):
            print(note, file=sys.stderr)
    except UserError as error:
        raise WorkflowError(str(error))


# All constraints are here: with files in a store, a rule ignores those declared after it.
wildcard_constraints:
    corpus="|".join(map(re.escape, STUDY.corpora)) or "none",
    protocol="|".join(map(re.escape, STUDY.protocols)),
    setting="nz|wz",
    testing="nz|wz",
    split="train|valid|test",
    trainset="|".join(map(re.escape, STUDY.trainsets)),
    extractor="|".join(map(re.escape, [*STUDY.extractors, *STUDY.classifiers])) or "none",
    noise="none|noising",
    testset="|".join(map(re.escape, ["test", *STUDY.protocol_sets.tests_only])),
    seed=r"\d+",
    collection="|".join(map(re.escape, STUDY.collections)) or "none",
    lm="|".join(map(re.escape, STUDY.needles.models)) or "none",
