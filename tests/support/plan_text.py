"""The plan of studies as a text: every job with the files it reads and the settings that decide it.

Jobs that differ in nothing but the names of their files stand in one block, whose lines say which jobs these are:
``{a,b}`` is each of the two. Paths begin as the workflow's do (``<study>``, ``<downloads>``).
"""

import hashlib
import json
import re
import textwrap
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product, zip_longest
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.plan import needs, variables
from tripleaudit.plan.study import Study
from tripleaudit.plan.systems import INFUSED
from tripleaudit.plan.training import presets
from tripleaudit.scoring.rows import split_two_step

Job = tuple[str, dict[str, Any], dict[str, Any]]
SPLITS = ("train", "valid", "test")


class Of(dict):
    """The wildcards of a job."""

    __getattr__ = dict.__getitem__


def of_data(study: Study) -> Iterator[Job]:
    data = study.data
    for corpus, protocol in product(study.corpora, study.protocols):
        of = Of(corpus=corpus, protocol=protocol)
        read = protocol == "original" or data.given(corpus, protocol)
        entry = data.published(corpus, protocol) or data.registered(corpus)
        for split in (split for split in SPLITS if read and split in (entry.splits if entry else SPLITS)):
            if protocol not in data.tests_only or split == "test":
                options = data.prepare_options(corpus, split, protocol)
                of_split = Of(of, split=split)
                files = data.raw_inputs(of_split)
                own = {"from": data.prepare_origin(of_split, files), "formats": data.formats(corpus, split)}
                yield "prepare a split", of_split, {"options": options, "files": files, **(own if not entry else {})}
        if protocol != "original":
            models = data.augmentation_models(of) if protocol == "augmented" else {}
            made = {"settings": json.loads(data.protocol_json(protocol, corpus)), **study.protocol_inputs(of)}
            named = data.augmentation_options(of, models)
            masked = data.masked_lm_options(study.typed.encoder.layers) if models else []
            yield "build a protocol", of, {**made, **models, "models": named, "masked language model": masked}
        yield "audit", of, study.audited_files(of)


def of_trainings(study: Study) -> Iterator[Job]:
    plan = study.trainings
    every = [*study.runs, *study.classifier_runs]
    for run, keys in zip(every, study.report.training_keys, strict=False):
        of = Of(corpus=run.corpus, trainset=run.trainset, extractor=run.extractor, noise=run.noise)
        several = study.data.tests_only and run.trainset == "original-nz" and run in study.runs
        files = {**study.trainset_files(of), "test": (study.testset_files if several else study.testset_file)(of)}
        schema = {"is given the relations": study.gives_schema(run.trainset)}
        yield (
            "train and predict",
            Of(of, seed=f"seed{run.seed}"),
            {**files, **schema, "keys": [str(key) for key in keys.values()][1:]},
        )
        given = (run.corpus, run.extractor, run.noise, run.trainset)
        decides, settings = json.loads(plan.deciding_json(*given)), json.loads(plan.training_json(*given))
        noise = {"noise of entities": decides.pop("noising", None)}
        aside = {key: value for key, value in settings.items() if key not in decides and key != "noising"}
        known = {name: kept for name, kept in presets(run.extractor).items() if kept.items() <= decides.items()}
        preset = max(known, key=lambda name: len(known[name]), default="")
        further = {key: value for key, value in decides.items() if key not in known.get(preset, {})}
        of = Of(corpus=run.corpus, extractor=run.extractor)
        reads = Of(of, trainset=run.trainset if study.takes_schema(run.extractor) else "")
        yield "train with", reads, {"preset": preset, "decides": further, "decides nothing": aside}
        asked = {
            "best epoch by": plan.matching(*given[:2]),
            "asks for": [plan.mem_mb(given[1]), plan.runtime(given[1])],
        }
        yield "train and ask for", Of(of, noise=run.noise), {**noise, **asked}
        if run in study.doubled_runs:
            double = json.loads(plan.deciding_json(*given, double=True))
            further = {key: value for key, value in double.items() if key not in (*decides, "noising")}
            yield "train twice as long", Of(run=run.path), {"decides": further}
    for row in study.scored.values():
        gate, extractor = split_two_step(row.keys["extractor"])
        of = Of(row.keys, extractor=extractor, gate=gate, seed="seed" * bool(row.keys["seed"]) + row.keys["seed"])
        yield "score", of, {"row": row.path, **row.inputs, "options": row.options}
    for corpus, trainset, baseline in study.baseline_runs:
        of = Of(corpus=corpus, trainset=trainset, extractor=baseline)
        for test in dict.fromkeys(test for test, _ in study.testsets(trainset)):
            yield "ask a baseline", Of(of, testset=test), study.baseline_inputs(Of(of, testset=test))


