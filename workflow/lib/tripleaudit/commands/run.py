"""``tripleaudit run``: run a study through the shipped workflow, in the current folder."""

import argparse
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

FAILED_SYSTEMS = 3
"""Exit code of a finished study in which a system has no scores, for example because its budget was
used up.
"""
HELP = "run a study and write results/<study>/report.html"
PROFILE_OPTIONS = ("--workflow-profile", "--profile")
# Options of Snakemake that this command reads, with their documented names; all of them are passed
# on. Without any of PARALLELISM_OPTIONS, all cores are used.
VALUE_OPTIONS = (
    ("--directory", "-d"),
    ("--cores", "-c"),
    ("--jobs", "-j"),
    ("--executor", "-e"),
    ("--profile",),
    ("--workflow-profile",),
)
LIST_OPTIONS = (
    ("--config", "-C"),
    ("--configfile", "--configfiles"),
    ("--software-deployment-method", "--deployment-method", "--deployment", "--sdm"),
)
FLAGS = (
    ("--dry-run", "--dryrun", "-n"),
    ("--use-conda",),
    ("--use-apptainer", "--use-singularity"),
)
OTHER_SHORT_FLAGS = "aDfFkKlpStv"  # may be written together with others, such as -np
PARALLELISM_OPTIONS = ("cores", "jobs", "executor", "profile", "workflow_profile")
# Jobs run in environments of their own, so installed packages do not matter.
ENVIRONMENT_OPTIONS = ("software_deployment_method", "use_conda", "use_apptainer")
# Key of a profile -> values that need no plugin; the first one is the default.
BUILT_IN_PLUGINS = {
    "executor": ("local", "dryrun", "touch"),
    "default-storage-provider": ("none",),
}
REMOVED_PROFILES = ("lsf", "sge", "htcondor", "generic", "kubernetes-s3")
CLUSTER_PLUGINS = ("cluster_generic", "slurm", "s3")  # installed by the extra `cluster`


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the study and the options that are passed to Snakemake unchanged."""
    parser.usage = "tripleaudit run STUDY [TABLE ...] [SNAKEMAKE OPTION ...]"
    parser.set_defaults(print_help=parser.print_help)
    parser.add_argument(
        "study",
        metavar="STUDY",
        help="a study file (config/README.md describes it), or a name of `tripleaudit list studies`, such as demo",
    )
    options = parser.add_argument(
        "options",
        nargs=argparse.REMAINDER,
        metavar="TABLE|OPTION",
        help="names of tables or stages to make (such as type_f1; default: everything), followed by options of "
        "Snakemake, such as -n (only show the jobs), --cores 4 (default: all cores) or --workflow-profile slurm",
    )
    options.required = False  # argparse names it together with a missing study


def run(args: argparse.Namespace) -> int:
    """Run Snakemake in a subprocess; return its exit status, or that of a study with failures."""
    from tripleaudit.core import storage
    from tripleaudit.core.errors import UserError, hint

    if {"-h", "--help"} & set(args.options):  # options after the study are not parsed here
        args.print_help()
        return 0
    from tripleaudit.core.shipped import PROJECT, studies, study_file
    from tripleaudit.core.yaml_files import read_with_repeated
    from tripleaudit.summary import results_of, time_of_summary

    study = Path(study_file(args.study))
    if not study.is_file():
        close = hint(args.study, studies())
        raise UserError(
            f"{args.study}: no such study; expected a YAML file or the name of a shipped study{close}"
        )
    # Checked here because the errors of Snakemake name neither the file nor the line.
    content, _ = read_with_repeated(study)
    if not content:
        raise UserError(
            f"{args.study}: is empty; expected the keys of a study ('study: my-study', …)"
        )
    options = _with_profiles(args.options)
    parsed = _parse_options(options)
    _check_plugins(options)
    folder = Path(parsed.directory or ".")
    # paths in a study start at the folder that Snakemake works in
    start = folder if folder.is_dir() else Path()
    relative_study = Path(os.path.relpath(study, start))
    with contextlib.chdir(start):
        _check_installation(relative_study, args.study, options, parsed)
    if importlib.util.find_spec("snakemake") is None:
        raise ModuleNotFoundError("the workflow runs on Snakemake", name="snakemake")
    if not any(getattr(parsed, name) for name in PARALLELISM_OPTIONS):
        options = ["--cores", "all", *options]
    if not parsed.dry_run:
        storage.check_writable(folder / ".snakemake")
    # Profiles find their scripts by this variable.
    environment = {**os.environ, "TRIPLEAUDIT_PROFILES": str(PROJECT / "workflow" / "profiles")}
    snakefile = str(PROJECT / "workflow" / "Snakefile")
    command = [sys.executable, "-P", "-m", "snakemake", "--configfile", str(study)]
    name = str(_config_values(parsed).get("study") or content.get("study", ""))
    results = folder / "results" / name
    before = time_of_summary(results)
    status = _run_to_its_end([*command, "--snakefile", snakefile, *options], environment)
    if status or parsed.dry_run:
        return status
    is_finished = (results / "report.html").is_file()
    if is_finished and not parsed.others and time_of_summary(results) == before:
        # Snakemake calls no hook if no job had to run.
        print(f"Study {name}: no job had to run", *results_of(results), sep="\n", file=sys.stderr)
    return FAILED_SYSTEMS if _report_failures(results) else 0


def _parse_options(options: list[str]) -> argparse.Namespace:
    """Return the options of Snakemake that this command reads; ``others`` lists the remaining ones.

    Settings of profiles count where the command line does not give the option.

    Raises:
        UserError: an option lacks its value.
    """
    from tripleaudit.core.errors import UserError

    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for names in VALUE_OPTIONS:
        parser.add_argument(*names)
    for names in LIST_OPTIONS:
        parser.add_argument(*names, nargs="*", default=[])
    for names in FLAGS:
        parser.add_argument(*names, action="store_true")
    for letter in OTHER_SHORT_FLAGS:
        parser.add_argument(f"-{letter}", action="store_true")
    try:
        parsed, _ = parser.parse_known_args(options)
    except argparse.ArgumentError as error:
        raise UserError(f"tripleaudit run: {error}") from error
    for profile in (parsed.profile, parsed.workflow_profile):
        if profile is not None:
            settings = _profile_settings(Path(profile))
            defaults = {str(key).replace("-", "_"): value for key, value in settings.items()}
            parser.set_defaults(**defaults)
    parsed, rest = parser.parse_known_args(options)
    parsed.others = [option for option in rest if option.startswith("-")]
    return parsed


def _config_values(parsed: argparse.Namespace) -> dict[str, str]:
    """Return the keys of the study that ``--config key=value``, or a profile, replaces."""
    if isinstance(parsed.config, dict):
        return parsed.config
    pairs = [str(item).partition("=") for item in parsed.config]
    return {key: value for key, _, value in pairs}


def _run_to_its_end(command: list[str], environment: Mapping[str, str]) -> int:
    """Run Snakemake and return its exit status, also when the run is stopped.

    A stopped Snakemake ends its jobs and removes its lock, which takes a while. Ctrl-C reaches it
    through the terminal, so this process only waits; SIGTERM is passed on.
    """
    with subprocess.Popen(command, env=environment) as process:

        def pass_on_sigterm(number: int, frame: FrameType | None) -> None:
            if number == signal.SIGTERM:
                process.terminate()

        signals = (signal.SIGINT, signal.SIGTERM)
        handlers = {number: signal.signal(number, pass_on_sigterm) for number in signals}
        try:
            return process.wait()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _report_failures(results: Path) -> bool:
    """Print the systems of a finished study that have no scores; return whether there are any.

    Args:
        results: the folder of the study's results.
    """
    from tripleaudit.summary import failures

    failed_systems = failures(results)
    for failure in failed_systems:
        print(f"error: {failure}", file=sys.stderr)
    return bool(failed_systems)


def _with_profiles(arguments: list[str]) -> list[str]:
    """Replace the names of shipped profiles by their folders.

    Profile and executor options of the form ``--option=value`` are split in two.
    """
    joined = tuple(f"{name}=" for name in (*PROFILE_OPTIONS, "--executor"))
    options: list[str] = []
    for argument in arguments:
        if argument.startswith(joined):
            options += argument.split("=", 1)
        else:
            options.append(argument)
    for position, (option, value) in enumerate(zip(options, options[1:], strict=False), start=1):
        if option in PROFILE_OPTIONS:
            options[position] = _profile_path(option, value)
    return options


def _profile_path(option: str, profile: str) -> str:
    """Return the folder of a shipped profile, given by its name or its path in the project.

    Other profiles are returned unchanged: Snakemake finds those of ``--profile`` also among the
    user's settings.

    Raises:
        UserError: there is no such workflow profile, or it was removed.
    """
    from tripleaudit.core.errors import UserError, hint
    from tripleaudit.core.shipped import PROJECT

    exists = Path(profile).exists() or (Path("profiles") / profile).exists()
    if profile == "none" or exists:
        return profile
    shipped = PROJECT / "workflow" / "profiles"
    for folder in (shipped / profile, PROJECT / profile):
        if folder.is_dir():
            return str(folder)
    if option == "--workflow-profile" and profile in REMOVED_PROFILES:
        raise UserError(
            f"{option} {profile}: this profile was removed; a profile of your own names the executor "
            "plugin of your scheduler (docs/howto/cluster.md)"
        )
    if option == "--workflow-profile":
        names = sorted(path.parent.name for path in shipped.glob("*/config.yaml"))
        raise UserError(f"{option} {profile}: no such profile{hint(profile, names)}")
    return profile


def _check_plugins(options: list[str]) -> None:
    """Reject an executor or a storage whose plugin is not installed.

    Snakemake itself would print its complete usage instead of the reason.
    """
    from tripleaudit.core import extras
    from tripleaudit.core.errors import UserError

    for option, value in zip(options, options[1:], strict=False):
        if option in ("-e", "--executor"):
            settings: dict[str, Any] = {"executor": value}
        elif option in PROFILE_OPTIONS:
            settings = _profile_settings(Path(value))
        else:
            continue
        for key, built_in in BUILT_IN_PLUGINS.items():
            default = built_in[0]
            name = str(settings.get(key) or default).replace("-", "_")
            kind = key.removeprefix("default-").removesuffix("-provider")  # executor or storage
            if name in built_in or importlib.util.find_spec(f"snakemake_{kind}_plugin_{name}"):
                continue
            public_name = name.replace("_", "-")
            if name in CLUSTER_PLUGINS:
                command = extras.install_command(["cluster"])
            else:
                command = f"pip install snakemake-{kind}-plugin-{public_name}"
            raise UserError(
                f"{option} {Path(value).name}: the {kind} {public_name} is not installed; run {command}"
            )


def _profile_settings(profile: Path) -> dict[str, Any]:
    """Return the settings of a profile, given as a folder or a file; empty if it has none."""
    from tripleaudit.core.yaml_files import read_yaml

    file = profile / "config.yaml" if profile.is_dir() else profile
    settings = read_yaml(file) if file.is_file() else None
    return settings if isinstance(settings, dict) else {}


def _check_installation(
    study: Path, name: str, options: list[str], parsed: argparse.Namespace
) -> None:
    """Reject an invalid study, or one that needs packages that are not installed.

    This runs before anything is downloaded. For a dry run, and for single targets, which may need
    fewer packages, missing packages only cause a warning. Nothing is checked where jobs run in
    environments of their own.

    Raises:
        UserError: a package is missing, or the study cannot run.
    """
    from tripleaudit.core import extras
    from tripleaudit.core.errors import UserError
    from tripleaudit.study import needs, own_files
    from tripleaudit.study.study import Study
    from tripleaudit.study.validate import refused

    if any(getattr(parsed, name) for name in ENVIRONMENT_OPTIONS):
        return
    try:
        planned = Study.read(study, raw_root=_config_values(parsed).get("raw_root"))
        needed = needs.extras(planned)
        problems = list(own_files.problems(planned))
        if problems:
            raise refused(problems)
    except UserError:
        if parsed.config or parsed.configfile:  # these options may correct the problem
            return
        raise
    if importlib.util.find_spec("snakemake") is None:
        needed["workflow"] = "the workflow"
    missing = {extra: set(extras.missing(extra)) for extra in needed}
    # Name an extra only if no other one installs the same modules and more.
    to_install = {
        extra: modules
        for extra, modules in missing.items()
        if modules and not any(modules < others for others in missing.values())
    }
    if not to_install:
        return
    modules = sorted(set().union(*to_install.values()))
    reasons = " and ".join(f"{needed[extra]} (extra {extra})" for extra in to_install)
    message = (
        f"{name}: not installed: {', '.join(modules)}; needed for {reasons}; "
        f"run {extras.install_command(to_install)}"
    )
    is_whole_study = not options or options[0].startswith("-") or options[0] == "all"
    if is_whole_study and not parsed.dry_run:
        raise UserError(message)
    print(f"warning: {message}", file=sys.stderr)
