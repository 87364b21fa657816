"""``tripleaudit estimate``: what a study would still send, cost and compute, before anything runs."""

import argparse

HELP = "say how many requests, how much money and how many hours of training a study still takes"


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--config", metavar="JSON|FILE", help="a study: language models and trainings")
    what.add_argument(
        "--section", metavar="JSON|FILE", help="section 'generative' alone: extraction by language models"
    )
    parser.add_argument("--study", default="study", help="name of the study (default: the study file's)")
    parser.add_argument("--results", metavar="DIR", help="the study's folder (default: results/<study>)")
    parser.add_argument(
        "--downloads", default="resources/downloads", metavar="DIR", help="fetched files (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> None:
    import json
    from dataclasses import asdict
    from pathlib import Path

    from tripleaudit.llm import section as settings
    from tripleaudit.plan import hours, requests
    from tripleaudit.plan.language_models import LanguageModels

    if args.config is None:
        section, study = settings.read_section(args.section, args.study)
        models = LanguageModels.alone(section)
        result = requests.extraction(models, study, Path(args.results or f"results/{study}"))
        print(json.dumps(result, indent=2) if args.json else requests.as_table(result))
        return
    planned = _study(args)
    result, took = requests.plan(planned), hours.estimate(planned, Path(planned.places.study).parent)
    if args.json:
        print(json.dumps({**result, "trainings": [*map(asdict, took)]}, indent=2))
        return
    asked = [requests.as_table(result)] if result["jobs"] or result["unknown"] else []
    print("\n".join(asked + hours.as_lines(took)))


def _study(args: argparse.Namespace):
    """Read a study, from its file or as JSON."""
    import json

    from tripleaudit.errors import UserError
    from tripleaudit.plan.study import Study
    from tripleaudit.shipped import study_file

    folders = {"study": args.results or "", "downloads": args.downloads}
    if not args.config.lstrip().startswith("{"):
        return Study.read(study_file(args.config), **folders)
    try:
        return Study(json.loads(args.config), **folders)
    except ValueError as error:
        raise UserError(f"--config: not valid JSON ({error})") from error