def of_systems(study: Study) -> Iterator[Job]:
    systems = study.systems
    for corpus, trainset, name, test in [*systems.predicted, *infused(study)]:
        of = Of(corpus=corpus, trainset=trainset, extractor=name, testset=test)
        asked = {key: systems.setting(key)(name) for key in ("threads", "gpus", "mem_mb", "runtime")}
        decides, settings = systems.identity(corpus, name, trainset), systems.settings(name)
        job = json.loads(systems.job(corpus, name, 1, trainset))
        given = {"section": job.pop("section", None) == study.language_models.section, "job": job}
        aside = {key: value for key, value in settings.items() if decides.get(key) != value}
        files = {**systems.inputs(of), "formats": systems.formats(name) if aside.get("predictions") else []}
        yield "ask a system", of, {**files, "is given the relations": systems.gives_schema(of)}
        yield "ask a system with", of, {"decides": decides, "decides nothing": aside, "job": given, "asks for": asked}
    for corpus, name in systems.probe.runs:
        of = Of(corpus=corpus, extractor=name)
        facts = {"decides": systems.probe.identity(corpus, name), "keys": systems.probe.keys(corpus, name)}
        yield "ask for hidden halves", of, {**facts, **systems.probe.inputs(of)}
    if study.compared:
        timed = {"timed": list(systems.timed), "reports": systems.reports(), "histories": systems.histories()}
        yield "facts of systems", Of(), {**timed, "need a network": systems.networked()}


def infused(study: Study) -> list[tuple[str, ...]]:
    return [(study.needles.triples.corpus, "original-nz", name, INFUSED) for name in study.needles.triple_systems]


def of_language_models(study: Study) -> Iterator[Job]:
    models, gre = study.language_models, study.grescores
    for name in models.config.endpoints:
        served = {"served": models.served(name), "needs a network": models.need_network(name)}
        yield "endpoint", Of(endpoint=name), {"settings": models.section["endpoints"][name], **served}
    for dataset, run in models.extractions:
        shown = {"texts": models.texts(dataset), "examples": models.examples(dataset, run)}
        of = Of(dataset=dataset, system=run)
        yield "extract by a language model", of, {"decides": models.identity(dataset, run), **shown}
    for dataset in gre.datasets:
        spec, files = gre.spec(dataset)
        by = {"embedder": gre.embedding_identity(), "model": gre.encoder(), "options": gre.embedding_options()}
        about = {"topics": gre.topic_options(dataset), "topic text": gre.topic_text(dataset)}
        about |= {"ordered by": gre.evaluated(dataset), "topic model": gre.topic_model(dataset)}
        yield "GREScores", Of(dataset=dataset), {"decides": json.loads(spec), "files": files, **by, **about}
        for (name, system), judge in product(gre.to_judge(dataset).items(), gre.judges):
            facts = {
                "kinds": system.kinds(judge),
                "triples": system.files["triples"],
                "texts": gre.texts(dataset, name),
            }
            asked = {"options": gre.judge_options(), "decides": gre.judge_identity(judge)}
            yield "judge", Of(dataset=dataset, system=name, judge=judge), {**facts, **asked}


