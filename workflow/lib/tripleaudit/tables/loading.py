"""The inputs of tables from files, and what the facts of trainings say of the scores behind
them.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.scoring.scores import read_scores
from tripleaudit.tables.inputs import (
    OPTIONS,
    UNEQUAL,
    UNFINISHED,
    UNSETTLED,
    RunKey,
    ScoreIndex,
    TableInputs,
    run_of,
)
from tripleaudit.tables.unread_answers import UnreadAnswers, count_unread
from tripleaudit.training.convergence import RISING, verdict


def load_inputs(
    *,
    scores: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    audits: Sequence[str | Path] = (),
    runs: Sequence[str | Path] = (),
    options: Mapping[str, Any] | None = None,
    files: Mapping[str, Sequence[str | Path]] | None = None,
) -> TableInputs:
    """Read the inputs of tables: files of each kind, any of which may be missing.

    Raises:
        UserError: a file is bad, an option is unknown, or an audit occurs twice.
    """
    for name in options or {}:
        if name not in OPTIONS:
            raise UserError(
                f"options of the table: unknown option {name!r}; expected one of {', '.join(OPTIONS)}"
            )
    by_key: dict[tuple[str, str], dict[str, Any]] = {}
    for path in audits:
        audit = read_json(path)
        keys = audit.get("keys", {}) if isinstance(audit, dict) else {}
        if "corpus" not in keys or "protocol" not in keys:
            raise UserError(f"{path}: not an audit; expected 'keys' with 'corpus' and 'protocol'")
        key = (keys["corpus"], keys["protocol"])
        if key in by_key:
            raise UserError(f"{path}: a second audit of corpus {key[0]!r} and protocol {key[1]!r}")
        by_key[key] = audit
    facts = []
    for path in runs:
        found = read_json(path)
        facts += found if isinstance(found, list) else [found]
        if not all(
            isinstance(fact, dict) and ("system" not in fact or "queried" in fact) for fact in facts
        ):
            raise UserError(
                f"{path}: not the facts of trainings and systems that this version writes; make it again"
            )
    index = ScoreIndex(read_scores(list(scores)), counts)
    index.partial = {
        fact["system"] for fact in facts if "system" in fact and fact["queried"] < fact["of"]
    }
    index.marks = marks_of(facts)
    index.trainings = trainings_of(facts)
    index.unread = _unread_of(facts)
    return TableInputs(
        scores=index,
        audits=by_key,
        runs=facts,
        options=dict(options or {}),
        files={kind: [Path(path) for path in paths] for kind, paths in (files or {}).items()},
    )


def _unread_of(facts: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], UnreadAnswers]:
    """Return the unread answers of language models by system, corpus and protocol, from the
    facts of systems.
    """
    counts = {}
    for fact in facts:
        if "system" in fact and (unread := count_unread(fact)):
            counts[fact["system"], fact["keys"]["corpus"], fact["keys"]["protocol"]] = unread
    return counts


def marks_of(facts: Sequence[Mapping[str, Any]]) -> dict[RunKey, str]:
    """Return the marks of trainings by run, without a testing setting; of a training without such
    facts none.

    The budget of an NZ and a WZ training is how many sentences with triples they saw: times epochs,
    a tenth more or less.
    """
    found = dict.fromkeys(trainings_of(facts), "")
    for run, trainings in trainings_of(fact for fact in facts if fact.get("convergence")).items():
        found[run] += {RISING: UNFINISHED, None: UNSETTLED}.get(ended(trainings), "")
    seen: dict[RunKey, list[float]] = {}
    for fact in facts:
        counts, epochs = fact.get("counts") or {}, fact.get("epochs")
        if epochs and "sentences" in counts:
            lost = sum(
                counts.get(name, 0)
                for name in ("zero", "dropped_zero", "lost_sentences", "dropped_long")
            )
            seen.setdefault(_run(fact), []).append(epochs * (counts["sentences"] - lost))
    for run, own in seen.items():
        other = seen.get(run._replace(training="wz" if run.training == "nz" else "nz"))
        if other and max(fmean(own), fmean(other)) > 1.1 * min(fmean(own), fmean(other)):
            found[run] = found.get(run, "") + UNEQUAL
    return found


def trainings_of(facts: Iterable[Mapping[str, Any]]) -> dict[RunKey, list[Mapping[str, Any]]]:
    """Return the facts of trainings by run, without a testing setting: those that differ in
    their seed alone.
    """
    found: dict[RunKey, list[Mapping[str, Any]]] = {}
    for fact in facts:
        if "convergence" in fact:
            found.setdefault(_run(fact), []).append(fact)
    return found


def ended(facts: Sequence[Mapping[str, Any]]) -> str | None:
    """Return how trainings ended that differ in their seed alone, from their facts; None for too
    few evaluations.
    """
    twice = next((fact["doubled"] for fact in facts if fact.get("doubled")), None)
    return verdict([fact["convergence"] or {} for fact in facts], twice)


def _run(fact: Mapping[str, Any]) -> RunKey:
    return run_of(fact.get("keys", {}))._replace(testing="")
