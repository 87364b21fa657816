"""``tripleaudit gre-score``: the GREScores of a file of extracted triples."""

import argparse
from typing import TYPE_CHECKING, Any

from tripleaudit.core.arguments import MONEY, NUMBER, Real, add_settings
from tripleaudit.llm.store import DEFAULT_CACHE

if TYPE_CHECKING:
    from tripleaudit.llm.endpoint import Endpoint

READS = ("data/prompts/judge.yaml", "data/prompts/split.yaml")

HELP = "compute GREScores of extracted triples (topical similarity, uniqueness, completeness, factualness, granularity)"
DESCRIPTION = """Each score is computed if its input is given: topical similarity (TS) needs --lda or --lda-text,
uniqueness (US) --embedder, completeness (CS) --embedder and --reference, factualness (FS) --factualness or --endpoint,
granularity (GS) --granularity or --endpoint (docs/reference/grescores.md)."""


def configure(parser: argparse.ArgumentParser) -> None:
    from tripleaudit.study.config.grescores import GreGold, GreJudge, Grescores

    parser.description = f"{HELP}. {DESCRIPTION}"
    parser.add_argument(
        "--triples",
        required=True,
        metavar="FILE",
        help="extracted triples: project .jsonl, or {text: [[subject, relation, object], ...]}",
    )
    parser.add_argument("--reference", metavar="FILE", help="gold triples in one of the same forms")
    add_settings(parser, GreGold, order="reference-order")
    parser.add_argument(
        "--factualness", metavar="FILE", help='stored judgements, {text: {"results": [true, ...]}}'
    )
    parser.add_argument(
        "--granularity", metavar="FILE", help="stored answers of a splitting prompt"
    )
    parser.add_argument(
        "--similarities",
        metavar="FILE",
        help="stored cosines of gold and extracted triples, for CS",
    )
    parser.add_argument(
        "--endpoint", metavar="URL", help="OpenAI-compatible endpoint that judges FS and GS"
    )
    parser.add_argument("--model", metavar="NAME", help="model at the endpoint")
    parser.add_argument(
        "--api-key-env", metavar="NAME", help="environment variable with the endpoint's key"
    )
    add_settings(parser, GreJudge, most_unreadable="most-unreadable")
    add_querying(parser)
    parser.add_argument("--embedder", metavar="DIR", help="sentence-transformers model folder")
    parser.add_argument(
        "--phi",
        type=Real(-1, 1),
        metavar="X",
        help="similarity threshold (default: the embedder's)",
    )
    parser.add_argument(
        "--closed",
        action="store_true",
        help="for CS, relations must match exactly (use it if the entities were given)",
    )
    topics = parser.add_mutually_exclusive_group()
    topics.add_argument("--lda", metavar="DIR", help="topic model of tripleaudit gre-lda")
    topics.add_argument("--lda-text", metavar="FILE", help="texts to train a topic model on")
    parser.add_argument(
        "--topics",
        type=NUMBER,
        default=50,
        metavar="K",
        help="topics with --lda-text (default: 50)",
    )
    add_settings(parser, Grescores, mode="mode", bootstrap="bootstrap", seed="seed")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_querying(parser: argparse.ArgumentParser) -> None:
    """Add how a model at an endpoint is queried, and what that may cost."""
    from tripleaudit.llm.endpoint import Endpoint

    parser.add_argument(
        "--cache",
        default=DEFAULT_CACHE,
        metavar="DIR",
        help="folder of stored answers (default: %(default)s)",
    )
    helps = {
        "concurrency": "requests in flight",
        "temperature": "sampling temperature",
        "reasoning_effort": "reasoning effort of the model: low, medium, high, ...",
    }
    add_settings(
        parser,
        Endpoint,
        helps,
        concurrency="concurrency",
        temperature="temperature",
        reasoning_effort="reasoning-effort",
    )
    parser.add_argument(
        "--prices",
        nargs=2,
        type=MONEY,
        metavar=("IN", "OUT"),
        help="money per million tokens (default: none)",
    )
    parser.add_argument(
        "--budget", type=MONEY, metavar="MONEY", help="limit of the money spent; requires --prices"
    )


def endpoint_of(
    args: argparse.Namespace, url: str | None, key: str | None, **more: Any
) -> "Endpoint":
    """Return the endpoint that these options describe.

    Raises:
        UserError: there is a budget, and no prices.
    """
    from tripleaudit.core.errors import UserError
    from tripleaudit.llm.endpoint import Endpoint, Prices

    prices = Prices(*args.prices) if args.prices else Prices()
    if args.budget is not None and not prices:
        raise UserError("--budget requires --prices (the cost cannot be computed without them)")
    values = {
        "base_url": url,
        "model": args.model,
        "api_key_env": key,
        "concurrency": args.concurrency,
    }
    sampling = {"temperature": args.temperature, "reasoning_effort": args.reasoning_effort}
    return Endpoint.from_config("endpoint", {**values, "prices": prices, **sampling, **more})


