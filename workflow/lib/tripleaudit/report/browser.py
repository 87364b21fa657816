"""The data of the error browser: sentences with gold and predicted triples, judged and compact, as one JSON value.

Offsets count characters (Unicode code points), as everywhere in the project; the page's script slices accordingly.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import load_sentences
from tripleaudit.errors import UserError
from tripleaudit.report.inputs import Predicted
from tripleaudit.report.kinds import CORRECT, KINDS, kind_of
from tripleaudit.scoring.counts import load_counts
from tripleaudit.tables import labels
from tripleaudit.tables.render.escape import clean

STRATA = {**labels.TYPES, "zero": "Zero triples", "": "No stratum"}
MAX_BYTES = 6_000_000
"""Room for the embedded data, so that a page with tables and plots stays below 10 MB."""


def browser_data(predicted: Sequence[Predicted], max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Judge every prediction and keep as many sentences as fit.

    Returns:
        ``systems`` (``{"name", "corpus"}``), ``relations`` and ``corpora`` (names), ``strata`` and ``kinds``
        (``[key, label]``), ``total`` and ``sentences``; a sentence is ``{"id", "c": corpus, "t": text, "s": stratum,
        "g": gold triples, "p": {system: predicted triples}}``, a gold triple ``[subject, relation, object]``, a
        predicted one ``[subject, relation, object, kind, score]``, and an argument ``[start, end]`` or its text.
        Systems, relations, corpora and strata are given by number. Where not all sentences fit, those kept are spread
        evenly over each test set.

    Raises:
        UserError: files are bad or do not belong together.
    """
    if max_bytes <= 0:
        raise UserError(f"room for the error browser: expected a positive number of bytes, got {max_bytes}")
    names: dict[str, dict[str, int]] = {"corpora": {}, "relations": {}}
    systems: list[dict[str, Any]] = []
    by_corpus: dict[str, dict[str, dict[str, Any]]] = {}
    golds: dict[str, dict[str, Sentence]] = {}
    for run in predicted:
        corpus = _number(names["corpora"], run.corpus)
        systems.append({"name": system_label(run, predicted), "corpus": corpus})
        if run.corpus not in golds:
            sentences = load_sentences(run.gold)
            golds[run.corpus] = {sentence.id: sentence for sentence in sentences}
            if len(golds[run.corpus]) < len(sentences):
                raise UserError(f"{run.gold}: sentence ids occur twice; expected one sentence an id")
            strata = _strata(run)
            by_corpus[run.corpus] = {
                sentence.id: {
                    "id": clean(sentence.id),
                    "c": corpus,
                    "t": clean(sentence.text),
                    "s": list(STRATA).index(strata.get(sentence.id, "") if sentence.triples else "zero"),
                    "g": [_triple(one, names["relations"]) for one in _distinct(sentence.triples)],
                    "p": {},
                }
                for sentence in sentences
            }
        gold, rows = golds[run.corpus], by_corpus[run.corpus]
        for guess in load_sentences(run.predictions):
            if guess.id not in gold:
                continue  # predictions of a WZ test set serve its NZ part too
            if guess.text != gold[guess.id].text:
                raise UserError(f"{run.predictions}: sentence {guess.id} has another text than in {run.gold}")
            right = gold[guess.id].triples
            rows[guess.id]["p"][len(systems) - 1] = [
                [*_triple(one, names["relations"]), kind_of(one, right), round(one.score or 0, 3)]
                for one in _distinct(guess.triples)
            ]
    every = [list(rows.values()) for rows in by_corpus.values()]
    return {
        "systems": systems,
        "corpora": [clean(labels.corpus(name)) for name in names["corpora"]],
        "relations": [clean(name) for name in names["relations"]],
        "strata": [[key, label] for key, label in STRATA.items()],
        "kinds": [[key, label] for key, label in KINDS.items()],
        "total": sum(map(len, every)),
        "sentences": _fitting(every, max_bytes),
    }


def system_label(run: Predicted, among: Sequence[Predicted]) -> str:
    """Name a system: extractor, Entity Noising, and the training setting where the study has several."""
    name = labels.extractor(run.extractor, run.noise)
    if len({one.trainset for one in among}) > 1:
        name += f" (trained on {run.trainset.rsplit('-', 1)[-1].upper()})"
    return clean(name)


def error_counts(data: Mapping[str, Any]) -> list[dict[str, int]]:
    """Count correct triples and each kind of error for each system, over the sentences that are embedded."""
    totals = [dict.fromkeys((CORRECT, *KINDS), 0) for _ in data["systems"]]
    for sentence in data["sentences"]:
        for system, triples in sentence["p"].items():
            found = 0
            for triple in triples:
                totals[int(system)][triple[3]] += 1
                found += triple[3] == CORRECT
            totals[int(system)]["missed"] += len(sentence["g"]) - found
    return totals


def _fitting(corpora: list[list[dict[str, Any]]], max_bytes: int) -> list[dict[str, Any]]:
    sizes = [[len(json.dumps(row, separators=(",", ":"))) + 1 for row in rows] for rows in corpora]
    share = 1.0
    while True:
        kept = [[int(place) for place in _spread(len(rows), share)] for rows in corpora]
        used = sum(size[place] for size, places in zip(sizes, kept, strict=True) for place in places)
        if used <= max_bytes or not any(kept):
            break
        share *= min(0.98, max_bytes / used)
    return [rows[place] for rows, places in zip(corpora, kept, strict=True) for place in places]


def _spread(count: int, share: float) -> list[int]:
    number = int(count * share)
    return [place * count // number for place in range(number)] if number else []


def _strata(run: Predicted) -> dict[str, str]:
    counts = load_counts(run.counts)
    return {id_: stratum or "" for id_, stratum in zip(counts.ids, counts.strata, strict=True)}


def _distinct(triples: Sequence[Triple]) -> list[Triple]:
    return list({triple.strings: triple for triple in reversed(triples)}.values())[::-1]


def _triple(triple: Triple, relations: dict[str, int]) -> list[Any]:
    return [_argument(triple.subject), _number(relations, triple.relation), _argument(triple.object)]


def _argument(span: Span) -> list[int] | str:
    return [span.start, span.end] if span.located else clean(span.text)


def _number(names: dict[str, int], name: str) -> int:
    return names.setdefault(name, len(names))
