"""Every sample of docs/reference/formats.md is read as it says, and all hold the same triples."""

import re
from pathlib import Path

import pytest

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.records import parse_columns
from tripleaudit.corpora.spec import FORMATS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "formats.md").read_text(
    encoding="utf-8"
)
SAMPLE = re.compile(
    r"^`([\w./-]+)` \(format `([\w-]+)`(?:, `--column ([^`]+)`)?\):\n\n```\w*\n(.*?)```\n",
    re.MULTILINE | re.DOTALL,
)
SAMPLES = {
    name: (format, columns, content) for name, format, columns, content in SAMPLE.findall(PAGE)
}
EXPECTED = [
    {("Ada Lund", "leads", "Harrow Steel"), ("Harrow Steel", "in", "Oslo")},
    set(),
    {("Zoë", "lives in", "Köln")},
]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_as_the_page_says(tmp_path, name):
    format, columns, content = SAMPLES[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    corpus = read_corpus(tmp_path / name, columns=parse_columns([columns]) if columns else {})
    assert corpus.report.format == format
    assert [
        {triple.strings for triple in sentence.triples} for sentence in corpus.sentences
    ] == EXPECTED
    assert corpus.report.triples_not_in_text == 0


def test_the_page_has_samples_and_names_every_format():
    assert len(SAMPLES) == 5 and all(f"`{format}`" in PAGE for format in FORMATS)