def run(args: argparse.Namespace) -> int:
    import json
    import logging
    import sys
    from dataclasses import replace

    from tripleaudit.grescores.evaluate import Settings, evaluate

    level = (
        logging.INFO if args.endpoint else logging.WARNING
    )  # querying takes long, so it says how far it has come
    logging.basicConfig(level=level, format="%(levelname)s %(message)s", stream=sys.stderr)
    _check(args)
    inputs, judged = _inputs(args), {}
    matching = _matching(args, inputs.elements)
    if args.endpoint:  # after all that may be refused: what follows is paid for
        verdicts, splits, judged = _judge(args, inputs.system, inputs.verdicts, inputs.splits)
        inputs = replace(inputs, verdicts=verdicts, splits=splits)
    result = evaluate(
        inputs, Settings(args.mode, matching, resamples=args.bootstrap, seed=args.seed)
    )
    record = {**result.record, **({"judge": judged} if judged else {})}
    if args.json:
        values = {name: score.value for name, score in result.scores.items()}
        intervals = {n: [s.low, s.high] for n, s in result.scores.items() if s.low is not None}
        print(
            json.dumps(
                {**values, "intervals": intervals, "record": record}, ensure_ascii=False, indent=2
            )
        )
        return 0
    for name, score in result.scores.items():
        interval = "" if score.low is None else f"   [{score.low:.4f}, {score.high:.4f}]"
        print(f"{name:<14}{score.value:10.4f}{interval}   {score.texts} texts")
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse conflicting options and invalid thresholds before anything is read."""
    from tripleaudit.core.errors import UserError
    from tripleaudit.grescores.similarity import Matching

    if args.phi is not None:
        Matching(args.phi)
    if bool(args.endpoint) != bool(args.model):
        raise UserError("--endpoint and --model belong together; expected both or neither")
    if args.similarities and args.embedder:
        raise UserError("--similarities and --embedder both decide CS; expected one of them")
    if args.similarities and not args.reference:
        raise UserError(
            "--similarities needs --reference, which says which texts have gold triples"
        )


def _inputs(args: argparse.Namespace):
    """Read all files."""
    from tripleaudit.grescores.evaluate import Inputs
    from tripleaudit.grescores.judgements import read_splits, read_verdicts
    from tripleaudit.grescores.similarity import Elements, FolderEncoder, read_similarities
    from tripleaudit.grescores.systems import read_system
    from tripleaudit.grescores.topics import TopicModel, read_texts, train_topics

    topics = TopicModel.load(args.lda) if args.lda else None
    if args.lda_text:
        topics = train_topics(read_texts(args.lda_text), args.topics, args.seed)
    return Inputs(
        read_system(args.triples, order="sro"),
        read_system(args.reference, args.order) if args.reference else None,
        read_verdicts(args.factualness) if args.factualness else None,
        read_splits(args.granularity) if args.granularity else None,
        read_similarities(args.similarities) if args.similarities else None,
        topics,
        Elements(FolderEncoder(args.embedder)) if args.embedder else None,
    )


def _matching(args: argparse.Namespace, elements):
    from tripleaudit.grescores.similarity import PUBLISHED_PHI, Matching, default_phi

    if not elements and not args.similarities:
        return None
    phi = args.phi
    if phi is None:
        phi = default_phi(elements.encoder.name) if elements else PUBLISHED_PHI
    return Matching(phi, closed=args.closed)


def _judge(args: argparse.Namespace, system, verdicts, splits):
    """Query the endpoint for the judgements that are not given as files."""
    import sys
    from dataclasses import asdict

    from tripleaudit.grescores.judging import FACTUALNESS, GRANULARITY
    from tripleaudit.llm.client import Client
    from tripleaudit.llm.prompts import load_prompt

    endpoint = endpoint_of(args, args.endpoint, args.api_key_env)
    reports = {}
    with Client(endpoint, args.cache, budget=args.budget) as client:
        if verdicts is None:
            details, report = FACTUALNESS.judge(
                system, client, load_prompt("judge"), args.most_unreadable
            )
            verdicts = {text: entry["results"] for text, entry in details.items()}
            reports["fs"] = asdict(report)
        if splits is None:
            splits, report = GRANULARITY.judge(
                system, client, load_prompt("split"), args.most_unreadable
            )
            reports["gs"] = asdict(report)
        sent = client.totals
    cost = f", cost {sent.cost:.4f}" if endpoint.prices else ""
    print(
        f"Sent {sent.sent:,} requests, {sent.cached:,} answers were stored{cost}.", file=sys.stderr
    )
    return verdicts, splits, reports
