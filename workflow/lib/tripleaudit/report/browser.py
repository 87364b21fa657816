"""The data of the sentences: gold and predicted triples, judged and compact, as one JSON value.

Offsets count characters (Unicode code points), as everywhere in the project; the page's script
slices accordingly.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_jsonl
from tripleaudit.corpora.model import Span, Triple
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.grescores.judgements import read_splits, read_verdicts, split_value, triple_json
from tripleaudit.grescores.systems import read_system
from tripleaudit.report.answered import answered
from tripleaudit.report.kinds import CORRECT, KINDS, decided, kind_of
from tripleaudit.report.study_files import GENERATIVE, NEEDLES, Predicted
from tripleaudit.report.table_files import set_key, system_key
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.scores import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.render.escape import clean

STRATA = {**labels.TYPES, "zero": "Zero triples", "": "No stratum"}
NAMES = {
    GENERATIVE: "texts for language models",
    NEEDLES: "entities in documents with needles",
}
MAX_BYTES = 5_000_000
"""Room for the embedded sentences, so that a page with tables and plots stays below 10 MB."""
RAW_CHARACTERS = 4_000  # of a raw answer; the rest lies in the answers' file


def browser_data(
    predicted: Sequence[Predicted],
    max_bytes: int = MAX_BYTES,
    unread: Collection[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Judge every prediction and choose sentences that fit into a limit of bytes.

    The sentences are spread evenly over each test set.

    Args:
        predicted: the runs.
        max_bytes: limit of the sentences as JSON.
        unread: ``(corpus, system)`` of language models with mostly unread answers on the original
            test set; the page does not open on them.

    Returns:
        ``sets`` and ``systems`` (``{"key", "name"}``, systems with their ``set``), ``relations``
        (names), ``strata`` and ``kinds`` (``[key, label]``), ``total`` and ``sentences``; a
        sentence is ``{"id", "c": test set, "t": text, "s": stratum, "g": gold triples, "p":
        {system: predicted triples}, "r": {system: raw answer}, "d": {classifier: [whether it has
        triples, score]}}``, a gold triple ``[subject, relation, object]``, a predicted one
        ``[subject, relation, object, kind, score]``, where a judge saw it with ``[FS, GS]`` behind
        (null where its answer cannot be read), and an argument ``[start, end]`` or its text.
        Systems, relations, sets and strata are given by number. ``start`` has the keys of the test
        set and of the system that are shown first (:func:`first_view`).

    Raises:
        UserError: files are bad or do not belong together.
    """
    if max_bytes <= 0:
        raise UserError(
            f"room for the sentences: expected a positive number of bytes, got {max_bytes}"
        )
    relations: dict[str, int] = {}
    sets: dict[tuple[str, str], dict[str, Any]] = {}
    systems: list[dict[str, Any]] = []
    for run in predicted:
        counts = load_counts(run.counts) if run.counts else None
        strata = dict(zip(counts.ids, counts.strata, strict=True)) if counts else {}
        name = (run.corpus, run.protocol)
        shown = sets.setdefault(
            name, {"name": set_label(run), "index": len(sets), "gold": {}, "rows": {}}
        )
        gold, mine = shown["gold"], shown["rows"]
        answers = answered(run)
        if len({sentence.id for sentence in answers.gold}) < len(answers.gold):
            raise UserError(f"{run.gold}: sentence ids occur twice; expected one sentence an id")
        for sentence in answers.gold:
            if gold.setdefault(sentence.id, sentence).text != sentence.text:
                raise UserError(
                    f"{run.gold}: sentence {sentence.id} has another text than elsewhere"
                )
            if sentence.id not in mine:
                mine[sentence.id] = {
                    "id": clean(sentence.id),
                    "c": shown["index"],
                    "t": clean(sentence.text),
                    "s": list(STRATA).index(
                        (strata.get(sentence.id) or "") if sentence.triples else "zero"
                    ),
                    "g": [_triple(one, relations) for one in _distinct(sentence.triples)],
                    "p": {},
                }
        number, key = len(systems), system_key(run.training, run.extractor, run.noise)
        systems.append(
            {"key": clean(key), "name": system_label(run, predicted), "set": shown["index"]}
        )
        stopped, marks = _stopped(run, counts), _marks(run)
        for id_, (yes, score) in answers.decisions.items():
            if id_ in mine:
                mine[id_].setdefault("d", {})[number] = [int(yes), round(score, 3)]
        for guess in answers.triples:
            if guess.id not in gold:
                continue  # predictions of a WZ test set serve its NZ part too
            if guess.text != gold[guess.id].text:
                raise UserError(
                    f"{run.predictions}: sentence {guess.id} has another text than in {run.gold}"
                )
            right = gold[guess.id].triples
            mine[guess.id]["p"][number] = [
                [
                    *_triple(one, relations),
                    kind_of(one, right),
                    round(one.score or 0, 3),
                    *marks(guess.text, one),
                ]
                for one in ([] if guess.id in stopped else _distinct(guess.triples))
            ]
        for id_, answer in _raw(run).items():
            if id_ in mine:
                mine[id_].setdefault("r", {})[number] = answer
    every = [list(shown["rows"].values()) for shown in sets.values()]
    data = {
        "systems": systems,
        "sets": [
            {"key": clean(set_key(*name)), "name": clean(shown["name"])}
            for name, shown in sets.items()
        ],
        "relations": [clean(name) for name in relations],
        "strata": list(map(list, STRATA.items())),
        "kinds": list(map(list, KINDS.items())),
        "total": sum(map(len, every)),
        "sentences": _fitting(every, max_bytes),
    }
    return {**data, "start": first_view(data, predicted, unread)}


