"""Rank language models and prediction files by their F1 on a gold set."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripleaudit.api.results import Result, Scores
from tripleaudit.core.errors import UserError
from tripleaudit.core.mistakes import mistakes
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.given import given
from tripleaudit.protocols.variants import originals_of
from tripleaudit.scoring.difference import Difference, between
from tripleaudit.scoring.matching import applicable, check_matching, sentence_counts, untyped
from tripleaudit.scoring.parts import described
from tripleaudit.scoring.sides import load_pair, warn_of_copies
from tripleaudit.scoring.significance import MIN_CASES, holm
from tripleaudit.tables.cells import Cell, Column, Row, Table, number
from tripleaudit.tables.contrast_wording import describe_disagreement
from tripleaudit.tables.contrasts import FEW, NOT_SHOWN, NOTHING_FOUND, SHOWN, outcome_of
from tripleaudit.tables.study_facts import UNREAD, UnreadAnswers, count_unread

if TYPE_CHECKING:
    from tripleaudit.llm.estimate import Estimate
    from tripleaudit.systems.queries import Query

log = logging.getLogger(__name__)
COLUMNS = tuple(
    Column(label)
    for label in (
        "F1",
        "Precision",
        "Recall",
        "To the best",
        "p",
        "Unreadable",
        "Money",
        "Seconds",
    )
)


@dataclass(frozen=True)
class Ranked:
    """One model of the table; scores and differences are fractions.

    Attributes:
        name: of the model or of the predictions.
        scores: precision, recall and F1 with their intervals; None for a model that did not answer.
        behind: F1 minus that of the best model; None for the best one.
        behind_low, behind_high: bounds of the 95 % interval of ``behind``.
        p: of the randomisation test of that difference, Holm-corrected over all pairs of the ranked
            rows, as in the contrasts of a study.
        outcome: of that difference, as in the contrasts of a study; None for the best model.
        reason: why the difference is not shown; empty where it is, and where interval and test
            agree.
        unread: unreadable answers: truncated, refused or not in the requested form; None for
            predictions.
        answers: all answers; None for predictions.
        money: spent on the answers, at the prices that were given.
        seconds: that the answers took when they were given.
        requests: of the model, sent now or answered from the cache; None for predictions.
        cached: those of ``requests`` that were answered from the cache.
        oldest_cached: UTC date and time of the oldest of these answers; empty if not recorded.
        other_relations: predicted triples whose relation is not listed: of a language model with
            the setting ``closed`` those that were left out, of all others those that are wrong.
        failed: why a model has no scores.
    """

    name: str
    scores: Scores | None = None
    behind: float | None = None
    behind_low: float | None = None
    behind_high: float | None = None
    p: float | None = None
    outcome: str | None = None
    reason: str = ""
    unread: int | None = None
    answers: int | None = None
    money: float | None = None
    seconds: float | None = None
    requests: int | None = None
    cached: int | None = None
    oldest_cached: str = ""
    other_relations: int = 0
    failed: str = ""

    @property
    def mostly_unread(self) -> bool:
        """Whether more than half of the answers are unread, so that the model is not ranked."""
        return self.answers is not None and UnreadAnswers(self.unread or 0, self.answers).most


class WhichResult(Result):
    """Models ranked by F1, the best one first; those that cannot be ranked last."""

    matching: str
    """The rule by which a triple is correct."""
    sentences: int
    """How many were scored."""
    triples: int
    """Gold triples of these."""
    setting: str = "closed"
    """What language models were given."""
    ranked: list[Ranked]
    """The rows."""
    unlisted_gold: int = 0
    """Gold triples whose relation is not listed; the setting ``closed`` cannot find them."""
    cache: str = ""
    """Folder of the stored answers of language models; empty without one."""

    @property
    def best(self) -> Ranked | None:
        """The model with the greatest F1, shown to be best or not; None without scores."""
        return next((row for row in self.ranked if row.scores and not row.mostly_unread), None)

    @property
    def conclusion(self) -> str:
        """One sentence: which model has the highest F1, and whether its lead is significant."""
        rows = [row for row in self.ranked if row.scores and not row.mostly_unread]
        if not rows:
            return "No model can be ranked."
        if len(rows) == 1:
            return f"{rows[0].name} is the only model that can be ranked."
        best = rows[0]
        equal = [row for row in rows[1:] if row.behind == 0]
        lower = [row for row in rows[1:] if row.behind != 0]
        if equal:
            *names, last = [row.name for row in (best, *equal)]
            subject, lead = f"{', '.join(names)} and {last} have the same F1", f"{best.name}'s lead"
            if lower:
                subject += ", the highest"
        else:
            subject, lead = f"{best.name} has the highest F1", "its lead"
        is_complete = len(rows) == len(self.ranked)
        if not is_complete:
            subject += f" of the {len(rows)} ranked models"
        if not lower:
            return f"{subject}."
        names_by_reason: dict[str, list[str]] = {}
        for row in lower:
            if row.outcome != SHOWN:
                names_by_reason.setdefault(row.reason, []).append(row.name)
        if not names_by_reason:
            others = "every other model" if is_complete else "every other ranked model"
            if equal:
                return f"{subject}; {lead} over {others} with a lower F1 is significant."
            return f"{subject}, significantly above {others}."
        clauses = [
            f"{lead} over {', '.join(names)} is not significant{reason and ': '}{reason}"
            for reason, names in names_by_reason.items()
        ]
        return f"{subject}; {'; '.join(clauses)}."

    def rows(self) -> list[dict[str, Any]]:
        found = []
        for row in self.ranked:
            others = {
                name: value for name, value in asdict(row).items() if name not in ("name", "scores")
            }
            scores = row.scores.row() if row.scores else {}
            found.append({"part": "models", "name": row.name, **scores, **others})
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "matching": self.matching,
            "sentences": self.sentences,
            "triples": self.triples,
            "setting": self.setting,
            "unlisted_gold": self.unlisted_gold,
            "models": [asdict(row) | {"mostly_unread": row.mostly_unread} for row in self.ranked],
            "cache": self.cache,
            "notes": self._table_notes(),
            "conclusion": self.conclusion,
        }

    def notes(self) -> list[str]:
        return [*self._table_notes(), self.conclusion]

    def _table_notes(self) -> list[str]:
        """Return how the table is to be read, without the conclusion."""
        notes = []
        if any(row.mostly_unread for row in self.ranked):
            notes.append(
                f"{UNREAD}: more than half of the answers are unreadable (truncated, refused or not in "
                "the requested form); not ranked"
            )
        if any(row.answers is not None for row in self.ranked):
            notes.append(
                "Unreadable: answers that were truncated, refused or not in the requested form. "
                "Money includes the cost of answers from the cache. Seconds: duration of the run "
                "that sent all requests (–: several runs sent them)."
            )
        if self.cache:
            notes.append(self._cache_note())
        return [*notes, *self._relation_notes()]

    def _relation_notes(self) -> list[str]:
        """Return how triples with other relations than the listed ones were scored."""
        left_out: list[str] = []
        wrong: list[str] = []
        for row in self.ranked:
            if row.other_relations:
                is_closed_model = row.answers is not None and self.setting == "closed"
                counts = left_out if is_closed_model else wrong
                counts.append(f"{row.name} {row.other_relations}")
        notes = []
        if wrong:
            notes.append(
                f"Wrong triples with relations that are not listed, counted as wrong: {', '.join(wrong)}"
            )
        if left_out:
            notes.append(
                "Triples with relations that are not listed, left out (setting closed): "
                f"{', '.join(left_out)}; in prediction files such triples count"
            )
        if self.unlisted_gold:
            notes.append(
                f"Gold triples with relations that are not listed: {self.unlisted_gold} of "
                f"{self.triples}; models with the setting closed cannot find them"
            )
        return notes

    def _cache_note(self) -> str:
        """Return the sentence about the cache folder and the answers that came from it."""
        counts = []
        for row in self.ranked:
            if row.cached:
                date = f" (oldest: {row.oldest_cached[:10]})" if row.oldest_cached else ""
                counts.append(f"{row.name} {row.cached} of {row.requests}{date}")
        if not counts:
            return f"All answers are new; they are stored in {self.cache}."
        return f"Answers from the cache {self.cache}: {', '.join(counts)}."

    def tables(self) -> list[Table]:
        caption = (
            f"{self.sentences} sentences, {self.triples} triples; matching: {self.matching}; "
            "95 % intervals over sentences"
        )
        rows = [Row(row.name, [*_score_cells(row), *_cost_cells(row)]) for row in self.ranked]
        return [Table("which", caption, COLUMNS, rows, notes=self.notes())]


def which(
    gold: Any,
    models: Mapping[str, str | Mapping[str, Any]] | Sequence[str] = (),
    predictions: Mapping[str, Any] | None = None,
    *,
    key_env: str | None = None,
    prices: Mapping[str, float] | Sequence[Mapping[str, float]] | None = None,
    setting: str = "closed",
    relations: Mapping[str, str] | Sequence[str] | None = None,
    limit: int | None = None,
    matching: str = "exact-string",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    missing: str = "refuse",
    cache: str | Path | None = None,
    budget: float | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> WhichResult:
    """Rank language models and stored predictions by their F1 on a gold set.

    Models are queried as systems of a study are (``systems/<name>: {endpoint: …}``); their answers
    are stored, so that a second call costs nothing. Only answers that the same address gave are
    used again.

    Args:
        gold: a path to a corpus of any format, a data frame, rows, or a list of the triples of
            each sentence.
        models: ``[LABEL=]NAME@URL`` of endpoints, or name -> URL, or label -> keys as under
            ``generative/endpoints``.
        predictions: name -> predictions, in any form that :func:`tripleaudit.score` takes.
        key_env: environment variable with the key of the endpoints.
        prices: of a million tokens, ``{"input": …, "output": …}``, for all models, or a list with
            those of each model in the order of ``models``.
        setting: ``closed`` gives a model the relations and leaves out triples with others;
            ``semi-open`` gives the relations, ``open`` only the text, and all triples count.
        relations: names, or name -> description; by default those of the gold triples.
        limit: number of sentences to use, spread evenly over the gold set.
        matching: a name of :data:`~tripleaudit.scoring.spec.MATCHINGS`.
        format, columns: of files, see :func:`tripleaudit.score`.
        missing: ``empty`` counts sentences without a prediction as without triples.
        cache: folder of the stored answers.
        budget: most money that all calls with this folder may spend together.
        bootstrap: number of resamples for intervals; 0 for none.
        seed: of the resampling.

    Raises:
        UserError: something cannot be read or does not fit together. A model that does not answer raises
            nothing: its row has the reason in ``failed``.
    """
    from tripleaudit.llm.store import DEFAULT_CACHE
    from tripleaudit.systems.test_set import spread

    matching = check_matching(matching)
    endpoints = _endpoints(models, key_env, prices)
    files = dict(predictions or {})
    if repeated := sorted(endpoints.keys() & files.keys()):
        raise UserError(f"{repeated[0]}: names a model and a prediction file; use different names")
    if not endpoints and not files:
        raise UserError("nothing to rank; give at least one model or prediction file")
    gold = given(gold, "gold")
    corpus = read_corpus(gold, format=format, columns=columns)
    warn_of_copies(corpus, str(gold))
    indices = spread(list(range(len(corpus.sentences))), limit)
    sentences = [corpus.sentences[index] for index in indices]
    _check_gold(sentences)
    listed = _select_relations(sentences, relations)
    section = _make_section(endpoints, cache, budget)
    answers: dict[str, Sequence[Sentence]] = {}
    rows: dict[str, Ranked] = {}
    for name in endpoints:
        rows[name], answers[name] = _query(name, section, setting, sentences, listed)
    for name, source in files.items():
        _, predicted = load_pair(
            gold, given(source, name), format, columns, missing=missing, warn=False
        )
        rows[name] = Ranked(name)
        answers[name] = [predicted[index] for index in indices]
    counts: dict[str, np.ndarray] = {}
    units = originals_of([sentence.id for sentence in sentences])
    for name, row in rows.items():
        if row.failed:
            continue
        counts[name] = _count_matches(sentences, answers[name], matching)
        scores = Scores(**described(counts[name], units, bootstrap, seed))
        wrong = _count_wrong_unlisted(sentences, answers[name], listed, matching)
        # closed models have no unlisted triples here: these were left out, and counted by _query
        rows[name] = replace(row, scores=scores, other_relations=row.other_relations or wrong)
    return WhichResult(
        matching=matching,
        sentences=len(sentences),
        triples=sum(len(sentence.triples) for sentence in sentences),
        setting=setting,
        unlisted_gold=_count_unlisted(sentences, listed),
        ranked=_rank(list(rows.values()), counts, units, bootstrap, seed),
        cache=str(cache or DEFAULT_CACHE) if endpoints else "",
    )


def estimate_which(
    gold: Any,
    models: Mapping[str, str | Mapping[str, Any]] | Sequence[str],
    *,
    prices: Mapping[str, float] | Sequence[Mapping[str, float]] | None = None,
    setting: str = "closed",
    relations: Mapping[str, str] | Sequence[str] | None = None,
    limit: int | None = None,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    cache: str | Path | None = None,
) -> dict[str, "Estimate"]:
    """Return what :func:`which` would send to each model; sends nothing.

    Args:
        gold, models, prices, setting, relations, limit: as of :func:`which`.
        format, columns, cache: as of :func:`which`.

    Returns:
        Name of the model -> requests, tokens and money.

    Raises:
        UserError: something cannot be read or does not fit together.
    """
    from tripleaudit.systems.language_model import estimate_requests
    from tripleaudit.systems.test_set import spread

    endpoints = _endpoints(models, None, prices)
    if not endpoints:
        raise UserError("nothing to estimate; give at least one model")
    corpus = read_corpus(given(gold, "gold"), format=format, columns=columns)
    sentences = spread(corpus.sentences, limit)
    _check_gold(sentences)
    section = _make_section(endpoints, cache)
    listed = _select_relations(sentences, relations)
    return {
        name: estimate_requests(_make_query(name, section, setting, sentences, listed))
        for name in endpoints
    }


def _check_gold(sentences: Sequence[Sentence]) -> None:
    """Refuse a gold set without triples."""
    if not any(sentence.triples for sentence in sentences):
        raise UserError("gold: the sentences have no triples; give gold triples to compare with")


def _make_section(
    endpoints: Mapping[str, Any], cache: str | Path | None, budget: float | None = None
) -> dict[str, Any]:
    """Return the section ``generative`` of a study with these endpoints."""
    section = {"endpoints": endpoints, "datasets": {}, "systems": {}, "budget": budget}
    return section if cache is None else {**section, "cache": str(cache)}


def _endpoints(
    models: Mapping[str, str | Mapping[str, Any]] | Sequence[str],
    key_env: str | None,
    prices: Mapping[str, float] | Sequence[Mapping[str, float]] | None,
) -> dict[str, dict[str, Any]]:
    """Return the models as the section ``generative/endpoints`` of a study has them."""
    from tripleaudit.llm.endpoint import Endpoint

    if not isinstance(models, Mapping):
        models = _parse_models([models] if isinstance(models, str) else models)
    endpoints: dict[str, dict[str, Any]] = {}
    prices_of_models = _prices_of_models(prices, list(models))
    for name, model in models.items():
        keys: dict[str, Any] = (
            {"base_url": model, "model": name} if isinstance(model, str) else dict(model)
        )
        if key_env is not None:
            keys.setdefault("api_key_env", key_env)
        if name in prices_of_models:
            keys.setdefault("prices", dict(prices_of_models[name]))
        Endpoint.from_config(name, keys)  # refuse what is wrong before anything is sent
        endpoints[name] = keys
    return endpoints


def _prices_of_models(
    prices: Mapping[str, float] | Sequence[Mapping[str, float]] | None, names: Sequence[str]
) -> dict[str, Mapping[str, float]]:
    """Return label of a model -> its prices; empty without prices."""
    if prices is None:
        return {}
    if isinstance(prices, Mapping):
        return dict.fromkeys(names, prices)
    if len(prices) != len(names):
        raise UserError(
            f"prices: {len(prices)} for {len(names)} models; give one pair for all models, or one for "
            "each model in the same order"
        )
    return dict(zip(names, prices, strict=True))


def _parse_models(models: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return label -> address and model of ``[LABEL=]NAME@URL``; by default NAME is the label.

    Raises:
        UserError: one has another form, or two have the same label.
    """
    endpoints: dict[str, dict[str, Any]] = {}
    for model in models:
        labelled_name, at, url = model.partition("@http")
        label, equals, name = labelled_name.partition("=")
        name = name if equals else label
        if not at or not name or not label:
            raise UserError(
                f"model {model!r}: expected [LABEL=]NAME@URL, such as gpt-4o@https://host/v1"
            )
        if label in endpoints:
            raise UserError(
                f"model {model!r}: {label!r} occurs twice; write LABEL={name}@URL to use different names"
            )
        endpoints[label] = {"base_url": f"http{url}", "model": name}
    return endpoints


