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

from tripleaudit.plan.configuration import validated
from tripleaudit.errors import UserError
from tripleaudit.plan.study import Study
from tripleaudit import jobs
from tripleaudit.descriptors import PROTOCOLS, TABLES
from tripleaudit.shipped import shipped

try:
    config = validated(config)
    STUDY = Study(config)
except UserError as error:
    raise WorkflowError(str(error))

# a job that another machine runs sees no network; whatever is fetched is fetched by local rules
jobs.export_environment(folder, config["gpu"], offline=workflow.remote_exec)
PYTHON = sys.executable


def growing(amount):
    """A resource (memory in MB, run time in minutes) that every further attempt asks more of."""
    return lambda wildcards, attempt: amount * attempt


def plot_code(plot):
    """The code of a plot beyond that of the command that draws it."""
    return jobs.chosen_code("plots", f"tables.plots.{plot.replace('-', '_')}")


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


wildcard_constraints:
    corpus="|".join(map(re.escape, STUDY.corpora)) or "none",
    protocol="|".join(map(re.escape, STUDY.protocols)),
    setting="nz|wz",
    testing="nz|wz",
    split="train|valid|test",
    trainset="|".join(map(re.escape, STUDY.trainsets)),
    extractor="|".join(map(re.escape, [*STUDY.extractors, *STUDY.classifiers])) or "none",
    noise="none|noising",
    testset="test|augmented",
    seed=r"\d+",


# sources


def raw_root():
    """The folder with raw files: the study's own, or where the rule below fetches them to."""
    return config["raw_root"] or "<downloads>/raw"


def model_folder(model):
    """The folder of a model named in the configuration, fetched unless it is a local folder already."""
    local = STUDY.local_model(model)
    return local or f"<downloads>/models/{STUDY.model_slug(model)}"


ENCODER = f"{model_folder(config['encoder']['model'])}/config.json"


# corpora


def raw_inputs(wildcards):
    """The files that a split is made of."""
    files = STUDY.files_of_split(wildcards.corpus, wildcards.split)
    if STUDY.registered(wildcards.corpus) is None:
        return [shipped(path) for path in files]
    return [f"{raw_root()}/{name}" for name in files]


# protocols


def protocol_inputs(wildcards):
    """The original nz splits."""
    folder = f"<study>/protocols/{wildcards.corpus}/original/nz"
    return {split: f"{folder}/{split}.jsonl" for split in ("train", "valid", "test")}


def augmentation_models(wildcards):
    """The masked language model, the encoder that vectors are derived from, and vectors of one's own."""
    options = STUDY.protocol("augmented")
    own = options["masked_lm"]
    masked_lm = f"{model_folder(own)}/config.json" if own else f"<study>/masked_lm/{wildcards.corpus}/config.json"
    vectors = {"vectors": shipped(options["vectors"])} if options["vectors"] else {}
    return {"masked_lm": masked_lm, "encoder": ENCODER, **vectors}


# training


def trainset_files(wildcards):
    """Training and validation set of a run; a sifted run may choose its epoch on its test set, as the paper did."""
    protocol, setting = wildcards.trainset.rsplit("-", 1)
    folder = f"<study>/protocols/{wildcards.corpus}/{protocol}/{setting}"
    select_on = STUDY.protocol(protocol).get("select_on", "valid")
    return {
        "train": f"{folder}/train.jsonl",
        "valid": f"{folder}/{select_on}.jsonl",
        "encoder": ENCODER,
    }


def testset_file(wildcards):
    """The test set of a training's own protocol, as large as the study scores it."""
    if wildcards.trainset.startswith("original-"):
        return original_test_file(wildcards)
    return f"<study>/protocols/{wildcards.corpus}/{wildcards.trainset.removesuffix('-nz')}/nz/test.jsonl"


def original_test_file(wildcards):
    """The original test set, with zero-triple sentences if the study has them."""
    return f"<study>/protocols/{wildcards.corpus}/original/{STUDY.settings[-1]}/test.jsonl"


# scoring


def gold_file(wildcards):
    """The gold test set in one testing setting."""
    protocol = "augmented" if wildcards.testset == "augmented" else wildcards.trainset.rsplit("-", 1)[0]
    return f"<study>/protocols/{wildcards.corpus}/{protocol}/{wildcards.testing}/test.jsonl"


def seen_file(wildcards):
    """The training triples that decide which test triples count as seen: those of the nz training set."""
    protocol = wildcards.trainset.rsplit("-", 1)[0]
    return f"<study>/protocols/{wildcards.corpus}/{protocol}/nz/train.jsonl"


def score_files(kind="scores"):
    """Every scores file of the study: extractors, classifiers, and extractors behind a classifier."""
    return (
        [
            f"<study>/{kind}/{run.path}/{testset}-{testing}.csv"
            for run in STUDY.runs
            for testset, testing in STUDY.testsets(run)
        ]
        + [f"<study>/{kind}/{run.path}/classification.csv" for run in STUDY.classifier_runs]
        + [f"<study>/{kind}/{run.path}/{gate}.csv" for run, gate in STUDY.two_step_runs]
    )


def curve_files():
    """The precision-recall curve of every classifier."""
    return [f"<study>/scores/{run.path}/curve.json" for run in STUDY.classifier_runs]


# tables


def audit_files():
    """One audit of each corpus and protocol."""
    return [f"<study>/audits/{corpus}/{protocol}.json" for corpus in STUDY.corpora for protocol in STUDY.protocols]


def table_inputs(wildcards):
    """What one table is made from; the tables about data need no training."""
    needs = STUDY.needs_of_table(wildcards.table)
    return {
        "audits": audit_files() if needs == "audits" else [],
        "scores": {"scores": ["<study>/scores.csv"], "gre": ["<study>/gre/scores.csv"]}.get(needs, []),
        "counts": score_files("counts") if needs == "scores" else [],
        "runs": ["<study>/trainings.json"] if needs == "runs" else [],
    }