def first_view(
    data: Mapping[str, Any],
    predicted: Sequence[Predicted],
    unread: Collection[tuple[str, str]] = (),
) -> dict[str, str]:
    """Return the keys of the test set and of the system that the page shows first.

    They are those of the best trained extractor on an original test set, without a classifier in
    front of it. Without one, the best system with a trained extractor is shown, then the best of
    all systems; never a baseline or a model with mostly unread answers.

    Args:
        data: what :func:`browser_data` returns.
        predicted: its runs, in the order of its systems.
        unread: as of :func:`browser_data`.
    """
    best: tuple[bool, bool, float] | None = None
    view: dict[str, str] = {}
    for run, system, counts in zip(predicted, data["systems"], error_counts(data), strict=True):
        if run.protocol != "original" or run.classifies or run.extractor in BASELINES:
            continue
        classifier, extractor = split_two_step(run.extractor)
        if (run.corpus, extractor) in unread:
            continue
        predicted_triples = counts[CORRECT] + sum(
            counts[kind] for kind in KINDS if kind != "missed"
        )
        gold_triples = counts[CORRECT] + counts["missed"]
        f1 = 2 * counts[CORRECT] / max(1, predicted_triples + gold_triples)
        is_trained = extractor in EXTRACTORS
        rank = (is_trained, is_trained and not classifier, f1)
        if best is None or rank > best:
            best, view = rank, {"set": data["sets"][system["set"]]["key"], "system": system["key"]}
    return view


def set_label(run: Predicted) -> str:
    """Name a test set: corpus and protocol."""
    protocol = NAMES.get(run.protocol, run.protocol)
    return ", ".join(filter(None, (labels.corpus(run.corpus), protocol)))


def system_label(run: Predicted, among: Sequence[Predicted]) -> str:
    """Return the name of a system: extractor, Entity Noising, classifier, training set.

    The training set is part of the name if the page has several.
    """
    classifier, extractor = split_two_step(run.extractor)
    name = labels.extractor(extractor, run.noise)
    if classifier:
        name += f" behind {labels.extractor(classifier)}"
    if run.training and len({one.training for one in among if one.training}) > 1:
        name += f" (trained on {run.training.upper()})"
    return clean(name)


