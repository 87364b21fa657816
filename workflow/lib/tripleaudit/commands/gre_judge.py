"""``tripleaudit gre-judge``: ask a language model which triples a text supports and which bundle several facts."""

import argparse

from tripleaudit.arguments import SHARE, Whole

HELP = "judge extracted triples with a language model (factualness and granularity)"
INTERNAL = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--section", required=True, metavar="JSON|FILE", help="section 'generative', or a study file")
    parser.add_argument("--study", default="study", help="whose budget is used (default: the study file's name)")
    parser.add_argument("--endpoint", required=True, metavar="NAME", help="an endpoint of the section")
    parser.add_argument("--triples", required=True, metavar="FILE", help="extracted triples")
    parser.add_argument("--texts", nargs="*", default=[], metavar="FILE", help="ask about the texts of this file alone")
    parser.add_argument("--factualness", required=True, metavar="FILE", help="where to write the judgements")
    parser.add_argument("--granularity", required=True, metavar="FILE", help="where to write the splitting answers")
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=("factualness", "granularity"),
        default=["factualness", "granularity"],
        help="what to ask; the file of the other kind gets no entry (default: both)",
    )
    parser.add_argument("--factualness-prompt", default="judge", metavar="NAME", help="(default: %(default)s)")
    parser.add_argument("--granularity-prompt", default="split", metavar="NAME", help="(default: %(default)s)")
    parser.add_argument(
        "--most-unreadable",
        type=SHARE,
        default=0.1,
        metavar="SHARE",
        help="of the answers; more is an error (default: %(default)s)",
    )
    parser.add_argument("--report", required=True, metavar="FILE", help="counts of questions and unreadable answers")
    parser.add_argument("--model-config", nargs="*", default=[], metavar="FILE", help="config.json of a served model")
    parser.add_argument("--threads", type=Whole(), help="CPU threads of the local server")
    parser.add_argument("--server-log", metavar="FILE", help="output of the local server")


def run(args: argparse.Namespace) -> int:
    import logging
    from pathlib import Path

    from tripleaudit.files import write_json
    from tripleaudit.grescores.judging import judge, split
    from tripleaudit.grescores.systems import read_judged
    from tripleaudit.llm import section as settings
    from tripleaudit.llm.prompts import load_prompt

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    prompts = load_prompt(args.factualness_prompt), load_prompt(args.granularity_prompt)
    section, study = settings.read_section(args.section, args.study)
    system = read_judged(args.triples, args.texts)
    model_dir = Path(args.model_config[0]).parent if args.model_config else None
    reports = {}
    with settings.open_client(section, args.endpoint, study, model_dir, args.server_log, args.threads) as client:
        for path, ask, prompt, name in (
            (args.factualness, judge, prompts[0], "factualness"),
            (args.granularity, split, prompts[1], "granularity"),
        ):
            details = {}
            if name in args.kinds:
                details, report = ask(system, client, prompt, args.most_unreadable)
                reports[name] = report.to_json()
                logging.info("%s: %s", name, reports[name])
            write_json(path, details)
    write_json(args.report, reports)
    return 0
