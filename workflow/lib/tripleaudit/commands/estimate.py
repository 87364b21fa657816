"""``tripleaudit estimate``: what the language-model stage of a study would send and cost, before anything is sent."""

import argparse

HELP = "say how many requests, tokens and how much money a study's language-model stage still takes"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--section", required=True, metavar="JSON|FILE", help="section 'generative', or a study file")
    parser.add_argument("--study", default="study", help="name of the study (default: the study file's)")
    parser.add_argument("--results", metavar="DIR", help="the study's folder (default: results/<study>)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> None:
    import json
    from pathlib import Path

    from tripleaudit.generative import settings
    from tripleaudit.generative.plan import as_table, plan

    section, study = settings.read_section(args.section, args.study)
    result = plan(section, study, Path(args.results or f"results/{study}"))
    print(json.dumps(result, indent=2) if args.json else as_table(result))
