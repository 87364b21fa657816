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
from pathlib import Path
from typing import Any

from tripleaudit.commands.validate import summary
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


def asked(plan: Any, methods: str, *given: Any) -> dict[str, Any]:
    """Return what a part of a plan says, by the name of the method or attribute."""
    found = {name: getattr(plan, name) for name in methods.split()}
    return {name: value(*given) if callable(value) else value for name, value in found.items()}


def canonical(text: str) -> dict[str, Any]:
    """Return what a parameter of a job says, whose keys stand in order: another order in a study reruns nothing."""
    found = json.loads(text)
    assert text == json.dumps(found, sort_keys=True), text
    return found


def of_data(study: Study) -> Iterator[Job]:
    data = study.data
    for corpus, protocol in product(study.corpora, study.protocols):
        of = Of(corpus=corpus, protocol=protocol)
        entry = data.published(corpus, protocol) or data.registered(corpus)
        splits = [split for split in SPLITS if not entry or split in entry.splits]
        if protocol != "original":
            splits = splits[2 * (protocol in data.tests_only) :] if data.given(corpus, protocol) else []
            models = data.augmentation_models(of) if protocol == "augmented" else {}
            files = {**study.protocol_inputs(of), **models, "models": data.augmentation_options(of, models)}
            masked = {"masked_lm_options": data.masked_lm_options(study.typed.encoder.layers) if models else []}
            yield "build a protocol", of, {"protocol_json": data.protocol_json(protocol, corpus), **files, **masked}
        for split in splits:
            of_split = Of(of, split=split)
            files = {"options": data.prepare_options(corpus, split, protocol), "files": data.raw_inputs(of_split)}
            own = {"from": data.prepare_origin(of_split, files["files"]), **asked(data, "formats", corpus, split)}
            yield "prepare a split", of_split, {**files, **({} if entry else own)}
        yield "audit", of, study.audited_files(of)


def of_trainings(study: Study) -> Iterator[Job]:
    plan = study.trainings
    for run, keys in zip([*study.runs, *study.classifier_runs], study.report.training_keys, strict=False):
        of = Of(corpus=run.corpus, trainset=run.trainset, extractor=run.extractor, noise=run.noise)
        several = study.data.tests_only and run.trainset == "original-nz" and run in study.runs
        files = {**study.trainset_files(of), "test": (study.testset_files if several else study.testset_file)(of)}
        known = {**asked(study, "gives_schema", run.trainset), "keys": list(map(str, keys.values()))[1:]}
        yield "train and predict", Of(of, seed=f"seed{run.seed}"), {**files, **known}
        given = (run.corpus, run.extractor, run.noise, run.trainset)
        decides, settings = canonical(plan.deciding_json(*given)), canonical(plan.training_json(*given))
        noise = {"noise of entities": decides.pop("noising", None), **asked(plan, "matching", *given[:2])}
        fitting = {name: kept for name, kept in presets(run.extractor).items() if kept.items() <= decides.items()}
        preset = max(fitting, key=lambda name: len(fitting[name]), default="")
        further = without(decides, fitting.get(preset, {}))
        of = Of(corpus=run.corpus, extractor=run.extractor)
        reads = Of(of, trainset=run.trainset if study.takes_schema(run.extractor) else "")
        aside = without(settings, {**decides, "noising": 0})
        yield "train with", reads, {"preset": preset, "decides": further, "decides nothing": aside}
        yield "train and ask for", Of(of, noise=run.noise), {**noise, **asked(plan, "mem_mb runtime", run.extractor)}
        if run in study.doubled_runs:
            double = without(json.loads(plan.deciding_json(*given, double=True)), {**decides, "noising": 0})
            yield "train twice as long", Of(run=run.path), {"decides": double}
    for row in study.scored.values():
        gate, extractor = split_two_step(row.keys["extractor"])
        of = Of(row.keys, extractor=extractor, gate=gate, seed="seed" * bool(row.keys["seed"]) + row.keys["seed"])
        yield "score", of, {"row": row.path, **row.inputs, "options": row.options}
    for corpus, trainset, baseline in study.baseline_runs:
        for test in dict.fromkeys(test for test, _ in study.testsets(trainset)):
            of = Of(corpus=corpus, trainset=trainset, extractor=baseline, testset=test)
            yield "ask a baseline", of, study.baseline_inputs(of)


def of_systems(study: Study) -> Iterator[Job]:
    systems, needles = study.systems, study.needles
    infused = [(needles.triples.corpus, "original-nz", name, INFUSED) for name in needles.triple_systems]
    for corpus, trainset, name, test in [*systems.predicted, *infused]:
        of = Of(corpus=corpus, trainset=trainset, extractor=name, testset=test)
        decides, settings = systems.identity(corpus, name, trainset), systems.settings(name)
        job = canonical(systems.job(corpus, name, 1, trainset))
        given = {"section": job.pop("section", None) == study.language_models.section, "job": job}
        formats = asked(systems, "formats", name) if "predictions" in settings else {}
        yield "ask a system", of, {**systems.inputs(of), **formats, **asked(systems, "gives_schema", of)}
        aside = {key: value for key, value in canonical(systems.json(name)).items() if decides.get(key) != value}
        yield "ask a system with", of, {"decides": decides, "decides nothing": aside, "job": given}
    if study.compared:
        yield (
            "facts of systems",
            Of(),
            {"timed": [*systems.timed], **asked(systems, "reports histories networked keys")},
        )


