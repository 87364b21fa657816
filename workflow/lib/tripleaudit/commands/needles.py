"""``tripleaudit needles STEP``: the steps of a MINEA study, as the workflow runs them."""

import argparse
import contextlib

from tripleaudit.arguments import NUMBER, SHARE, Whole

HELP = "make needles, extract with a language model, score (steps of the workflow)"
INTERNAL = True


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")

    corpus = steps.add_parser("corpus", help="needles in documents")
    corpus.add_argument("--plan", required=True, metavar="JSON", help="settings of the study (section 'needles')")
    corpus.add_argument("--documents", nargs="+", required=True, metavar="PATH", help="text files or folders")
    corpus.add_argument("--max-documents", type=NUMBER, metavar="N", help="take only the first N")
    corpus.add_argument("--max-chars", type=NUMBER, metavar="N", help="shorten to whole paragraphs within N characters")
    corpus.add_argument("--needle-file", metavar="FILE", help="use these needles instead of making some")
    _model_arguments(corpus, required=False)
    corpus.add_argument("--out", required=True, metavar="DIR", help="gets documents, needles and infusions")
    corpus.set_defaults(work=_corpus)

    extract = steps.add_parser("extract", help="extract entities and apply the criteria")
    extract.add_argument("--plan", required=True, metavar="JSON", help="settings of the study")
    extract.add_argument("--corpus", required=True, metavar="DIR", help="what 'corpus' wrote")
    _model_arguments(extract)
    extract.add_argument("--judge", metavar="ENDPOINT", help="endpoint of the criterion llm (default: the same)")
    extract.add_argument("--judge-config", nargs="*", default=[], metavar="FILE", help="config.json of a served judge")
    extract.add_argument("--out", required=True, metavar="DIR", help="gets entities, calls and criteria")
    extract.add_argument("--draw", type=Whole(), default=0, metavar="N", help="in another one all answers are new")
    extract.set_defaults(work=_extract)

    score = steps.add_parser("score", help="tidy scores of one model")
    score.add_argument("--plan", required=True, metavar="JSON", help="settings of the study")
    score.add_argument("--corpus", required=True, metavar="DIR", help="what 'corpus' wrote")
    score.add_argument("--result", required=True, metavar="DIR", help="what 'extract' wrote")
    score.add_argument("--study", required=True)
    score.add_argument("--name", default="documents", help="what the documents are called in the scores")
    score.add_argument("--model", required=True, help="what the model is called in the scores")
    score.add_argument("--synonyms", action="store_true", help="relevance with WordNet synonyms, if it is installed")
    score.add_argument("--out", required=True, metavar="FILE")
    score.add_argument("--draw", type=Whole(), default=0, metavar="N", help="of the extraction")
    score.set_defaults(work=_score)

    triples = steps.add_parser("triples", help="sentences with known triples in documents")
    triples.add_argument("--options", required=True, metavar="JSON", help="section 'needles/triples'")
    triples.add_argument("--needles", required=True, metavar="FILE", help="sentences with triples (JSON lines)")
    triples.add_argument("--haystack", nargs="*", default=[], metavar="FILE", help="sentences without triples")
    triples.add_argument("--documents", nargs="*", default=[], metavar="PATH", help="text files instead")
    triples.add_argument("--out", required=True, metavar="DIR", help="gets sentences, pieces and their needles")
    triples.set_defaults(work=_triples)

    ask = steps.add_parser("extract-triples", help="extract triples from the pieces with a language model")
    ask.add_argument("--options", required=True, metavar="JSON", help="section 'needles/triples'")
    ask.add_argument("--corpus", required=True, metavar="DIR", help="what 'triples' wrote")
    _model_arguments(ask)
    ask.add_argument("--out", required=True, metavar="FILE", help="predictions (JSON lines)")
    ask.add_argument("--calls", required=True, metavar="FILE", help="call log (JSON lines)")
    ask.set_defaults(work=_extract_triples)

    rate = steps.add_parser("score-triples", help="MINEA of triples of one prediction file")
    rate.add_argument("--options", required=True, metavar="JSON", help="section 'needles/triples'")
    rate.add_argument("--needles", required=True, metavar="FILE", help="triple needles of the records")
    rate.add_argument("--predictions", required=True, metavar="FILE", help="predictions (JSON lines)")
    rate.add_argument("--keys", required=True, metavar="JSON", help="study, corpus, extractor, noise, seed, ...")
    rate.add_argument("--calls", metavar="FILE", help="call log of a language model")
    rate.add_argument("--out", required=True, metavar="FILE")
    rate.set_defaults(work=_score_triples)

    discover = steps.add_parser("discover", help="which Schema.org types fit documents; writes a schema")
    discover.add_argument("--documents", nargs="+", required=True, metavar="PATH", help="text files or folders")
    discover.add_argument("--threshold", type=SHARE, default=0.5, help="least relevance of a type (default: 0.5)")
    discover.add_argument("--top", type=NUMBER, metavar="N", help="keep the N most relevant types instead")
    discover.add_argument("--max-tokens", type=NUMBER, default=1000, metavar="N", help="of the answer (default: 1000)")
    _model_arguments(discover)
    discover.add_argument("--out", required=True, metavar="FILE", help="the schema")
    discover.set_defaults(work=_discover)


