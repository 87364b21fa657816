"""``tripleaudit estimate``: what a study would still send, cost and compute, before anything runs."""

import argparse

HELP = "say how many requests, how much money and how many hours of training a study still takes"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True, metavar="JSON|FILE", help="a study: language models and trainings")
    parser.add_argument("--results", default="", metavar="DIR", help="the study's folder (default: results/<study>)")
    parser.add_argument(
        "--downloads", default="resources/downloads", metavar="DIR", help="fetched files (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> None:
    import json
    from dataclasses import asdict

    from tripleaudit.arguments import json_given
    from tripleaudit.plan import hours, requests
    from tripleaudit.plan.study import Study
    from tripleaudit.shipped import study_file

    folders = {"study": args.results, "downloads": args.downloads}
    if args.config.lstrip().startswith("{"):
        study = Study(json_given("--config", args.config), **folders)
    else:
        study = Study.read(study_file(args.config), **folders)
    result, took = requests.plan(study), hours.estimate(study)
    if args.json:
        print(json.dumps({**result, "trainings": [*map(asdict, took)]}, indent=2))
        return
    lines = [requests.as_table(result)] if result["jobs"] or result["unknown"] else []
    print("\n".join(lines + hours.as_lines(took)) or "the study queries no language model and trains nothing")