def of_needles(study: Study) -> Iterator[Job]:
    needles, models = study.needles, study.language_models
    if needles.runs:
        made, plan = json.loads(needles.made_json), json.loads(needles.plan_json)
        rated = {"decides the rating": {key: value for key, value in plan.items() if key not in made}}
        invented = {"documents": needles.documents(), "inventing": models.sampling(needles.config.generator)}
        yield "needles", Of(), {"decides": made, **rated, **invented}
    for run, (endpoint, draw) in needles.runs.items():
        served = {"model": needles.served(run), "judging model": needles.served_judge(run)}
        judged = {"judge": needles.judge_of(run), "options": needles.judge_options(run)}
        facts = {"draw": str(draw), "decides": needles.identity(run), **judged, **served}
        yield "extract needles", Of(endpoint=endpoint, run=run), facts
    if needles.scored:
        read = {"sentences": needles.triple_sentences(), "haystacks": needles.haystacks()}
        yield "triple needles", Of(), {"decides": json.loads(needles.triples_json), **read}
    for path, (files, keys) in needles.scored.items():
        yield "score triple needles", Of(extractor=keys["extractor"]), {"row": path, **files, "keys": keys}


def of_collections(study: Study) -> Iterator[Job]:
    plan = study.collections
    for name in plan:
        who = plan.who_options(name, plan.threads(name))
        said = json.loads(who[1]) if plan.system(name) else {"model": who}
        said.pop("job", None)
        files = {"texts": plan.texts(name), "addresses": plan.addresses(name), "models": plan.models(name)}
        asked = {"options": plan.deciding_options(name), "speed": plan.speed_options(name)}
        most = [plan.threads(name), plan.gpus(name), plan.mem_mb(name), plan.runtime(name)]
        system = {"kind": plan.kind(name)} if plan.system(name) else {"extractor": plan.extractor(name)}
        yield "collection", Of(collection=name), {**files, **asked, "asks for": most, **system, "who": said}


def of_report(study: Study) -> Iterator[Job]:
    report, counts = study.report, study.score_files("counts")
    for name in report.tables():
        files = report.table_inputs(Of(table=name))
        every = {"counts": ["of every row"]} if files.get("counts") == counts else {}
        yield "table", Of(table=name), {"options": json.loads(report.options(name)), **files, **every}
    for name in report.plots:
        files = report.plot_inputs(Of(plot=name))
        every = {"counts": ["of every row"]} if files["counts"] == counts else {}
        yield "plot", Of(plot=name), {"options": json.loads(report.plot_options(name)), **files, **every}
    for part in ("gre/", "needles/"):
        yield "scores file", Of(part=part), {"joined from": study.scores_of(part)}
    keys = [keys for _, keys in study.systems.trainings()]
    facts = {
        "trainings": report.trainings,
        "keys of stored ones": keys,
        "doubled": report.doubles,
        "doubled before": report.earlier,
    }
    yield "facts of trainings", Of(), facts
    shown = {part: files for part, files in report.inputs().items() if part not in ("tables", "plots")}
    yield "report", Of(), {**shown, "sentences": report.sentence_files()}
    sets = {"training sets": study.trainsets, "made here": study.data.built, "corpora": study.data.to_train_on}
    yield "study", Of(), {"seeds": study.seeds, "settings": study.settings, **sets, "tables": list(report.tables())}
    named = {place: name for name, place in variables.variables(study)}
    yield "before it runs", Of(), {"extras": needs.extras(study), "variables": named, "notes": [*study.data.notes()]}


PARTS = (of_data, of_trainings, of_systems, of_language_models, of_needles, of_collections, of_report)
ALWAYS = ("train with", "refuse")  # what is said of studies in short, too
MOST = 8  # patterns of files that are listed
IN_TEXTS = ("corpus", "extractor", "system", "dataset")  # wildcards whose values are no common words


