"""``tripleaudit generate``: extract triples from texts with a language model."""

import argparse
import logging

from tripleaudit.arguments import Whole

HELP = "extract triples from texts with a language model behind an OpenAI-compatible endpoint"
INTERNAL = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--section", required=True, metavar="JSON|FILE", help="section 'generative', or a study file")
    parser.add_argument("--study", default="study", help="whose budget is used (default: the study file's name)")
    parser.add_argument("--dataset", required=True, help="a data set of the section")
    parser.add_argument("--system", required=True, help="a system of the section")
    parser.add_argument("--texts", required=True, metavar="FILE", help="sentences, as JSON lines")
    parser.add_argument("--answers", required=True, metavar="FILE", help="result rows: answers, triples, statuses")
    parser.add_argument("--predictions", required=True, metavar="FILE", help="predictions, as JSON lines")
    parser.add_argument("--report", required=True, metavar="FILE", help="counts, statuses, tokens, money, provenance")
    parser.add_argument(
        "--model-config",
        nargs="*",
        default=[],
        metavar="FILE",
        help="config.json of the model that the endpoint serves",
    )
    parser.add_argument("--examples", nargs="*", metavar="FILE", help="sentences that the system's examples come from")
    parser.add_argument("--threads", type=Whole(), help="CPU threads of the local server")
    parser.add_argument("--server-log", metavar="FILE", help="output of the local server")


def run(args: argparse.Namespace) -> None:
    from pathlib import Path

    from tripleaudit.corpora.store import load_sentences, save_sentences
    from tripleaudit.errors import UserError
    from tripleaudit.files import write_json, write_jsonl
    from tripleaudit.generative import extraction
    from tripleaudit.llm import section as settings

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    log = logging.getLogger(__name__)
    section, study = settings.read_section(args.section, args.study)
    for kind, name in (("datasets", args.dataset), ("systems", args.system)):
        if name not in section[kind]:
            raise UserError(f"generative/{kind}: '{name}' is not defined; known: {', '.join(section[kind]) or 'none'}")
    system = section["systems"][args.system]
    sentences = load_sentences(args.texts)
    examples = load_sentences(args.examples[0]) if args.examples else ()
    task = extraction.build_task(system, section["datasets"][args.dataset], sentences, examples)
    model_dir = Path(args.model_config[0]).parent if args.model_config else None
    endpoint = system["endpoint"]
    with settings.open_client(section, endpoint, study, model_dir, args.server_log, args.threads) as client:
        estimate = client.estimate(request for _, _, request in task.requests(sentences))
        log.info("%d requests, %d answered by the cache, %d to send", estimate.total, estimate.cached, estimate.to_pay)
        results = extraction.extract(client, sentences, task)
        model, paid, served = client.endpoint.model, client.totals, client.bill()
    log.info(
        "sent %d requests, %d + %d tokens, cost %.6g", paid.sent, paid.prompt_tokens, paid.completion_tokens, paid.cost
    )
    counts = extraction.summary(results)
    if counts["statuses"]["failed"] or counts["statuses"]["refused"]:
        log.warning(
            "%d answers cannot be read, %d are refusals", *(counts["statuses"][s] for s in ("failed", "refused"))
        )
    write_jsonl(args.answers, (item.to_json() for item in results))
    save_sentences(args.predictions, (item.prediction(task.relations) for item in results))
    provenance = {"dataset": args.dataset, "system": args.system, "setting": task.setting, "model": model}
    provenance |= {"prompt": task.prompt.name, "prompt_sha256": task.prompt.sha256}
    provenance |= {"examples": [sentence.id for sentence in task.examples], "sample": task.sample}
    provenance |= {"relations": task.relations.names, "entity_types": list(task.entity_types)}
    identity = settings.identity(section, args.dataset, args.system)
    write_json(
        args.report,
        provenance | counts | {"identity": identity, "lost": served["lost"], "capabilities": served["capabilities"]},
    )
