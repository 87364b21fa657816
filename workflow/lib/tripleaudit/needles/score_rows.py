"""From stored results to rows of the tidy scores file.

The columns of the scores file are read as follows here. ``protocol`` names the measurement:
``needles``, ``needles-untouched`` (the criteria on documents without needles: false positives),
``iterations``, ``parts``, ``calls`` and ``origins`` (where the needles came from). ``stratum`` is
an entity type, ``group:NAME`` or ``all``; the number of follow-up calls; or the part. ``matching``
is a criterion, ``max`` (MINEA) or ``any``. ``extractor`` is the model's name in the configuration.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from tripleaudit.core.files import write_json
from tripleaudit.needles import reference_free
from tripleaudit.needles.entities import Entity, normalise
from tripleaudit.needles.infused import Corpus, Result
from tripleaudit.needles.minea import by_part, rate_rows, share_bounds, type_scores
from tripleaudit.needles.pieces import ENRICHED, UNTOUCHED, all_pieces, call_rows
from tripleaudit.needles.plan import TEMPLATES, Plan
from tripleaudit.needles.schema import Schema
from tripleaudit.scoring.scores import Score, keys_of, sidecar_of, software, write_scores

NEEDLES = "needles"
FALSE = "needles-untouched"
ITERATIONS = "iterations"
PARTS = "parts"
CALLS = "calls"
ORIGINS = "origins"


def write_model_scores(
    plan: Mapping[str, Any],
    corpus: str | Path,
    result: str | Path,
    study: str,
    model: str,
    out: str | Path,
    name: str = "documents",
) -> None:
    """Write the tidy scores of one model.

    Args:
        corpus, result: folders of the documents with needles and of what the model extracted.
        study, name, model: what study, documents and model are called in the scores.
    """
    stored = Result.load(result)
    settings = Plan.from_mapping(plan)
    keys = {"study": study, "corpus": name, "extractor": model}
    write_scores(out, score_result(Corpus.load(corpus), stored, settings, keys))
    sidecar = {"settings": settings.full(), "report": stored.report, "software": software()}
    write_json(sidecar_of(out), sidecar)


def score_result(
    corpus: Corpus, stored: Result, plan: Plan, keys: Mapping[str, str]
) -> list[Score]:
    """Compute every score of one model on one corpus of documents.

    Args:
        keys: of every row: ``study``, ``corpus`` and ``extractor``, which is the model.
    """
    schema = plan.load_schema()

    def rows(protocol: str, values: Iterator[tuple]) -> list[Score]:
        identity = keys_of({**keys, "seed": plan.seed, "protocol": protocol})
        return [Score(identity, *row) for row in values]

    return [
        *rows(NEEDLES, minea_rows(stored.matches, plan.criteria, schema)),
        *rows(NEEDLES, _displaced(stored.entities, plan)),
        *rows(ORIGINS, _origins(corpus.report)),
        *rows(FALSE, minea_rows(stored.displaced, plan.criteria, schema)),
        *rows(ITERATIONS, _iterations(corpus, stored, plan, schema)),
        *rows(PARTS, _parts(corpus, stored, plan)),
        *rows(CALLS, call_rows(stored.report["statuses"])),
        *rows(CALLS, _judge_rows(stored.report)),
    ]


def minea_rows(
    criteria: Sequence[Mapping[str, Any]], names: Sequence[str], schema: Schema
) -> Iterator[tuple[str, str, str, float, float | None, float | None]]:
    """Yield ``(stratum, matching, metric, value, low, high)`` for types, groups and all needles.

    Intervals are Wilson's, of needles found among needles, and for ``max`` those of
    :func:`.minea.minea_interval`.
    """
    scores = type_scores(criteria, names)
    if not scores:
        return
    strata = {name: [score] for name, score in scores.items()}
    for group, types in schema.groups.items():
        strata[f"group:{group}"] = [scores[name] for name in types if name in scores]
    strata["all"] = list(scores.values())
    for stratum, members in strata.items():
        if members:
            hits = {name: sum(score.found[name] for score in members) for name in names}
            yield from rate_rows(stratum, members, hits)


def _judge_rows(report: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float, None, None]]:
    """Yield how many needles the judge was asked about, and how many answers were unreadable."""
    for metric in ("judge_questions", "judge_unreadable"):
        count = report.get(metric)
        if count:
            yield "all", "llm", metric, count, None, None


def _displaced(entities: Sequence[Entity], plan: Plan) -> Iterator[tuple]:
    """Return the share of names in untouched documents that needles displaced."""
    names = _names_of_variant(entities, UNTOUCHED)
    if not plan.untouched or not names:
        return
    displaced = len(names - _names_of_variant(entities, ENRICHED))
    bounds = share_bounds(displaced, len(names))
    yield "all", "n", "displaced", displaced / len(names), *bounds


def _names_of_variant(entities: Sequence[Entity], variant: str) -> set[tuple[str, str]]:
    """Return ``(document, name)`` of the entities of a variant."""
    return {
        (entity.doc, normalise(entity.name))
        for entity in entities
        if entity.variant == variant and entity.name
    }


def _origins(report: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float, None, None]]:
    """Return counts of needles: wanted, invented (or given), from templates, and infused.

    With schema discovery also how many types the generating model named, over all documents.
    """
    needles = report["needles"]
    for metric in ("wanted", "generated", "from_templates", "given", "infused"):
        if metric in needles:
            yield "all", "", metric, needles[metric], None, None
    is_generated = report["generator"] not in (TEMPLATES, "file")
    if report["plan"].get("discover") and is_generated:
        types = sum(len(rows) for rows in report.get("types", {}).values())
        yield "all", "", "discovered_types", types, None, None


def _iterations(
    corpus: Corpus, stored: Result, plan: Plan, schema: Schema
) -> Iterator[tuple[str, str, str, float, None, None]]:
    """Return scores after ``k`` follow-up calls per piece, ``k`` from 0; means over documents.

    They are taken from one extraction, as "each iteration enriches the extracted information"
    (section 5.1), on the documents without needles where those were extracted.
    """
    base = UNTOUCHED if plan.untouched else ENRICHED
    shown = all_pieces(corpus, plan)
    extracted = [entity for entity in stored.entities if entity.variant == base]
    for k in range(plan.iterations + 1):
        table: dict[str, list[float]] = {}
        for document in corpus.documents:
            pieces = [piece.text for piece in shown[base, document.id]]
            so_far = [
                entity
                for entity in extracted
                if entity.doc == document.id and entity.iteration <= k
            ]
            scores = reference_free.all_scores(pieces, so_far, schema)
            for metric, value in scores.items():
                if value is not None:
                    table.setdefault(metric, []).append(value)
        for metric, values in table.items():
            yield str(k), "", metric, mean(values), None, None
            if len(values) < len(corpus.documents):
                yield str(k), "", f"{metric}:documents", len(values), None, None


def _parts(
    corpus: Corpus, stored: Result, plan: Plan
) -> Iterator[tuple[str, str, str, float, None, None]]:
    """Return mean redundancy by part, and in how many documents repetition brought nothing."""
    if not plan.parts:
        return
    tables = []
    for document in corpus.documents:
        first = [e for e in stored.entities if e.doc == document.id and e.variant == "parts"]
        repeated = [e for e in stored.repetitions if e.doc == document.id]
        tables.append(by_part(first, repeated, plan.parts))
    for part in range(plan.parts):
        rows = [table[part] for table in tables]
        stratum = str(part + 1)
        redundancies = [row["redundancy"] for row in rows if row["redundancy"] is not None]
        if redundancies:
            yield stratum, "", "redundancy", mean(redundancies), None, None
        yield stratum, "", "new", sum(row["new"] for row in rows), None, None
        yield stratum, "", "empty", sum(row["new"] == 0 for row in rows), None, None
    restarted = sum(not row["same_thread"] for row in stored.parts)
    yield "all", "", "restarted", restarted, None, None
    yield "all", "", "documents", len(corpus.documents), None, None