def _model_arguments(parser: argparse.ArgumentParser, required: bool = True) -> None:
    parser.add_argument("--section", default="{}", metavar="JSON|FILE", help="section 'generative', or a study file")
    parser.add_argument("--budget-of", default="study", metavar="STUDY", help="whose budget is used")
    parser.add_argument("--endpoint", required=required, metavar="NAME", help="an endpoint of the section")
    parser.add_argument("--model-config", nargs="*", default=[], metavar="FILE", help="config.json of a served model")
    parser.add_argument(
        "--tokenizer", metavar="FILE", help="tokenizer.json that counts tokens (default: served model's)"
    )
    parser.add_argument("--threads", type=Whole(), help="CPU threads of a local server")
    parser.add_argument("--server-log", metavar="FILE", help="output of a local server")


def run(args: argparse.Namespace) -> int:
    import logging

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    args.work(args)
    return 0


def _corpus(args: argparse.Namespace) -> None:
    from tripleaudit.needles.haystack import read_documents
    from tripleaudit.needles.needle import load_needles
    from tripleaudit.needles.stages import build_corpus, corpus_from_needles

    documents = read_documents(args.documents, args.max_chars, args.max_documents)
    if args.needle_file:
        corpus = corpus_from_needles(documents, load_needles(args.needle_file), _plan(args))
    elif args.endpoint:
        with _client(args) as client:
            plan = _plan(args, client.endpoint.context)
            corpus = build_corpus(documents, plan, client, client.endpoint.model)
    else:
        corpus = build_corpus(documents, _plan(args), None)
    corpus.save(args.out)


def _extract(args: argparse.Namespace) -> None:
    from tripleaudit.needles.rehearsal import rehearse
    from tripleaudit.needles.stages import Corpus, extract_corpus, save_extraction

    corpus = Corpus.load(args.corpus)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(_client(args))
        client.redraw(args.draw)
        judge = None
        if args.judge and args.judge != args.endpoint:
            judge = stack.enter_context(_client(args, args.judge, args.judge_config))
        plan = _plan(args, client.endpoint.context)
        stages = rehearse(corpus, plan, client, _counters(args), judge=judge)
        totals = {name: stage.total for name, stage in stages.items()}
        if judge is not None:
            stack.enter_context(judge.stage("judge", totals.pop("judge", 0), at_most=True))
        stack.enter_context(client.stage("extraction", sum(totals.values()), at_most=True))
        result = extract_corpus(corpus, plan, client, client.endpoint.model, _counters(args), judge)
        result.report["capabilities"] = {
            item.endpoint.model: item.bill()["capabilities"] for item in (client, judge or client)
        }
    save_extraction(result, args.out)


def _score(args: argparse.Namespace) -> None:
    import dataclasses

    from tripleaudit.files import write_json
    from tripleaudit.needles import reference_free
    from tripleaudit.needles.score_rows import score_result
    from tripleaudit.needles.stages import Corpus, load_result
    from tripleaudit.scoring.scores import sidecar_of, software, write_scores

    stored = load_result(args.result)
    synonyms = reference_free.wordnet() if args.synonyms else None
    plan = _plan(args)
    plan = dataclasses.replace(plan, seed=plan.seed + args.draw)  # tables show the mean of runs with several seeds
    keys = {"study": args.study, "corpus": args.name, "extractor": args.model}
    scores = score_result(Corpus.load(args.corpus), stored, plan, keys, synonyms)
    write_scores(args.out, scores)
    write_json(sidecar_of(args.out), {"settings": plan.to_json(), "report": stored.report, "software": software()})


def _triples(args: argparse.Namespace) -> None:
    import random
    from pathlib import Path

    from tripleaudit.corpora.store import load_sentences, save_sentences
    from tripleaudit.errors import UserError
    from tripleaudit.needles import triples
    from tripleaudit.needles.haystack import read_documents
    from tripleaudit.shipped import DATA

    options = _json(args.options, "--options")
    if bool(args.haystack) == bool(args.documents):
        raise UserError("needles triples: expected one of --haystack and --documents")
    seed = options.get("seed", 0)
    if args.documents:
        documents = read_documents(args.documents, options.get("max_chars"), options.get("documents"))
    else:
        bare = [sentence for path in args.haystack for sentence in load_sentences(path)]
        documents = triples.haystacks(bare, options.get("documents", 4), options.get("sentences", 60), seed)
    share = triples.Share(**{key: options[key] for key in ("target", "minimum", "maximum") if key in options})
    most = options.get("per_relation")
    source = load_sentences(DATA / "new_facts.jsonl" if options.get("new_facts") else args.needles)
    if wanted := options.get("new_facts"):
        if wanted > len(source):
            raise UserError(f"needles/triples/new_facts: {wanted}, expected at most {len(source)}")
        source = random.Random(f"new-facts-{seed}").sample(source, wanted)
    for form, length in (("sentences", None), ("pieces", options.get("piece_chars", 1500))):
        made = triples.infuse_triples(documents, source, seed, most, share, length)
        save_sentences(Path(args.out) / f"{form}.jsonl", made.records)
        triples.save_triple_needles(Path(args.out) / f"{form}-needles.jsonl", made.needles)


