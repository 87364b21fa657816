"""Sentences about what a reader left out or changed: one per kind, with count and examples."""

import logging
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.core.wording import counted
from tripleaudit.corpora.corpus_report import CorpusReport

logger = logging.getLogger(__name__)
SHOWN: Final = 2
KINDS: Final = {
    "not_annotated": "text{s} that nobody has annotated yet {are} left out",
    "skipped": "text{s} that an annotator skipped {are} left out",
    "several_annotators": "text{s} {have} several annotations; the first is read (--column "
    "annotator=NAME chooses)",
    "several_predictions": "text{s} {have} several predictions; the first is read",
    "without_any_relation": "text{s} {have} entities, but the whole file has no relation: did "
    "the export omit them?",
    "relations_to_events": "relation{s} to an event {are} left out",
    "unlabelled_relations": "relation{s} {have} no label and {are} left out",
    "other_annotators": "text{s} {are} not annotated by the chosen annotator and {are} left out",
    "texts_not_accepted": "row{s} that {were} not accepted {are} left out",
    "without_labels": "document{s} {have} no relations ('labels'), as in a blind test set, and "
    "{are} left out",
    "empty_annotations": "text{s} {have} no annotation at all; {they} {are} read as sentences "
    "without triples",
    "folders": "folder{s} contain{v} more annotations, which are not read (name them separately)",
    "other_files": "file{s} of a folder {are} neither RDF nor a text next to it, and {are} not "
    "read",
    "attributes": "attribute{s} and qualifiers {are} left out; the annotated triples are read "
    "without them",
    "unread_answers": "answer{s} of a language model cannot be read as triples; {they} give{v} "
    "no triple",
    "refused_answers": "answer{s} of a language model decline{v} the request; {they} give{v} no "
    "triple",
    "truncated_answers": "answer{s} of a language model {were} cut; the complete items are read",
    "dropped_items": "item{s} of the answers of a language model {are} malformed and left out; in "
    "a file of triples such items count as wrong predictions",
    "without_mention": "relation{s} {have} a concept without a mention in the text, and {are} "
    "left out",
    "other_splits": "row{s} name{v} another split than the first row ('split'); {they} {are} "
    "read all the same (give "
    "each split a file)",
    "unknown_units": "relationship{s} {have} an unknown text unit, and {are} left out",
    "other_lists": "sentence{s} {have} no triples in the expected field, but a list under "
    "another name, which is not read",
    "second_lists": "sentence{s} {have} two lists of triples, of which that of the gold is read "
    "for gold triples only",
    "predictions_beside": "row{s} also contain{v} predictions, which are not read as gold triples",
    "predictions_read": "row{s} contain{v} predictions in separate fields, which are read",
    "malformed_predictions": "item{s} of the predictions {are} malformed; each counts as one "
    "wrong prediction",
    "utf16_offsets": "entit{y} {have} offsets in units of UTF-16, in which an emoji counts "
    "twice; {they} {are} read so",
    "failed_rows": "row{s} failed or {were} rejected ('error', 'answer'); the triples in them "
    "are read",
    "marks": "text{s} contain{v} marks of entities, such as <e1>, which are read as text",
    "empty_texts": "sentence{s} {have} an empty text",
    "broken_characters": "text{s} {have} characters that result from a wrong encoding (U+FFFD, "
    "a byte-order mark, Ã¶ for ö)",
    "outside_marks": "output{s} {have} words outside of '<triplet>' or of code fences, which "
    "are left out",
    "broken_answers": "answer{s} {are} no complete Turtle or JSON-LD; {they} give{v} no triple",
    "schema_statements": "statement{s} of types, labels and schemas (rdf:type, rdfs:label, owl: "
    "…) {are} no triples",
    "blank_nodes": "statement{s} about nodes without a name (blank nodes) {are} left out",
    "contexts": "context{s} of JSON-LD at an address {are} not fetched; names are read as written",
    "outside_graphs": "triple{s} {are} outside of the named graphs, belong{v} to no sentence "
    "and {are} left out",
    "other_attributes": "extraction{s} {have} attributes, but none that names a subject and an "
    "object; {they} give{v} no "
    "triple",
    "further_objects": "triple{s} {have} further objects, which are left out",
    "relations_between_lines": "relation{s} between two lines of a text {are} left out",
    "in_pieces": "relation{s} of an entity in several pieces, which has no span, {are} left out",
    "no_relations": "annotation{s} of other kinds (events, equivalences) {are} left out",
    "null_triples": "sentence{s} {have} null instead of a list of triples; {they} {are} read as "
    "having none",
    "no_object": "extraction{s} without an object {are} left out",
    "missing_values": "triple{s} {have} nan, NULL or the like in all three parts; {they} {are} "
    "read as no triple",
    "names_like_none": "triple{s} {have} a relation whose name means none, such as 'no "
    "relation'; it is read as a relation",
    "names_like_missing": "triple{s} {have} a name like nan or NULL, as tables write a missing "
    "value; it is read as a name",
    "other_names": "entit{y} {have} another name than the tokens at the offsets, which are read",
    "empty_names": "triple{s} {have} an entity without a name",
    "cut_names": "entit{y} begin{v} or end{v} inside a word by the offsets: do these count from "
    "1, or include the last one?",
    "order_sor": "triple{s} look{v} as if relation and object were exchanged (--column "
    "order=sor, or name the columns)",
    "order_rso": "triple{s} look{v} as if relation and subject were exchanged (--column "
    "order=rso, or name the columns)",
    "empty_relations": "triple{s} {have} a subject and an object, but an empty relation, and {are} "
    "left out",
    "pairs_without_relation": "pair{s} {are} marked as having no relation; {they} give{v} no "
    "triple",
    "pointer_mismatches": "position{s} {do} not have the string that the file gives; the string "
    "is looked for in the text",
    "renamed_ids": "id{s} occur{v} again and {were} given #2, #3, … so that each is unique",
    "of_other_relations": "sentence{s} of other relations {are} left out",
    "malformed": "item{s} {are} malformed and {are} left out",
}
"""Kind of a note of a report -> its sentence, to be filled by :func:`describe`."""


def describe(kind: str, count: int) -> str:
    """Return the sentence of a kind of note for a number of cases."""
    return counted(count, KINDS.get(kind, kind))  # plugins may have kinds of their own


def remarks(report: CorpusReport) -> dict[str, tuple[int, str]]:
    """Return kind -> count and sentence of all that was left out or changed."""
    found = {}
    for kind in KINDS:
        if count := report.notes.get(kind):
            some = " and ".join(report.examples.get(kind, []))
            example = f", such as {some}" if some else ""
            found[kind] = count, f"{describe(kind, count)}{example}"
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
