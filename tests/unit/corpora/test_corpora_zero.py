"""NYT24* and NYT29*: zero-triple sentences of raw corpora in their true formats, next to
prepared splits.
"""

import pytest

from support.reading import lines, write
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.divide import fitting_sizes
from tripleaudit.corpora.registered import read_registered
from tripleaudit.sources import registry

BORN = "/people/person/place_of_birth"


@pytest.fixture
def smaller(monkeypatch):
    """The registry with small sizes and unchecked files, so that small files in the true formats
    will do.
    """

    def change(name: str, sizes: dict[str, int], least: float = 0.9):
        corpora, files = dict(registry.corpora()), dict(registry.raw_files())
        zero = corpora[name].zero.model_copy(update={"sizes": sizes, "least": least})
        corpora[name] = corpora[name].model_copy(update={"zero": zero})
        for split in corpora[name].splits:
            for file in corpora[name].raw_files(split):
                files[file.name] = file.model_copy(update={"sha256": None, "expect": {}})
        monkeypatch.setattr(registry, "corpora", lambda: corpora)
        monkeypatch.setattr(registry, "raw_files", lambda: files)

    return change


def write_nyt24(folder):
    """NYT24 as PRGC publishes it, and CoType's NYT11: pairs labelled None in sentences with and
    without triples.
    """

    def row(text, *labels):
        mentions = [{"em1Text": "Ann", "em2Text": "Bonn", "label": label} for label in labels]
        return {"sentText": f"{text}\r\n", "articleId": "a", "relationMentions": mentions}

    rows = [row(f"Ann went to Bonn in year {number} .", "None") for number in range(8)]
    rows.append(row('"Ann went to Bonn in year 1 ."', "None"))  # the same text in quotes
    rows.append(
        row("Ann was born in Bonn , they say 1 .", "None")
    )  # a sentence of the prepared validation set
    rows += [row("Ann is of Bonn .", "None", BORN), row("Ann loves Bonn .")]
    prepared = {
        f"nyt/{name}_triples.json": [
            {
                "text": f"Ann was born in Bonn , they say {number} .",
                "triple_list": [["Ann", BORN, "Bonn"]],
            }
        ]
        for number, name in enumerate(("train", "val", "test"))
    }
    write(folder, {**prepared, "nyt11/train.json": lines(*rows)})


def write_nyt29(folder):
    """NYT29 as PtrNet publishes it (text files), its test set from HRL, and OpenNRE's NYT10."""
    for number, name in enumerate(("train", "dev")):
        write(folder, {
            f"nyt29/{name}.sent": f"ann was born in bonn , they say {number} .\n",
            f"nyt29/{name}.tup": f"ann ; bonn ; {BORN}\n",
            f"nyt29/{name}.pointer": f"0 0 4 4 {BORN}\n",
        })  # fmt: skip
    rows = [(f"Ann went to Bonn in year {number} .", "NA") for number in range(9)]
    rows += [
        ("Ann was born in Bonn , they say 2 .", "NA"),
        ("Ann is of Bonn .", BORN),
        ("Ann is of Bonn .", "NA"),
    ]
    pairs = [
        {"text": text, "relation": label, "h": {"name": "Ann"}, "t": {"name": "Bonn"}}
        for text, label in rows
    ]
    item = {"text": "ann was born in bonn , they say 2 .", "triple_list": [["ann", BORN, "bonn"]]}
    write(folder, {"nyt10-hrl/test.json": [item], "nyt10/nyt10_train.txt": lines(*pairs)})


@pytest.mark.parametrize(("name", "make"), [("nyt24star", write_nyt24), ("nyt29star", write_nyt29)])
def test_zero_sentences_of_the_raw_corpus_follow_those_of_the_prepared_splits(
    name, make, tmp_path, smaller
):
    make(tmp_path)
    smaller(name, {"train": 5, "valid": 2, "test": 2})
    splits = {split: read_registered(name, split, tmp_path) for split in ("train", "valid", "test")}
    assert [corpus.report.zero_triple_sentences for corpus in splits.values()] == [5, 2, 2]
    assert [corpus.report.sentences for corpus in splits.values()] == [6, 3, 3]
    texts = [sentence.text for corpus in splits.values() for sentence in corpus.sentences]
    assert len({text.strip('"') for text in texts}) == len(texts) == 12
    assert not any("is of" in text for text in texts)
    assert sum("they say" in text for text in texts) == 3
    assert (splits["train"].sentences[-1].text == splits["train"].sentences[-1].text.lower()) == (
        name == "nyt29star"
    )
    again = read_registered(name, "test", tmp_path)
    assert again.sentences == splits["test"].sentences


def test_too_few_zero_sentences_shrink_the_sets_alike_or_are_refused(tmp_path, smaller):
    write_nyt24(tmp_path)
    smaller("nyt24star", {"train": 6, "valid": 2, "test": 2})
    sizes = [
        read_registered("nyt24star", split, tmp_path).report for split in ("train", "valid", "test")
    ]
    assert [report.zero_triple_sentences for report in sizes] == [7, 1, 1]
    smaller("nyt24star", {"train": 9, "valid": 2, "test": 2})
    message = r"nyt24star \(nyt11/train.json\): the raw corpus has 9 different sentences with zero triples, expected 13"
    with pytest.raises(UserError, match=message):
        read_registered("nyt24star", "train", tmp_path)


def test_sizes_keep_their_proportions():
    published = {"train": 800, "valid": 100, "test": 100}
    assert fitting_sizes(2000, published, 0.9, "nyt") == published
    assert fitting_sizes(990, published, 0.9, "nyt") == {"train": 792, "valid": 99, "test": 99}
    assert sum(fitting_sizes(907, published, 0.9, "nyt").values()) == 907
    with pytest.raises(UserError, match="nyt: the raw corpus has 899 .* at least 90% of them"):
        fitting_sizes(899, published, 0.9, "nyt")


def test_the_registered_sizes_are_those_of_the_papers_table_2():
    published = {"nyt24": (145_767, 4_969, 4_969), "nyt29": (177_861, 4_940, 4_601)}
    for name, sizes in published.items():
        assert (
            tuple(registry.corpus(f"{name}star").zero.sizes[split] for split in registry.SPLITS)
            == sizes
        )
        needed = [file.name for file in registry.corpus(f"{name}star").raw_files("test")]
        assert len(needed) == len(set(needed)) > len(registry.corpus(name).raw_files("test"))
