"""What systems answered that is no file of triples, in the form in which the page shows sentences.

A classifier says of a sentence whether it has triples. A model that is asked for entities names
some in a document into which needles were put: name and type stand as subject and relation, and the
object is empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tripleaudit.core.files import read_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import load_sentences
from tripleaudit.report.study_files import Predicted
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.scores import CLASSIFICATION


@dataclass(frozen=True)
class Answered:
    """The answers of one system on one test set.

    Attributes:
        gold: the sentences of the test set.
        triples: predicted ones, by sentence; none for a classifier.
        decisions: of a classifier, whether a sentence was said to have triples, and its score; by
            sentence.
    """

    gold: list[Sentence]
    triples: list[Sentence]
    decisions: Mapping[str, tuple[bool, float]]


def answered(run: Predicted) -> Answered:
    """Read what a system answered.

    Raises:
        UserError: a file is bad.
    """
    if run.entities:
        return _entities(run)
    gold = load_sentences(run.gold)
    if not run.classifies:
        return Answered(gold, load_sentences(run.predictions), {})
    scores = {
        str(row["id"]): float(row.get("score") or 0) for _, row in read_jsonl(run.predictions)
    }
    counts = load_counts(run.counts)
    yes = zip(counts.ids, counts.of(CLASSIFICATION)[:, 1], strict=True)
    return Answered(gold, [], {id_: (bool(one), scores.get(id_, 0.0)) for id_, one in yes})


def _entities(run: Predicted) -> Answered:
    """Return documents with their needles and the entities that a model extracted."""
    needles = {str(row["id"]): row for _, row in read_jsonl(run.gold.with_name("needles.jsonl"))}
    found: dict[str, list[dict]] = {}
    for _, row in read_jsonl(run.predictions):
        if row["variant"] == "enriched":
            found.setdefault(str(row["doc"]), []).append(row)
    gold: dict[str, Sentence] = {}
    for _, row in read_jsonl(run.gold):
        text = "".join(unit["text"] for unit in row["units"])
        gold[row["doc"]] = _document(
            row["doc"], text, [needles[unit["needle"]] for unit in row["units"] if unit["needle"]]
        )
    return Answered(
        list(gold.values()),
        [_document(id_, one.text, found.get(id_, [])) for id_, one in gold.items()],
        {},
    )


def _document(id_: str, text: str, entities: list[dict]) -> Sentence:
    nothing = Span(None, None, "")
    return Sentence(
        id_,
        text,
        tuple(Triple(_span(text, str(e["name"])), str(e["type"]), nothing) for e in entities),
    )


def _span(text: str, name: str) -> Span:
    start = text.find(name) if name else -1
    return Span(None, None, name) if start < 0 else Span(start, start + len(name), name)
