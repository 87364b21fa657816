"""``tripleaudit minea``: test a language model on your own documents by inserted entities.

MINEA (multiple infused needle extraction accuracy) inserts entities, the needles, into documents
and counts how many of them a language model extracts. The command prints an estimate of the
requests and their cost, asks for confirmation, then inserts (:mod:`tripleaudit.needles.making`),
extracts (:mod:`tripleaudit.needles.extracting`), scores, and prints the tables of
:mod:`tripleaudit.tables`. Studies do the same in steps, by the rules of ``needles.smk``.
"""

import argparse

from tripleaudit.commands.gre_score import add_querying, endpoint_of
from tripleaudit.core.arguments import NUMBER, POSITIVE, add_force, add_settings, check_folder

HELP = "insert invented entities into your documents and count how many a model extracts (MINEA)"
SETTINGS = {
    "schema": "schema",
    "types": "types",
    "per_type": "needles",
    "needle_tokens": "needle-tokens",
    "iterations": "iterations",
    "piece_chars": "piece-chars",
    "context": "context",
    "reserve": "reserve",
    "parts": "parts",
    "judge": "no-judge",
    "untouched": "no-untouched",
    "seed": "seed",
}
"""Field of :class:`~tripleaudit.needles.plan.Plan` -> option, without dashes.

``no-judge`` and ``no-untouched`` switch off fields that are on by default
(:func:`tripleaudit.core.arguments.add_settings`).
"""


HELPS = {
    "schema": "entity types to extract: paper, demo or a JSON file (docs/reference/minea.md)",
    "types": "only these types of the schema (default: all)",
    "context": "tokens that prompt and answer may have together (default: no limit)",
    "reserve": "longest answer in tokens, kept free in the context",
    "judge": "do not ask the model whether entities are equal (criterion llm)",
    "untouched": "do not also extract the original documents (no rate of false positives)",
    "parts": "parts of each document in the experiment on positions (lost in the middle); 0: none",
}
"""Field -> description on the command line, where that of the configuration does not fit."""


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.needles.plan import Plan

    parser.add_argument(
        "documents",
        nargs="+",
        metavar="DOCUMENT",
        help="text files, or folders of .txt and .md files",
    )
    parser.add_argument(
        "--endpoint", metavar="URL", help="base URL of an OpenAI-compatible server, up to /v1"
    )
    parser.add_argument("--model", required=True, help="the model's name at the endpoint")
    parser.add_argument(
        "--gguf", metavar="FILE", help="serve this model instead of querying an endpoint"
    )
    parser.add_argument(
        "--key-env", metavar="NAME", help="name of the environment variable that holds the key"
    )
    add_settings(parser, Plan, HELPS, **SETTINGS)
    parser.add_argument(
        "--needle-source",
        choices=("model", "templates"),
        default="model",
        help="what writes the inserted texts: the language model (default) or templates",
    )
    parser.add_argument(
        "--max-chars",
        type=NUMBER,
        metavar="N",
        help="shorten documents to whole paragraphs of at most N characters together",
    )
    parser.add_argument(
        "--tokenizer",
        metavar="FILE",
        help="tokenizer.json that counts tokens (default: the counts of the server)",
    )
    parser.add_argument(
        "--timeout",
        type=POSITIVE,
        default=600,
        metavar="S",
        help="seconds per answer (default: 600)",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the inserted texts, entities, calls, scores and tables",
    )
    add_force(parser)
    add_querying(parser)
    parser.add_argument("--yes", action="store_true", help="send without asking")
    parser.add_argument("--estimate", action="store_true", help="print the estimate and stop")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of tables"
    )


def run(args: argparse.Namespace) -> int:
    import logging
    import sys

    from tripleaudit.core.shipped import shipped
    from tripleaudit.llm.conversation import counters
    from tripleaudit.llm.estimate import estimate_text
    from tripleaudit.needles.extracting import estimate_needles
    from tripleaudit.needles.haystack import read_documents
    from tripleaudit.needles.plan import Plan

    if args.out:
        check_folder(args.out, args.force)
    documents = read_documents(map(shipped, args.documents), args.max_chars)
    plan = Plan.checked({key: getattr(args, key) for key in SETTINGS}, "needles")
    plan.load_schema()

    counter = counters(args.tokenizer)
    with _client(args) as client:
        generator = client if args.needle_source == "model" else None
        stages = estimate_needles(documents, plan, client, counter, generator)
        to_send = sum(stage.to_pay for stage in stages.values())
        print(estimate_text(stages, bool(client.endpoint.prices)), file=sys.stderr)
        if args.estimate:
            return 0
        if to_send and not args.yes and not _confirmed():
            print("Nothing was sent. Add --yes to send the requests.", file=sys.stderr)
            return 0
        logging.basicConfig(
            level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S"
        )
        with client.stage("querying", sum(stage.total for stage in stages.values()), at_most=True):
            _measure(args, plan, documents, client, counter)
        print(_summary(client), file=sys.stderr)
    return 0


def _client(args: argparse.Namespace):
    from tripleaudit.core.errors import UserError
    from tripleaudit.llm.client import Client
    from tripleaudit.llm.llama import LocalServer, check_gguf

    if (args.endpoint is None) == (args.gguf is None):
        raise UserError("expected one of --endpoint URL and --gguf FILE")
    server = LocalServer(check_gguf(args.gguf), context=args.context) if args.gguf else None
    serve = {"source": args.gguf} if args.gguf else None
    endpoint = endpoint_of(args, args.endpoint, args.key_env, timeout=args.timeout, serve=serve)
    return Client(endpoint, args.cache, budget=args.budget, server=server)