def jobs(name: str, config: dict[str, Any]) -> Iterator[Job]:
    """Yield what is planned of a study, or why it cannot be."""
    try:
        study = Study.of_workflow(config, [])
    except UserError as error:
        found: dict[str, str] = {}
        for where, _, what in (line.removeprefix("- ").partition(": ") for line in str(error).splitlines()[1:]):
            short = textwrap.shorten(what, 150, placeholder=" …")
            found[where] = f"{found[where]} | {short}" if where in found else short
        yield "refuse", Of(study=name), found
        return
    for rule, of, facts in (job for part in PARTS for job in part(study)):
        if facts := {key: fact for key, fact in facts.items() if fact}:
            yield rule, Of({"study": name} | of), facts


def plan_text(studies: Iterable[tuple[str, dict[str, Any]]], in_full: Container[str]) -> str:
    """Return the plan of studies, each a name and a configuration.

    Of those that are not ``in_full`` most is counted, with a digest of it.
    """
    blocks: dict[str, dict[str, list[Of]]] = {}
    for name, config in studies:
        counted: dict[str, list[str]] = {}
        for rule, of, facts in jobs(name, config):
            text = "\n".join(line for key, fact in facts.items() for line in wrapped(f"{key}: {said(fact, of)}", 4))
            if name in in_full or rule in ALWAYS:
                blocks.setdefault(rule, {}).setdefault(text, []).append(of)
            else:
                counted.setdefault(rule, []).append(f"{of}{text}")
        if counted:
            short = (f"{len(every)} x {rule} ({digest(every)})" for rule, every in counted.items())
            blocks.setdefault("in short", {})["\n".join(wrapped("; ".join(short), 4))] = [Of(study=name)]
    found = []
    for rule, texts in blocks.items():
        found += [f"== {rule}", ""]
        for text, every in texts.items():
            for box in boxes(sorted({tuple(of.values()) for of in every})):
                which = (f"{key}={braces(values)}" for key, values in zip(every[0], box, strict=True) if any(values))
                found += wrapped(" ".join(which), 2)
            found += [text, ""]
    return "\n".join(found)


def said(fact: Any, of: Of) -> str:
    """Return a fact about a job, with the names of wildcards in place of their values."""
    if isinstance(fact, dict):
        text = ", ".join(sorted(f"{key}: {as_json(value)}" for key, value in fact.items()))
        return generalised(text, {key: of[key] for key in IN_TEXTS if key in of})
    if not isinstance(fact, list | tuple):
        return generalised(str(fact), of)
    words = [generalised(each if isinstance(each, str) else as_json(each), of) for each in fact]
    if words[0].startswith("-") or not any("/" in word for word in words):
        return " ".join(words)
    paths = boxes(word.split("/") for word in words)
    listed = " ".join("/".join(map(braces, box)).rstrip("/") for box in paths)
    return listed if len(paths) <= MOST else f"{len(words)} files, digest {digest(words)}"


def as_json(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return re.sub(r'"([0-9a-f]{8})[0-9a-f]{56}"', r'"\1…"', text)  # of prompts


def digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:8]


def generalised(text: str, of: Mapping[str, str]) -> str:
    names = {value: name for name, value in reversed(of.items()) if value and name != "study"}
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)({known})(?!\w)", lambda found: f"{{{names[found[1]]}}}", text) if names else text


def boxes(rows: Iterable[Sequence[str]]) -> list[tuple[tuple[str, ...], ...]]:
    """Return rows as products of values, which have the order of the rows."""
    found = [tuple((value,) for value in row) for row in zip(*zip_longest(*rows, fillvalue=""), strict=True)]
    for place in reversed(range(len(found[0]) if found else 0)):
        alike = groupby(found, lambda box, place=place: box[:place] + box[place + 1 :])
        found = [
            (*others[:place], tuple(value for box in same for value in box[place]), *others[place:])
            for others, same in alike
        ]
    return found


def braces(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{{{','.join(values)}}}"


def wrapped(text: str, indent: int) -> list[str]:
    indents = {"initial_indent": " " * indent, "subsequent_indent": " " * (indent + 4)}
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False, **indents)
