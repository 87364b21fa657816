"""``tripleaudit estimate``: requests, tokens and money of a study, and times of its trainings."""

import argparse

HELP = "estimate the requests, tokens and money that a study still needs, and the time of its trainings"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "study",
        nargs="+",
        metavar="STUDY.yaml",
        help="study files, or names of `tripleaudit list studies`; later ones override keys of earlier ones; "
        "or one study as a JSON object",
    )
    parser.add_argument(
        "--results", default="", metavar="DIR", help="the study's folder (default: results/<study>)"
    )
    parser.add_argument(
        "--downloads",
        default="resources/downloads",
        metavar="DIR",
        help="fetched files (default: %(default)s)",
    )
    parser.add_argument(
        "--all", action="store_true", help="list each training with all measurements, not only sums"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> None:
    import json

    from tripleaudit.core.arguments import json_given
    from tripleaudit.core.shipped import study_file
    from tripleaudit.study import requests, training_time_text, training_times
    from tripleaudit.study.study import Study

    folders = {"study": args.results, "downloads": args.downloads}
    first, *_ = args.study
    if first.lstrip().startswith("{"):
        study = Study(json_given("the study", first), **folders)
    else:
        study = Study.read(*map(study_file, args.study), **folders)
    result = requests.plan(study)
    times = training_times.training_times(study)
    if args.json:
        print(json.dumps({**result, "trainings": training_times.to_json(times)}, indent=2))
        return
    if result["jobs"] or result["unknown"]:
        print(requests.as_table(result))
    else:
        print("the study sends no requests to language models")
    if times:
        lines = training_time_text.all_lines if args.all else training_time_text.summary_lines
        print(*lines(times, study.typed.encoder.model), sep="\n")