def _summary(client) -> str:
    """Return the requests and the cost of this run, and of all answers of its result."""
    this_run = client.totals
    result = client.bill()  # includes answers that were stored before
    lines = [f"Sent {this_run.sent:,} requests, {this_run.cached:,} answers were stored."]
    if client.endpoint.prices:
        cost = f"Cost {this_run.cost:.4f} now, {result['cost']:.4f} in all for this result"
        if result["lost"]:
            cost += f", at most {result['lost']:.4f} more for attempts without an answer"
        lines.append(f"{cost}.")
    tokens_in, tokens_out = result["prompt_tokens"], result["completion_tokens"]
    tokens = f"Tokens in all: {tokens_in:,} in, {tokens_out:,} out"
    if result["reasoning_tokens"]:
        tokens += f" ({result['reasoning_tokens']:,} of them thought)"
    lines.append(f"{tokens}.")
    return "\n".join(lines)


def _confirmed() -> bool:
    import sys

    if not sys.stdin.isatty():
        return False
    print("Send these requests? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _measure(args: argparse.Namespace, plan, documents, client, counter) -> None:
    """Insert the needles, extract entities, score them, and print tables or JSON."""
    import json
    import sys
    import tempfile
    from pathlib import Path

    from tripleaudit.needles.extracting import extract_corpus
    from tripleaudit.needles.infused import Result
    from tripleaudit.needles.making import build_corpus
    from tripleaudit.needles.minea import rate_matches
    from tripleaudit.needles.score_rows import score_result
    from tripleaudit.scoring.scores import write_scores
    from tripleaudit.tables.building import build_table
    from tripleaudit.tables.inputs import load_inputs
    from tripleaudit.tables.render import to_markdown, write_table

    generator = client if args.needle_source == "model" else None
    corpus = build_corpus(documents, plan, generator, args.model)
    result = extract_corpus(corpus, plan, client, args.model, counter)
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(args.out or temporary)
        corpus.save(out / "corpus")
        folder = out / "model"
        result.save(folder)
        rate_matches(folder, plan.thresholds)  # adds the criteria to the saved result
        keys = {"study": "own", "corpus": "documents", "extractor": args.model}
        scores = score_result(corpus, Result.load(folder), plan, keys)
        write_scores(out / "scores.csv", scores)
        inputs = load_inputs(
            scores=[out / "scores.csv"], files={"criteria": [out / "model" / "criteria.jsonl"]}
        )
        names = ["minea", "needle-criteria", "needle-example", "iterations"]
        names += ["lost-in-the-middle"] if plan.parts else []
        tables = [build_table(name, inputs) for name in names]
        if args.out:
            for table in tables:
                write_table(table, out / "tables" / table.name)
        if args.json:
            print(json.dumps(as_object(scores, corpus.report, result.report), indent=2))
        else:
            print("\n".join(to_markdown(table) for table in tables))
    incomplete = result.report["incomplete"]
    if incomplete:
        print(
            f"warning: all calls about {len(incomplete)} pieces failed; the result is incomplete",
            file=sys.stderr,
        )


def as_object(scores, corpus_report: dict, report: dict) -> dict:
    """Return the result as one JSON object with stable keys.

    ``minea`` and ``types.<type>`` have ``minea``, ``low``, ``high``, ``needles`` and ``criteria``;
    ``iterations`` and ``parts`` are lists in order.

    Args:
        scores: rows of :mod:`tripleaudit.needles.score_rows`, which names their protocols
            (``needles``, ``iterations``, ...) and strata (``all``, a type, ``group:NAME``, a
            number).
        corpus_report: the report on the documents with needles.
        report: the report on the extraction.
    """
    result: dict = {
        "minea": {},
        "types": {},
        "groups": {},
        "iterations": {},
        "parts": {},
        "false_positives": None,
    }
    for score in scores:
        protocol, stratum = score.key("protocol"), score.stratum
        if protocol == "needles":
            if stratum == "all":
                row = result["minea"]
            elif stratum.startswith("group:"):
                row = result["groups"].setdefault(stratum.removeprefix("group:"), {})
            else:
                row = result["types"].setdefault(stratum, {})
            if score.metric == "minea":
                row |= {"minea": score.value, "low": score.low, "high": score.high}
            elif score.metric in ("needles", "minea_any", "displaced"):
                row[score.metric] = score.value
            elif score.metric == "rate":
                row.setdefault("criteria", {})[score.matching] = score.value
        elif protocol == "needles-untouched" and stratum == "all" and score.metric == "minea":
            result["false_positives"] = score.value
        elif protocol in ("iterations", "parts") and stratum.isdigit():
            result[protocol].setdefault(stratum, {})[score.metric] = score.value
    for protocol in ("iterations", "parts"):
        result[protocol] = [result[protocol][key] for key in sorted(result[protocol], key=int)]
    result["needles"] = corpus_report["needles"]
    result |= {
        key: report[key]
        for key in ("statuses", "incomplete", "prompt_tokens", "completion_tokens", "cost")
    }
    return result
