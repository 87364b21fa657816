"""``tripleaudit run``: run a study through the shipped workflow, in the current folder."""

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FAILED_SYSTEMS = 3
"""Exit code of a study that was made but in which a system has no scores, such as one whose
budget was used up.
"""
HELP = "run a study and write results/<study>/report.html"
PLACED = ("-c", "--cores", "-j", "--jobs", "--profile", "--workflow-profile", "-e", "--executor")
PROFILES = ("--workflow-profile", "--profile")
ELSEWHERE = {
    "sdm",
    "software-deployment-method",
    "use-conda",
    "use-apptainer",
    "use-singularity",
}  # jobs bring their own
CHANGING = {"config", "C", "configfile"}
PLANNING = {"n", "dry-run", "dryrun"}
DIRECTORY = ("-d", "--directory")
PLUGINS = (("executor", ("local", "dryrun", "touch")), ("default-storage-provider", ("none",)))
BROUGHT = ("cluster_generic", "slurm", "s3")  # plugins of the extra `cluster`


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the study and what is handed to Snakemake as it is."""
    parser.add_argument(
        "study",
        metavar="STUDY",
        help="a study's file (config/README.md of the project explains it), or the name of a shipped one, such as demo",
    )
    options = parser.add_argument(
        "options",
        nargs=argparse.REMAINDER,
        metavar="OPTION",
        help="targets, and then options of Snakemake (type_f1, -n, --cores 4, ...; a shipped profile by its name: "
        "--workflow-profile slurm); without a number of cores all are used",
    )
    options.required = False  # argparse names it together with a missing study


def run(args: argparse.Namespace) -> int:
    """Run Snakemake as a process of its own; its exit status is this command's."""
    from tripleaudit.core import storage
    from tripleaudit.core.errors import UserError, hint
    from tripleaudit.core.shipped import PROJECT, studies, study_file
    from tripleaudit.core.yaml_files import read_with_repeated

    study = Path(study_file(args.study))
    if not study.is_file():
        close = hint(args.study, studies())
        raise UserError(
            f"{args.study}: no such study; expected a YAML file or the name of a shipped study{close}"
        )
    if not read_with_repeated(study)[
        0
    ]:  # of a file that it cannot read Snakemake says neither name nor line
        raise UserError(
            f"{args.study}: is empty; expected the keys of a study ('study: my-study', …)"
        )
    options = _with_profiles(args.options)
    _check_plugins(options)
    _check_installation(study, args.study, options)
    if importlib.util.find_spec("snakemake") is None:
        raise ModuleNotFoundError("the workflow runs on Snakemake", name="snakemake")
    if not any(option.split("=")[0].startswith(PLACED) for option in options):
        options = ["--cores", "all", *options]
    command = [sys.executable, "-P", "-m", "snakemake", "--configfile", str(study)]
    if not set(_flags(options)) & PLANNING:
        storage.check_writable(Path(_directory(options), ".snakemake"))
    # where profiles find their scripts
    environment = {**os.environ, "TRIPLEAUDIT_PROFILES": str(PROJECT / "workflow" / "profiles")}
    snakefile = str(PROJECT / "workflow" / "Snakefile")
    status = subprocess.call([*command, "--snakefile", snakefile, *options], env=environment)
    if status or set(_flags(options)) & PLANNING:
        return status
    return FAILED_SYSTEMS if _report_failures(study) else 0


def _report_failures(study: Path) -> bool:
    """Print the systems of a finished study that have no scores; return whether there are any."""
    from tripleaudit.core.yaml_files import read_yaml
    from tripleaudit.summary import failures

    found = failures(Path("results") / str(read_yaml(study).get("study", "")))
    for failure in found:
        print(f"error: {failure}", file=sys.stderr)
    return bool(found)


