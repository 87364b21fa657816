"""The completion probe: does a language model name what stands in the half of a test sentence that it is not shown?

A sentence is cut in the middle of its words. Of a gold triple one entity is shown and the other is hidden: it stands
behind the cut, and neither its name nor a longer word of it occurs before. Who emits that triple has the name from
elsewhere: memorised, or by a good guess. Two controls tell them apart. The augmented variants of the sentence have
other names, which nobody can have memorised; a guess from the words around is as good there. And a lookup of the
training set completes the same triples with the entity that most training sentences have with the shown one.
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.errors import UserError
from tripleaudit.files import write_json
from tripleaudit.generative.extraction import Task
from tripleaudit.protocols.types import distinct_triples
from tripleaudit.protocols.variants import variants_of
from tripleaudit.systems.language_model import query_model, task_of
from tripleaudit.systems.queries import Query
from tripleaudit.systems.test_set import named_relations, spread

logger = logging.getLogger(__name__)

PROMPT = "completion"
TELLING = 4
"""Letters from which on a word of a hidden name gives it away where it is shown; shorter ones are of, the, de."""
REASONS = ("not in the text", "nothing of it shown", "hidden name shown", "no variant")
Strings = tuple[str, str, str]


@dataclass(frozen=True)
class Half:
    """A sentence of which the first half is shown.

    Attributes:
        shown: its first half, cut between words; of an odd number of words the shorter one.
        hidden: number of each gold triple -> ``subject`` or ``object``, whichever is hidden; triples that cannot be
            asked for are missing.
        why: number of each of these -> one of :data:`REASONS`.
    """

    sentence: Sentence
    shown: str
    hidden: Mapping[int, str]
    why: Mapping[int, str]


def cut(sentence: Sentence) -> Half:
    """Show the first half of a sentence, and say which of its triples can be asked for."""
    words = list(re.finditer(r"\S+", sentence.text))
    shown = sentence.text[: words[len(words) // 2].start()].rstrip() if words else ""
    hidden, why = {}, {}
    for number, triple in enumerate(sentence.triples):
        if not triple.located:
            why[number] = "not in the text"
            continue
        first, last = sorted(("object", "subject"), key=lambda role: getattr(triple, role).start)
        if getattr(triple, first).end > len(shown):
            why[number] = "nothing of it shown"
        elif getattr(triple, last).start < len(shown) or given_away(getattr(triple, last).text, shown):
            why[number] = "hidden name shown"
        else:
            hidden[number] = last
    return Half(sentence, shown, hidden, why)


def given_away(name: str, shown: str) -> bool:
    """Whether a name, or a word of it that tells, occurs in a text, be it as a part of a longer word."""
    text = shown.casefold()
    return any(part in text for part in [name.casefold(), *re.findall(rf"\w{{{TELLING},}}", name.casefold())])


def split(triple: Strings, hidden: str) -> tuple[Strings, str]:
    """Return what a triple shows (the role, its name, the relation), and the name that it hides."""
    subject, relation, object_ = triple
    return (
        (("object", object_, relation), subject) if hidden == "subject" else (("subject", subject, relation), object_)
    )


def lookup(train: Sequence[Sentence]) -> Mapping[Strings, str]:
    """Return what is shown (:func:`split`) -> the hidden name of most training sentences (of equals the first)."""
    counted: dict[Strings, Counter[str]] = defaultdict(Counter)
    for shown, name in (
        split(t, role) for each in train for t in distinct_triples(each) for role in ("object", "subject")
    ):
        counted[shown][name] += 1
    return {shown: max(names, key=names.get) for shown, names in counted.items()}


def chosen(
    test: Sequence[Sentence], augmented: Sequence[Sentence], limit: int
) -> tuple[list[tuple[Half, list[Half]]], dict[str, Any]]:
    """Return so many test sentences with their variants, spread evenly, and the counts of what was left out.

    A triple is asked for where one name is hidden in the sentence, and in at least one variant that has others for
    both: only these are compared. Augmentation may find no other name; what stays as it was is no control.
    """
    found, left = [], Counter[str]()
    positions = variants_of([one.id for one in test], [one.id for one in augmented])
    for sentence, own in zip(test, positions, strict=True):
        half, halves = cut(sentence), [_renamed(cut(augmented[position]), sentence) for position in own]
        paired = {number: role for number, role in half.hidden.items() if any(number in one.hidden for one in halves)}
        left.update(half.why.values())
        left["no variant"] += len(half.hidden) - len(paired)
        if paired:
            halves = [replace(one, hidden={n: r for n, r in one.hidden.items() if n in paired}) for one in halves]
            found.append((replace(half, hidden=paired), [one for one in halves if one.hidden]))
    counts = {"of": len(test), "left_out": len(test) - len(found), "why": {why: left[why] for why in REASONS}}
    return spread(found, limit), counts


def _renamed(half: Half, original: Sentence) -> Half:
    """Return the half of a variant, without triples that have a name of the original's, or of which nobody knows."""
    pairs = list(zip(half.sentence.triples, original.triples, strict=False))
    same = [one.relation for one in half.sentence.triples] == [one.relation for one in original.triples]
    new = {n for n, (one, own) in enumerate(pairs) if same and not {*one.strings[::2]} & {*own.strings[::2]}}
    return replace(half, hidden={number: role for number, role in half.hidden.items() if number in new})