def _select_relations(
    sentences: Sequence[Sentence], relations: Mapping[str, str] | Sequence[str] | None
) -> dict[str, str]:
    """Return the relations that models are given, with descriptions; by default the gold ones."""
    from tripleaudit.systems.test_set import named_relations

    if relations is None:
        return named_relations(sentences, {})
    return dict(relations) if isinstance(relations, Mapping) else dict.fromkeys(relations, "")


def _query(
    name: str,
    section: Mapping[str, Any],
    setting: str,
    sentences: Sequence[Sentence],
    relations: Mapping[str, str],
) -> tuple[Ranked, Sequence[Sentence]]:
    """Return the row of a language model, without scores, and what it extracts."""
    from tripleaudit.systems import language_model

    query = _make_query(name, section, setting, sentences, relations)
    try:
        answered = language_model.answer(query)
    except UserError as error:
        return Ranked(name, failed=str(error)), ()
    facts = answered.facts
    unread = count_unread(facts)
    row = Ranked(
        name,
        unread=unread.unread if unread else None,
        answers=unread.answers if unread else None,
        money=facts.get("money"),
        seconds=facts.get("seconds"),
        requests=facts["cached"] + facts["sent"],
        cached=facts["cached"],
        oldest_cached=facts["oldest_cached"],
        other_relations=facts["other_relations"],
    )
    return row, answered.sentences