def _stopped(run: Predicted, counts: SentenceCounts | None) -> frozenset[str]:
    """The sentences that a classifier rejected, by the counts of two-step extraction."""
    if counts is None or PRIMARY not in counts.counts or not split_two_step(run.extractor)[0]:
        return frozenset()  # without a classifier, or of a system that failed and has no counts
    predicted = counts.of(PRIMARY)[:, 1]
    return frozenset(id_ for id_, number in zip(counts.ids, predicted, strict=True) if not number)


def _raw(run: Predicted) -> dict[str, str]:
    return {
        str(row["id"]): "\n\n".join(str(one.get("text", "")) for one in row.get("answers", ()))[
            :RAW_CHARACTERS
        ]
        for _, row in (read_jsonl(run.answers) if run.answers else ())
    }


def _marks(run: Predicted) -> Callable[[str, Triple], list[list[float | None]]]:
    """Return a function from text and triple to the judge's marks ``[[FS, GS]]``, else ``[]``."""
    if run.verdicts is None:
        return lambda text, triple: []
    verdicts, splits = (
        read_verdicts(run.verdicts),
        read_splits(run.verdicts.with_name("granularity.json")),
    )
    found: dict[tuple[str, str], list[list[float | None]]] = {}
    for text, triples in read_system(run.answers).texts.items():
        results = verdicts.get(text, [])
        for triple, said in (
            zip(triples, results, strict=False) if len(results) == len(triples) else ()
        ):
            part = splits.get(text, {}).get(triple_json(triple))
            marks = [
                None if said is None else float(said),
                None if part is None else split_value(part),
            ]
            found[text, triple_json(triple)] = [marks]
    return lambda text, triple: found.get((text, triple_json(triple.strings)), [])


def error_counts(data: Mapping[str, Any]) -> list[dict[str, int]]:
    """Count correct triples and kinds of errors of each system in the embedded sentences."""
    totals = [dict.fromkeys((CORRECT, *KINDS), 0) for _ in data["systems"]]
    for sentence in data["sentences"]:
        for system, triples in sentence["p"].items():
            found = 0
            for triple in triples:
                totals[int(system)][triple[3]] += 1
                found += triple[3] == CORRECT
            totals[int(system)]["missed"] += len(sentence["g"]) - found
        for system, (yes, _) in sentence.get("d", {}).items():
            totals[int(system)][decided(bool(yes), bool(sentence["g"]))] += 1
    return totals


def _fitting(corpora: list[list[dict[str, Any]]], max_bytes: int) -> list[dict[str, Any]]:
    """Return the rows of each corpus, spread evenly, of as large a share as there is room for."""
    sizes = [[len(json.dumps(row, separators=(",", ":"))) + 1 for row in rows] for rows in corpora]
    share = 1.0
    while True:
        kept = [
            [index * len(rows) // int(len(rows) * share) for index in range(int(len(rows) * share))]
            for rows in corpora
        ]
        used = sum(
            size[index] for size, chosen in zip(sizes, kept, strict=True) for index in chosen
        )
        if used <= max_bytes or not any(kept):
            return [
                rows[index] for rows, chosen in zip(corpora, kept, strict=True) for index in chosen
            ]
        share *= min(0.98, max_bytes / used)


def _distinct(triples: Sequence[Triple]) -> list[Triple]:
    return list({triple.strings: triple for triple in reversed(triples)}.values())[::-1]


def _triple(triple: Triple, relations: dict[str, int]) -> list[Any]:
    relation = relations.setdefault(triple.relation, len(relations))
    return [_argument(triple.subject), relation, _argument(triple.object)]


def _argument(span: Span) -> list[int] | str:
    return [span.start, span.end] if span.located else clean(span.text)
