"""Sentences about what a reader left out or changed: one per kind, with count and examples."""

import logging
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.corpora.corpus_report import CorpusReport

logger = logging.getLogger(__name__)
SHOWN: Final = 2
KINDS: Final = {
    "not_annotated": "texts that nobody has annotated yet are left out",
    "skipped": "texts that an annotator skipped are left out",
    "several_annotators": "texts have several annotations; the first is read (--column annotator=NAME chooses)",
    "several_predictions": "texts have several predictions; the first is read",
    "without_any_relation": "texts have entities, but the whole file has no relation: did the export omit them?",
    "relations_to_events": "relations to an event are left out",
    "unlabelled_relations": "relations have no label and are left out",
    "other_annotators": "texts are not annotated by the chosen one and are left out",
    "texts_not_accepted": "rows that were not accepted are left out",
    "without_labels": "documents have no relations ('labels'), as a blind test set has none, and are left out",
    "empty_annotations": "texts have no annotation at all; they are read as sentences without triples",
    "folders": "folders hold more annotations, which are not read (name them by themselves)",
    "other_files": "files of a folder are no RDF and no text next to it, and are not read",
    "attributes": "attributes and qualifiers are left out; what they are about is read without them",
    "unread_answers": "answers of a language model cannot be read as triples; they give no triple",
    "refused_answers": "answers of a language model decline the request; they give no triple",
    "truncated_answers": "answers of a language model were cut; their complete items are read",
    "dropped_items": "items of the answers of a language model are no triples and are left out",
    "without_mention": "relations are of concepts that no mention in the text has, and are left out",
    "other_splits": "rows say another split than the first ('split'); they are read all the same (give each a file)",
    "unknown_units": "relationships are of no text unit that is there, and are left out",
    "other_lists": "sentences have no triples where they are read, but a list under another name, which is not read",
    "second_lists": "sentences have two lists of triples, of which the gold's is read on the gold's side alone",
    "predictions_beside": "rows hold predictions, too, which are not read on the side of the gold",
    "predictions_read": "rows hold predictions under a name of their own, which are read",
    "malformed_predictions": "items of the predictions are no triples; each counts as one wrong prediction",
    "utf16_offsets": "entities have offsets that count units of UTF-16, in which an emoji is two; they are read so",
    "failed_rows": "rows failed or were rejected ('error', 'answer'); what they hold is read",
    "marks": "texts hold marks of entities, such as <e1>, which are read as text",
    "empty_texts": "sentences have an empty text",
    "broken_characters": "texts have characters that a wrong encoding leaves (U+FFFD, a byte-order mark, Ã¶ for ö)",
    "outside_marks": "outputs have words outside of '<triplet>' or of code fences, which are left out",
    "broken_answers": "answers are no whole Turtle or JSON-LD; they give no triple",
    "schema_statements": "statements of types, labels and schemas (rdf:type, rdfs:label, owl: …) are no triples",
    "blank_nodes": "statements about nodes without a name (blank nodes) are left out",
    "contexts": "contexts of JSON-LD at an address are not fetched; its names are read as they stand",
    "outside_graphs": "triples stand in no named graph where others do; they are of no sentence and left out",
    "other_attributes": "extractions have attributes, but none that names a subject and an object; they give no triple",
    "further_objects": "triples have further objects, which are left out",
    "relations_between_lines": "relations between two lines of a text are left out",
    "in_pieces": "relations of an entity in several pieces, which has no span, are left out",
    "no_relations": "annotations of other kinds (events, equivalences) are left out",
    "null_triples": "sentences have null in place of their triples; they are read as having none",
    "no_object": "extractions without an object are left out",
    "missing_values": "triples are nan, NULL or the like in all three parts; they are read as no triple",
    "names_like_none": "triples have a relation that is called like none, such as 'no relation'; it is read as one",
    "names_like_missing": "triples have a name like nan or NULL, as tables write a missing value; it is read as a name",
    "other_names": "entities have another name than the tokens at their offsets, which are read",
    "empty_names": "triples have an entity without a name",
    "cut_names": "entities begin or end inside a word by their offsets: do these count from 1, or name the last one?",
    "order_sor": "triples look as if relation and object were exchanged (--column order=sor, or name the columns)",
    "order_rso": "triples look as if relation and subject were exchanged (--column order=rso, or name the columns)",
    "pairs_without_relation": "pairs are said to have no relation; they give no triple",
    "pointer_mismatches": "positions do not have the string that is said to stand there; it is looked for in the text",
    "renamed_ids": "ids come again; they were given #2, #3, … so that each stands once",
    "of_other_relations": "sentences of other relations are left out",
    "malformed": "items are no triples and are left out",
}
"""Kind of a note of a report -> what it says."""


def remarks(report: CorpusReport) -> dict[str, tuple[int, str]]:
    """Return kind -> count and sentence of all that was left out or changed."""
    found = {}
    for kind, text in KINDS.items():
        if count := report.notes.get(kind):
            some = " and ".join(report.examples.get(kind, []))
            found[kind] = count, f"{count} {text}{', such as ' * bool(some)}{some}"
    return found


def stored_remarks(path: str | Path) -> list[str]:
    """Return the sentences of :func:`remarks` of a stored report, without folders.

    Raises:
        UserError: it is no report.
    """
    value = read_json(path)
    if not isinstance(value, dict) or not isinstance(value.get("notes"), dict):
        raise UserError(f"{path}: not the report on a corpus; expected its 'notes'")
    report: Any = SimpleNamespace(notes=value["notes"], examples=value.get("examples", {}))
    return [re.sub(r"(?<=[\s,])/?(?:[^\s/]+/)+", "", text) for _, text in remarks(report).values()]


def say(report: CorpusReport) -> None:
    """Warn of what was left out or changed."""
    for _, text in remarks(report).values():
        logger.warning("%s: %s", report.source, text)