def _make_query(
    name: str,
    section: Mapping[str, Any],
    setting: str,
    sentences: Sequence[Sentence],
    relations: Mapping[str, str],
) -> "Query":
    """Return the query of a language model about the texts of some sentences.

    Raises:
        UserError: the setting is unknown.
    """
    from pydantic import ValidationError

    from tripleaudit.study.config.systems import System
    from tripleaudit.systems.queries import Query

    try:
        settings = System.model_validate({"endpoint": name, "setting": setting}).full()
    except ValidationError as error:
        raise UserError(
            "; ".join(mistake.sentence("which") for mistake in mistakes(error, System))
        ) from None
    texts = [Sentence(sentence.id, sentence.text) for sentence in sentences]
    job = {"section": section, "study": "which", "same_address": True}
    return Query(name, settings, texts, relations, (), job)


def _count_unlisted(sentences: Sequence[Sentence], relations: Mapping[str, str]) -> int:
    """Return the number of triples whose relation is not listed."""
    return sum(
        triple.relation not in relations for sentence in sentences for triple in sentence.triples
    )


def _count_wrong_unlisted(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    relations: Mapping[str, str],
    matching: str,
) -> int:
    """Return the number of wrong predicted triples whose relation is not listed."""
    unlisted = []
    for sentence in predicted:
        triples = tuple(each for each in sentence.triples if each.relation not in relations)
        unlisted.append(replace(sentence, triples=triples))
    correct_number, predicted_number, _ = sentence_counts(gold, unlisted, matching).sum(axis=0)
    return int(predicted_number - correct_number)


