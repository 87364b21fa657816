"""``tripleaudit run``: a study through the workflow that ships with the package, in the current folder."""

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

HELP = "Run a study in this folder: results/<study>/report.html and what it is made from."
PLACED = ("-c", "--cores", "-j", "--jobs", "--profile", "--workflow-profile", "-e", "--executor")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the study and what is handed to Snakemake as it is."""
    parser.add_argument("study", metavar="STUDY.yaml", help="the study, as config/README.md of the project explains it")
    options = parser.add_argument(
        "options",
        nargs=argparse.REMAINDER,
        metavar="OPTION",
        help="targets and options of Snakemake (-n, --cores 4, type_f1, ...; a shipped profile by its name: "
        "--workflow-profile slurm); without a number of cores all are used",
    )
    options.required = False  # argparse names it beside a missing study


def run(args: argparse.Namespace) -> int:
    """Run Snakemake as a process of its own; its exit status is this command's."""
    from tripleaudit.errors import UserError
    from tripleaudit.shipped import PROJECT, shipped
    from tripleaudit.yaml_files import read_with_repeated

    study = Path(shipped(args.study))
    if not study.is_file():
        raise UserError(f"{args.study}: no such study; expected a YAML file, such as config/config.yaml for the demo")
    if not read_with_repeated(study)[0]:  # of a file that it cannot read Snakemake says neither name nor line
        raise UserError(f"{args.study}: is empty; expected the keys of a study ('study: my-study', …)")
    if importlib.util.find_spec("snakemake") is None:
        raise ModuleNotFoundError("the workflow runs on Snakemake", name="snakemake")
    options = list(args.options)
    for number, (option, value) in enumerate(zip(options, options[1:], strict=False), 1):
        profile = PROJECT / "workflow" / "profiles" / value
        if option == "--workflow-profile" and not Path(value).exists() and profile.is_dir():
            options[number] = str(profile)
    if not any(option.split("=")[0].startswith(PLACED) for option in options):
        options = ["--cores", "all", *options]
    command = [sys.executable, "-m", "snakemake", "--configfile", str(study)]
    return subprocess.call([*command, "--snakefile", str(PROJECT / "workflow" / "Snakefile"), *options])
