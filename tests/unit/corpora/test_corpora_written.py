"""Seventeen forms of corpora, written without the package: each is read with equal counts, or
refused with advice.
"""

from pathlib import Path

import pytest

from support.written import FILES, TEXTS, docbin, rows, strings, text_of, write
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus

ROWS = rows()
FORMATS = {
    "plain.jsonl": "jsonl", "head-type-tail.jsonl": "jsonl", "lists.jsonl": "jsonl", "rows.csv": "records",
    "rows.tsv": "records", "docred.json": "docred", "rebel.jsonl": "rebel",
    "tacred.json": "tacred", "dygie.jsonl": "dygie", "prodigy.jsonl": "prodigy", "doccano.jsonl": "doccano",
    "studio.json": "label-studio", "duie.jsonl": "records",
    "opennre.jsonl": "pairs", "brat.ann": "brat", "rows.parquet": "records", "docbin.spacy": "docbin",
}  # fmt: skip


@pytest.mark.parametrize("name", [*TEXTS, *FILES])
def test_sixty_sentences_are_read_with_equal_triples(tmp_path: Path, name: str) -> None:
    if name == "docbin.spacy":
        pytest.importorskip("spacy")
    corpus = read_corpus(write(tmp_path, name, ROWS))
    assert corpus.report.format == FORMATS[name]
    found = {
        sentence.text: {triple.strings for triple in sentence.triples}
        for sentence in corpus.sentences
    }
    expected = {text_of(row): set(strings(row)) for row in ROWS}
    assert len(corpus.sentences) == len(expected) == 60
    assert found == expected
    assert corpus.report.triples == 72 and corpus.report.triples_not_in_text == 0


def test_a_docbin_without_relations_says_what_is_missing(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    docbin(tmp_path / "a.spacy", ROWS, extension=False)
    with pytest.raises(
        UserError,
        match="this DocBin keeps no relations; expected documents with the extension 'rel'",
    ):
        read_corpus(tmp_path / "a.spacy")
    (tmp_path / "b.spacy").write_bytes(b"none")
    with pytest.raises(UserError, match="not a whole DocBin of spaCy"):
        read_corpus(tmp_path / "b.spacy")