def _extract_triples(args: argparse.Namespace) -> None:
    from pathlib import Path

    from tripleaudit.corpora.store import load_sentences, save_sentences
    from tripleaudit.files import write_jsonl
    from tripleaudit.llm.conversation import Limits
    from tripleaudit.needles.dialogues import extract_triples
    from tripleaudit.needles.rehearsal import rehearse_triples
    from tripleaudit.needles.triples import load_triple_needles

    options = _json(args.options, "--options")
    records = load_sentences(Path(args.corpus) / "pieces.jsonl")
    needles = load_triple_needles(Path(args.corpus) / "pieces-needles.jsonl")
    relations = options.get("relations") or sorted({needle.relation for needle in needles})
    with _client(args) as client:
        limits = Limits(options.get("iterations", 0), client.endpoint.context, options.get("reserve", 800))
        stage = rehearse_triples(records, relations, limits, client, _counters(args))
        with client.stage("triples", stage.total, at_most=True):
            predictions, calls = extract_triples(
                records, relations, limits, client, client.endpoint.model, _counters(args)
            )
    save_sentences(args.out, predictions)
    write_jsonl(args.calls, calls)


def _score_triples(args: argparse.Namespace) -> None:
    from tripleaudit.corpora.store import load_sentences
    from tripleaudit.files import read_jsonl
    from tripleaudit.needles import triples
    from tripleaudit.needles.score_rows import triple_scores
    from tripleaudit.scoring.scores import write_scores

    options, keys = _json(args.options, "--options"), _json(args.keys, "--keys")
    calls = [row for _, row in read_jsonl(args.calls)] if args.calls else []
    predictions, needles = load_sentences(args.predictions), triples.load_triple_needles(args.needles)
    write_scores(args.out, triple_scores(needles, predictions, options, keys, calls))


def _discover(args: argparse.Namespace) -> None:
    from tripleaudit.errors import UserError
    from tripleaudit.files import write_json
    from tripleaudit.needles.generation import discover_types, discovered_schema, fitting_types, joined_types
    from tripleaudit.needles.haystack import read_documents
    from tripleaudit.needles.schema import load_schema, shipped_schemas

    documents = read_documents(args.documents)
    with _client(args) as client:
        talks = {document.id: discover_types(document, args.max_tokens) for document in documents}
        rows = joined_types(client.drive(talks).values())
    for row in rows:
        print(f"{row['relevance']:.2f}  {row['type']:<24} {row['reason']}")
    types = fitting_types(rows, args.threshold, args.top)
    if not types:
        raise UserError("schema discovery: the answers name no type that is relevant enough; lower --threshold")
    known = {name: kind for path in shipped_schemas().values() for name, kind in load_schema(path).types.items()}
    write_json(args.out, discovered_schema(types, known))


def _plan(args: argparse.Namespace, context: int | None = None):
    from tripleaudit.needles.plan import Plan

    values = _json(args.plan, "--plan")
    return Plan.from_mapping(values if values.get("context") is not None else {**values, "context": context})


def _json(text: str, where: str) -> dict:
    import json

    from tripleaudit.errors import UserError

    try:
        value = json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected a JSON object, got {value!r}")
    return value


def _client(args: argparse.Namespace, endpoint: str | None = None, model_config: list[str] | None = None):
    from pathlib import Path

    from tripleaudit.llm import section as settings

    section, study = settings.read_section(args.section, args.budget_of)
    config = args.model_config if endpoint is None else model_config
    folder = Path(config[0]).parent if config else None
    log_file = args.server_log if endpoint is None or not args.server_log else f"{args.server_log}.judge"
    return settings.open_client(section, endpoint or args.endpoint, study, folder, log_file, args.threads)


def _counters(args: argparse.Namespace):
    from pathlib import Path

    from tripleaudit.llm.conversation import TokenCounter

    found = args.tokenizer
    if found is None and args.model_config:
        beside = Path(args.model_config[0]).parent / "tokenizer.json"
        found = beside if beside.is_file() else None
    if found is None:
        return TokenCounter
    counter = TokenCounter.from_tokenizer(found)
    return lambda: TokenCounter(counter.text)