def completion_task(query: Query) -> Task:
    """Return the task of the model: the system's settings with the probe's own prompt, without examples."""
    settings = {**query.settings, "setting": "semi-open", "prompt": PROMPT, "examples": 0}
    return task_of(replace(query, settings=settings))


def halves_of(pairs: Sequence[tuple[Half, list[Half]]]) -> list[Half]:
    """Return all halves that are shown, each sentence before its variants."""
    return [half for original, variants in pairs for half in (original, *variants)]


def to_complete(
    name: str,
    settings: Mapping[str, Any],
    test: str | Path,
    augmented: str | Path,
    train: str | Path,
    job: Mapping[str, Any],
) -> tuple[list[tuple[Half, list[Half]]], dict[str, Any], Query]:
    """Return the sentences with their variants, the counts of :func:`chosen`, and the query of the system."""
    pairs, counts = chosen(load_sentences(test), load_sentences(augmented), settings["completion"])
    shown = [Sentence(half.sentence.id, half.shown) for half in halves_of(pairs)]
    return pairs, counts, Query(name, settings, shown, named_relations(load_sentences(train), job), (), job)


@dataclass(frozen=True)
class CompletionFiles:
    """Files of the completion probe of one system.

    Attributes:
        test, augmented: sentences with triples, and their variants with other names.
        train: of the lookup, and where the relations come from.
        out: file to write: counts, and for each sentence what was shown, asked for and said.
        model, server_log: file of the model that a language model's server runs on, and its output.
    """

    test: str | Path
    augmented: str | Path
    train: str | Path
    out: str | Path
    model: Sequence[str] = ()
    server_log: str | None = None


def write_completion(
    name: str,
    settings: Mapping[str, Any],
    files: CompletionFiles,
    job: Mapping[str, Any],
    run_keys: Mapping[str, Any],
    attempt: int = 0,
) -> None:
    """Write what a language model emits of the hidden halves, and the controls; or why it has lost its row.

    Args:
        settings: its entry under ``systems``; ``completion`` is the number of test sentences.
        job: what decides no result: threads, the section ``generative``, the name of the study, descriptions.
        run_keys: of the row, as the scores file names them.
        attempt: number of this try after tries that failed.
    """
    given = {**job, "model": files.model, "server_log": files.server_log}
    pairs, counts, query = to_complete(name, settings, files.test, files.augmented, files.train, given)
    halves, names = halves_of(pairs), lookup(load_sentences(files.train))
    failed, took, rows = None, {}, []
    try:
        task = completion_task(query)
        results, took = query_model(query, task) if halves else ([], {})
        said = (
            _row(half, replace(result, sentence=half.sentence).prediction(task.relations), names)
            for result, half in zip(results, halves, strict=True)
        )
        rows = [{**next(said), "variants": [next(said) for _ in variants]} for _, variants in pairs]
    except UserError as error:
        failed = str(error)
        logger.error("%s: %s", name, error)
    logger.info("%d sentences, %d halves shown", len(rows), len(halves))
    found = {**counts, "took": took, "rows": rows}
    write_json(files.out, {"keys": dict(run_keys), "failed": failed, "attempt": attempt, "completion": found})


def _row(half: Half, predicted: Sentence, names: Mapping[Strings, str]) -> dict[str, Any]:
    """Return what was shown of a sentence, and for each triple asked for whether it was emitted, and looked up."""
    said, triples = {triple.strings for triple in predicted.triples}, []
    for number, role in half.hidden.items():
        strings = half.sentence.triples[number].strings
        shown, name = split(strings, role)
        row = {"number": number, "triple": list(strings), "hidden": role, "emitted": strings in said}
        triples.append({**row, "known": names.get(shown) == name})
    return {"id": half.sentence.id, "shown": half.shown, "triples": triples, "said": sorted(map(list, said))}