def of_language_models(study: Study) -> Iterator[Job]:
    models, gre = study.language_models, study.grescores
    for name in models.config.endpoints:
        said = {"settings": models.section["endpoints"][name], **asked(models, "served need_network", name)}
        yield "endpoint", Of(endpoint=name), said
    for dataset, run in models.extractions:
        said = {**asked(models, "texts", dataset), **asked(models, "identity examples", dataset, run)}
        yield "extract by a language model", Of(dataset=dataset, system=run), said
    for dataset in gre.datasets:
        of, (spec, files) = Of(dataset=dataset), gre.spec(dataset)
        by = asked(gre, "encoder embedding_options embedding_identity")
        topics = asked(gre, "topic_model topic_options topic_text evaluated", dataset)
        yield "GREScores", of, {"decides": spec, "files": files, **by, **topics}
        for (name, system), judge in product(gre.to_judge(dataset).items(), gre.judges):
            said = {"kinds": system.kinds(judge), "triples": system.files["triples"], "texts": gre.texts(dataset, name)}
            options = {**asked(gre, "judge_options"), **asked(gre, "judge_identity", judge)}
            yield "judge", Of(of, system=name, judge=judge), {**said, **options}


def of_needles(study: Study) -> Iterator[Job]:
    needles = study.needles
    if needles.runs:
        made = {
            "sampling": study.language_models.sampling(needles.config.generator),
            **asked(needles, "documents made_json"),
        }
        yield "needles", Of(), {**made, "rates": without(canonical(needles.plan_json), canonical(needles.made_json))}
    for run, (endpoint, draw) in needles.runs.items():
        said = asked(needles, "identity judge_of judge_options served served_judge", run)
        yield "extract needles", Of(endpoint=endpoint, run=run), {"draw": str(draw), **said}
    if needles.scored:
        yield "triple needles", Of(), asked(needles, "triples_json triple_sentences haystacks")
    for path, (files, keys) in needles.scored.items():
        yield "score triple needles", Of(extractor=keys["extractor"]), {"row": path, **files, "keys": keys}


def of_collections(study: Study) -> Iterator[Job]:
    plan = study.collections
    for name in plan:
        who = plan.who_options(name, 1)
        system = asked(plan, "kind", name) if plan.system(name) else {}
        options = asked(plan, "deciding_options speed_options threads gpus mem_mb runtime", name)
        files = asked(plan, "texts addresses models extractor identity", name)
        yield "collection", Of(collection=name), {**files, **options, **system, "who": who[1:]}


def of_report(study: Study) -> Iterator[Job]:
    report, counts = study.report, study.score_files("counts")
    tables = [("table", name, report.options, report.table_inputs(Of(table=name))) for name in report.tables()]
    plots = [("plot", name, report.plot_options, report.plot_inputs(Of(plot=name))) for name in report.plots]
    for kind, name, options, files in tables + plots:
        every = {"counts": "of every row"} if files.get("counts") == counts else {}
        yield kind, Of({kind: name}), {"options": options(name), **files, **every}
    for part in ("gre/", "needles/"):
        yield "scores file", Of(part=part), asked(study, "scores_of", part)
    stored = {"keys of stored ones": [keys for _, keys in study.systems.trainings()]}
    yield "facts of trainings", Of(), {**asked(report, "trainings doubles earlier"), **stored}
    shown = without(report.inputs(), ("tables", "plots"))
    yield "report", Of(), {**shown, **asked(report, "sentence_files deciding_facts")}
    sets = {**asked(study, "trainsets"), **asked(study.data, "built to_train_on")}
    named = {place: name for name, place in variables.variables(study)}
    said = " / ".join([*summary(study)][1:])
    yield "study", Of(), {**sets, "extras": needs.extras(study), "variables": named, "summary": said}


def without(values: Mapping[str, Any], others: Container[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in others}


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
        message = str(error).replace(f"{Path.cwd()}/", "")
        for where, _, what in (line.removeprefix("- ").partition(": ") for line in message.splitlines()[1:]):
            short = textwrap.shorten(what, 150, placeholder=" …")
            found[where] = f"{found[where]} | {short}" if where in found else short
        yield "refuse", Of(study=name), found
        return
    for rule, of, facts in (job for part in PARTS for job in part(study)):
        if facts := {key: fact for key, fact in facts.items() if fact and fact != "{}"}:
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
    if isinstance(fact, str) and fact.startswith("{"):
        fact = canonical(fact)
    if isinstance(fact, dict):
        text = ", ".join(f"{key}: {as_json(value)}" for key, value in fact.items())
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
    text = json.dumps(value, ensure_ascii=False)
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