def _with_profiles(given: list[str]) -> list[str]:
    """Return the options with the folders of shipped profiles in place of their names.

    An option ``--option=value`` is split in two where needed.
    """
    from tripleaudit.core.errors import UserError, hint
    from tripleaudit.core.shipped import PROJECT

    both = tuple(f"{name}=" for name in (*PROFILES, "--executor"))
    options = [
        part
        for option in given
        for part in (option.split("=", 1) if option.startswith(both) else [option])
    ]
    shipped = PROJECT / "workflow" / "profiles"
    for number, (option, value) in enumerate(zip(options, options[1:], strict=False), 1):
        if (
            option not in PROFILES
            or value == "none"
            or Path(value).exists()
            or (Path("profiles") / value).exists()
        ):
            continue
        folder = next((one for one in (shipped / value, PROJECT / value) if one.is_dir()), None)
        if folder is not None:
            options[number] = str(folder)
        elif option == "--workflow-profile":
            names = sorted(path.parent.name for path in shipped.glob("*/config.yaml"))
            raise UserError(f"{option} {value}: no such profile{hint(value, names)}")
    return options


def _check_plugins(options: list[str]) -> None:
    """Refuse an executor or a storage whose plugin is not installed.

    Snakemake would print its whole usage.
    """
    from tripleaudit.core.errors import UserError

    for option, value in zip(options, options[1:], strict=False):
        chosen = {"executor": value} if option in ("-e", "--executor") else {}
        if option in PROFILES:
            chosen = _settings(Path(value))
        for key, own in PLUGINS:
            name = str(chosen.get(key) or own[0]).replace("-", "_")
            kind = key.removeprefix("default-").removesuffix("-provider")
            if (
                name not in own
                and importlib.util.find_spec(f"snakemake_{kind}_plugin_{name}") is None
            ):
                brings = f"snakemake-{kind}-plugin-{name.replace('_', '-')}"
                brings = "'tripleaudit[cluster]'" if name in BROUGHT else brings
                raise UserError(
                    f"{option} {Path(value).name}: the {kind} {name.replace('_', '-')} is not installed; expected what "
                    f"this brings: pip install {brings}"
                )


def _settings(profile: Path) -> dict[str, Any]:
    from tripleaudit.core.yaml_files import read_yaml

    file = profile / "config.yaml" if profile.is_dir() else profile
    found = read_yaml(file) if file.is_file() else None
    return found if isinstance(found, dict) else {}


def _check_installation(study: Path, name: str, options: list[str]) -> None:
    """Refuse a study whose jobs lack what an extra brings, before anything is fetched.

    A plan alone, and single targets, which may need less, are only warned.

    Raises:
        UserError: something is missing, or the study cannot run.
    """
    from tripleaudit.core import extras
    from tripleaudit.core.errors import UserError
    from tripleaudit.study import needs, own_files
    from tripleaudit.study.study import Study
    from tripleaudit.study.validate import refused

    flags = set(_flags(options))
    if flags & ELSEWHERE:
        return
    raw_root = next(
        (option.partition("=")[2] for option in options if option.startswith("raw_root=")), None
    )
    try:
        planned = Study.read(study, raw_root=raw_root)
        needed = needs.extras(planned)
        if problems := list(own_files.problems(planned)):
            raise refused(problems)
    except UserError:
        if flags & CHANGING:  # what is wrong may be what they change
            return
        raise
    if importlib.util.find_spec("snakemake") is None:
        needed["workflow"] = "the workflow"
    lacking = {extra: set(modules) for extra in needed if (modules := extras.missing(extra))}
    lacking = {
        extra: own
        for extra, own in lacking.items()
        if not any(own < other for other in lacking.values())
    }
    if not lacking:
        return
    modules = sorted(set().union(*lacking.values()))
    because = " and ".join(f"{needed[extra]} (extra {extra})" for extra in lacking)
    text = (
        f"{name}: not installed: {', '.join(modules)}; needed for {because}; expected what this brings: "
        f"pip install 'tripleaudit[{','.join(sorted(lacking))}]'"
    )
    if not flags & PLANNING and (not options or options[0].startswith("-") or options[0] == "all"):
        raise UserError(text)
    print(f"warning: {text}", file=sys.stderr)


def _directory(options: list[str]) -> str:
    """Return the folder that Snakemake works in."""
    for option, value in zip(options, [*options[1:], ""], strict=True):
        name, equals, joined = option.partition("=")
        if name in DIRECTORY:
            return joined if equals else value
    return "."


def _flags(options: list[str]) -> Iterator[str]:
    """Yield the names of options, of joined short ones each (``-np``)."""
    for option in options:
        if option.startswith("--"):
            yield option[2:].partition("=")[0]
        elif option.startswith("-"):
            yield from option[1:]