def _count_matches(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], matching: str
) -> np.ndarray:
    """Return ``[sentences, 3]``: correct, predicted and gold triples."""
    if matching not in applicable(gold, predicted):
        raise UserError(
            f"--matching {matching}: compares types of entities, but {untyped(gold, predicted)}; choose another rule"
        )
    return sentence_counts(gold, predicted, matching)


def _rank(
    rows: list[Ranked],
    counts: Mapping[str, np.ndarray],
    units: Sequence[str],
    bootstrap: int,
    seed: int,
) -> list[Ranked]:
    """Return rows by F1 with the difference to the best; models without a rank come last."""
    scored = [row for row in rows if row.scores]
    ranked = [row for row in scored if not row.mostly_unread]
    unread = [row for row in scored if row.mostly_unread]
    failed = [row for row in rows if not row.scores]
    ranked.sort(key=_rank_key)
    unread.sort(key=_rank_key)
    if len(ranked) > 1:
        best, *others = ranked
        ranked = [best, *_compare_with_best(best, others, counts, units, bootstrap, seed)]
    return [*ranked, *unread, *failed]


def _rank_key(row: Ranked) -> tuple[float, str]:
    """Return a key that sorts rows by F1, the highest first, and by name."""
    assert row.scores is not None
    return -row.scores.f1, row.name


