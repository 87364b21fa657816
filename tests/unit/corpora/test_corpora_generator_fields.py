"""The table of field names on the page about answers says what ``score`` reads."""

import json
import re
from pathlib import Path

import pytest

import tripleaudit as ta
from support.workflow import ROOT
from tripleaudit.core.errors import UserError

PAGE = ROOT / "docs" / "howto" / "llm-answers.md"
GOLD = [
    {"id": "1", "text": "Ada Lund lives in Oslo .", "triples": [["Ada Lund", "home", "Oslo"]]},
    {"id": "2", "text": "Eva Hill lives in Kiel .", "triples": [["Eva Hill", "home", "Kiel"]]},
]
# one line of the table each: what a generator writes for a triple
FORMS = (
    ("<s><triplet> {0} <subj> {1} <obj> home</s>",),
    ('[["{0}", "home", "{1}"]]',),
    ("({0}, home, {1})", "{0} | home | {1}"),
    ('```json\n[["{0}", "home", "{1}"]]\n```', "- ({0}, home, {1})"),
    ('<http://e/1> <http://e/home> "{1}" .\n<http://e/1> <http://www.w3.org/2000/01/rdf-schema#label> "{0}" .',),
)  # fmt: skip


def cases() -> list[tuple[str, str, str, bool]]:
    """Return form, key of the sentence, field and whether the page says that it is read."""
    section = PAGE.read_text("utf-8").split("## Other generators")[1]
    rows = re.findall(r"^\| (?:REBEL|JSON|`\(|RDF).*", section, re.MULTILINE)
    assert len(rows) == len(FORMS)
    found = []
    for row, forms in zip(rows, FORMS, strict=True):
        with_text, with_id = re.split(r"(?<!\\)\|", row)[2:4]
        fields = re.findall(r"`([\w-]+)`", with_text)
        for form in forms:
            found += [(form, "text", field, True) for field in fields]
            id_fields = fields if "the same" in with_id else re.findall(r"`([\w-]+)`", with_id)
            found += [(form, "id", field, field in id_fields) for field in fields]
    return found


@pytest.mark.parametrize(("form", "key", "field", "is_read"), cases())
def test_fields_are_read_as_the_page_says(
    form: str, key: str, field: str, is_read: bool, tmp_path: Path
) -> None:
    gold, answers = tmp_path / "gold.jsonl", tmp_path / "answers.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in GOLD))
    entities = [(row["triples"][0][0], row["triples"][0][2]) for row in GOLD]
    rows = [
        {key: row[key], field: form.replace("{0}", subject).replace("{1}", object_)}
        for row, (subject, object_) in zip(GOLD, entities, strict=True)
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if is_read:
        assert ta.score(gold, answers, bootstrap=0).f1 == 1
    else:
        with pytest.raises(UserError):
            ta.score(gold, answers, bootstrap=0)