def _compare_with_best(
    best: Ranked,
    others: Sequence[Ranked],
    counts: Mapping[str, np.ndarray],
    units: Sequence[str],
    bootstrap: int,
    seed: int,
) -> list[Ranked]:
    """Return rows with their difference to the best one, p corrected over all pairs of rows."""

    def test(first: Ranked, second: Ranked, replicates: int) -> Difference:
        sides = counts[first.name], counts[second.name]
        return between(*sides, units=(units, units), replicates=replicates, seed=seed)

    differences = [test(best, row, bootstrap) for row in others]
    other_pairs = [test(first, second, 0) for first, second in combinations(others, 2)]
    p_values = [difference.p or 0.0 for difference in [*differences, *other_pairs]]
    corrected = holm(p_values)[: len(others)]
    rows = []
    for row, difference, p in zip(others, differences, corrected, strict=True):
        bound = difference.bounds["f1"] if difference.bounds else None
        compared = replace(
            row,
            behind=difference.change("f1"),
            behind_low=bound.low if bound else None,
            behind_high=bound.high if bound else None,
            p=p,
        )
        outcome, reason = _outcome_and_reason(compared, difference, bootstrap)
        rows.append(replace(compared, outcome=outcome, reason=reason))
    return rows


def _outcome_and_reason(row: Ranked, difference: Difference, bootstrap: int) -> tuple[str, str]:
    """Return what follows from the difference to the best model, and why it is not shown."""
    contrast: dict[str, Any] = {
        "first": difference.first[2],
        "second": difference.second[2],
        "low": row.behind_low,
        "high": row.behind_high,
        "p": difference.p,
        "p_holm": row.p,
        "cases": difference.units,
        "mark": "",
    }
    contrast["outcome"] = outcome = outcome_of(contrast)
    if outcome == SHOWN:
        return outcome, ""
    if difference.bounds is None:
        cause = "the number of resamples is 0" if not bootstrap else "too few sentences"
        return outcome, f"no interval was computed ({cause})"
    if outcome == FEW:
        return outcome, f"fewer than {MIN_CASES} sentences"
    if outcome == NOTHING_FOUND:
        return outcome, "no correct triple"
    return outcome, describe_disagreement(contrast).removeprefix(f"{NOT_SHOWN}: ")


def _score_cells(row: Ranked) -> list[Cell]:
    """Return F1, precision, recall, the difference to the best model and its p-value."""
    if row.scores is None:
        return [Cell(text="no scores"), *[Cell()] * 4]
    values = row.scores.row()
    mark = UNREAD if row.mostly_unread else ""
    f1 = Cell(values["f1"], digits=3, low=values["f1_low"], high=values["f1_high"], mark=mark)
    cells = [f1.percent()]
    cells += [Cell(100 * score) for score in (row.scores.precision, row.scores.recall)]
    if row.behind is None:
        return [*cells, Cell(text=""), Cell(text="")]
    low, high = row.behind_low, row.behind_high
    behind = Cell(row.behind, digits=3, low=low, high=high).percent()  # type: ignore[arg-type]
    signed = number(100 * row.behind, 1, sign=True)
    return [*cells, replace(behind, text=signed), Cell(row.p, digits=4)]  # type: ignore[arg-type]


def _cost_cells(row: Ranked) -> list[Cell]:
    """Return unread answers, money and seconds."""
    unread = Cell() if row.answers is None else Cell(text=f"{row.unread} of {row.answers}")
    return [unread, Cell(row.money or None, digits=4), Cell(row.seconds)]  # type: ignore[arg-type]
