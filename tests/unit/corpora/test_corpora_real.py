"""Every count that is known of the published files comes out of the readers."""

import collections
import json

import pytest

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.registered import read_registered

# file: sentences, different texts, triples as listed, unique triples, relations
TRIPLES = {
    "webnlg/train_triples.json": (5019, 5011, 11313, 2444, 211),
    "webnlg/val_triples.json": (500, 500, 1224, 780, 144),
    "webnlg/test_triples.json": (703, 701, 1607, 887, 149),
    "webnlg-star/train_triples.json": (5019, 5012, 11776, 1231, 170),
    "webnlg-star/val_triples.json": (500, 500, 1118, 576, 110),
    "webnlg-star/test_triples.json": (703, None, 1591, 665, 125),
    "nyt/val_triples.json": (5000, 4975, 8489, 3488, 22),
    "nyt/test_triples.json": (5000, 4985, 8616, 3493, 22),
    "nyt-star/val_triples.json": (4999, 4973, 7976, 3352, 22),
    "nyt10-hrl/dev.json": (351, 351, 443, 369, 18),
    "nyt10-hrl/test.json": (4006, 4006, 5859, 1946, 29),
    "nyt11-hrl/dev.json": (313, 313, 390, 302, 11),
    "nyt11-hrl/test.json": (369, 362, 370, 275, 12),
    "rte-eval/WebNLG_all/valid_data.json": (500, 500, 1223, 780, 144),
    "rte-eval/WebNLG_all/test_data.json": (703, 701, 1607, 887, 149),
    "rte-eval/rearranged_WebNLG_all/valid_data.json": (500, 500, 884, 770, 143),
    "rte-eval/rearranged_WebNLG_all/test_data.json": (703, 702, 1225, 994, 154),
    "rte-eval/derived/rearranged_WebNLG_all_train_triples.json": (5019, 5011, 12034, 1783, 187),
    "rte-eval/augmented_test_WebNLG_all/ss_test_data.json": (703, None, 1607, 1203, 149),
    "rte-eval/augmented_test_WebNLG_all/su_test_data.json": (703, None, 1607, 1556, 149),
    "rte-eval/augmented_test_WebNLG_all/us_test_data.json": (703, None, 1607, 1561, 149),
    "rte-eval/augmented_test_WebNLG_all/uu_test_data.json": (703, None, 1607, 1578, 149),
    "conll04/train_triples.json": (922, None, 1283, None, 5),
    "conll04/dev_triples.json": (231, None, 343, None, 5),
    "conll04/test_triples.json": (288, None, 422, None, 5),
    "scierc/train_triples.json": (1861, None, 3219, None, 7),
    "scierc/dev_triples.json": (275, None, 455, None, 7),
    "ade/train_triples.json": (3845, None, 6155, None, 1),
    "ade/test_triples.json": (427, None, 666, None, 1),
    "conll04-full/corp.tsv": (5516, None, 2048, None, 5),
    "ade-corpus-v2/DRUG-AE.rel": (4271, 4271, 6821, 5730, 1),
    "ade-corpus-v2/ADE-NEG.txt": (16695, 16625, 0, 0, 0),
    "kbp37/dev.txt": (1514 + 210, None, 1514, None, 18),
    "kbp37/test.txt": (2986 + 419, None, 2986, None, 18),
    "nyt11-cotype/test.json": (395, 388, 410, None, 12),
    "nyt11-cotype/overlap.txt": (2936, 2906, 8321, None, None),
    "nyt10m-zero/nyt10m_test_zero_sentences.json": (2203, 2203, 0, 0, 0),
    "genres/datasets/nyt10m_all.json": (5603, 5603, 7984, 3899, 24),
    "genres/datasets/wiki80_rand_800.json": (800, 800, 802, None, 80),
    "genres/datasets/nyt10m_rand_500.json": (500, 500, 720, None, 20),
    "genres/datasets/wiki20m_rand_500.json": (500, 500, 1000, None, 79),
    "genres/datasets/cdr_rand_200.json": (200, 200, 2143, None, 3),
    "genres/datasets/docred_rand_200.json": (200, 200, 2485, None, 92),
    "genres/datasets/docred_all.json": (985, 985, 12275, None, 96),
    "genres/processed_results/cdr_rand_200_groundtruth_1.json": (200, 200, 2077, None, 2),
    "jointer-predictions/webnlg_best_test_results.json": (703, 701, 1607, 887, 149),
    "jointer-predictions/nyt_multi_best_test_results.json": (5000, None, 8120, None, 22),
}


@pytest.mark.parametrize("file", TRIPLES)
def test_published_counts(real_data, file):
    report = read_corpus(real_data / file).report
    counted = (report.sentences, report.texts, report.triples_raw, report.unique_triples, report.relations)
    expected = TRIPLES[file]
    assert tuple(c for c, e in zip(counted, expected, strict=True) if e is not None) == tuple(
        e for e in expected if e is not None
    )


@pytest.mark.parametrize(
    ("file", "duplicates"),
    [
        ("webnlg/train_triples.json", 1),
        ("webnlg/val_triples.json", 1),
        ("webnlg-star/train_triples.json", 89),
        ("webnlg-star/val_triples.json", 5),
        ("webnlg-star/test_triples.json", 10),
        ("nyt/val_triples.json", 504),
        ("nyt/test_triples.json", 496),
        ("nyt-star/val_triples.json", 0),
        ("scierc/train_triples.json", 4),
        ("genres/datasets/docred_all.json", 111),
        ("nyt11-cotype/test.json", 410 - 396),
        ("nyt11-cotype/overlap.txt", 8321 - 7586),
    ],
)
def test_duplicates(real_data, file, duplicates):
    assert read_corpus(real_data / file).report.duplicates == duplicates


def test_the_two_ways_in_which_nyt24_was_counted(real_data):
    valid = read_corpus(real_data / "nyt/val_triples.json").report
    test = read_corpus(real_data / "nyt/test_triples.json").report
    assert (valid.triples_raw, valid.triples) == (8489, 7985)
    assert (test.triples_raw, test.triples) == (8616, 8120)
    assert test.triples_not_in_text == 44  # string recall ends at 99.46 %


@pytest.mark.parametrize(
    ("file", "mentions"),
    [("rte-eval/WebNLG_all/valid_data.json", 1551), ("rte-eval/WebNLG_all/test_data.json", 1984)],
)
def test_every_mention_with_given_spans(real_data, file, mentions):
    corpus = read_corpus(real_data / file, occurrence="given")
    assert corpus.report.spans == mentions
    assert all(not list(sentence.problems()) for sentence in corpus.sentences)


def test_conll04_relations_and_zero_triple_sentences(real_data):
    corpus = read_corpus(real_data / "conll04-full/corp.tsv")
    relations = collections.Counter(t.relation for sentence in corpus.sentences for t in sentence.triples)
    assert relations == {"Live_In": 521, "OrgBased_In": 452, "Located_In": 406, "Work_For": 401, "Kill": 268}
    assert corpus.report.zero_triple_sentences == 4075


def test_both_versions_of_conll04_agree(real_data):
    """SpERT's tokens differ in ten sentences only (commas without blanks, -LCB-); see that spans and text agree."""
    full = {s.id: s for s in read_corpus(real_data / "conll04-full/corp.tsv").sentences}
    different = 0
    for part in ("train", "dev", "test"):
        for sentence in read_corpus(real_data / f"conll04/{part}_triples.json").sentences:
            twin = full[sentence.id]
            assert len(twin.triples) == len(sentence.triples)
            different += set(twin.triples) != set(sentence.triples) or twin.text != sentence.text
    assert different == 10


@pytest.mark.parametrize(("file", "zeros"), [("scierc/train_triples.json", 495), ("scierc/dev_triples.json", 88)])
def test_scierc_zero_triple_sentences(real_data, file, zeros):
    assert read_corpus(real_data / file).report.zero_triple_sentences == zeros


def test_cotype_pairs_without_relation(real_data):
    report = read_corpus(real_data / "nyt11-cotype/test.json").report
    assert report.notes == {"pairs_without_relation": 3470}
    assert report.triples == 396


def test_leading_blanks_of_nyt11_do_not_shift_offsets(real_data):
    corpus = read_corpus(real_data / "nyt11-hrl/test.json")
    assert all(sentence.text.startswith(" ") and sentence.text.endswith(" ") for sentence in corpus.sentences)
    assert all(not list(sentence.problems()) for sentence in corpus.sentences)
    assert corpus.report.found["word"] == 2 * corpus.report.triples


def test_cdr_labels(real_data):
    report = read_corpus(real_data / "genres/datasets/cdr_rand_200.json").report
    assert report.relation_counts == {"1:NR:2": 1642, "1:CID:2": 435, "not_include": 66}


PROCESSED = {  # documents without a triple, triples
    "wiki80_rand_800_groundtruth": (0, 802),
    "wiki80_rand_800_vicuna-1.5-7b": (31, 1908),
    "wiki80_rand_800_gpt-3.5-turbo-1106": (139, 2704),
    "nyt10m_rand_500_gpt-3.5_semi": (298, 1444),
    "cdr_rand_200_gpt-3.5_semi": (56, 1263),
    "docred_rand_200_vicuna-1.5-7b": (9, 1486),
}


@pytest.mark.parametrize("name", PROCESSED)
def test_processed_triples_and_their_order(real_data, name):
    path = real_data / "genres" / "processed_results" / f"{name}_1.json"
    report = read_corpus(path).report
    assert report.format == "genres-processed"
    value = json.loads(path.read_text(encoding="utf-8"))
    assert sum(not rows for rows in value.values()) == PROCESSED[name][0]
    assert report.triples_raw == PROCESSED[name][1]
    assert report.triples_raw == report.triples + report.duplicates + report.notes.get("malformed", 0)


def test_saved_predictions(real_data):
    path = real_data / "jointer-predictions/webnlg_best_test_results.json"
    gold, predicted = (read_corpus(path, side=side) for side in ("truth", "predict"))
    assert (gold.report.triples, predicted.report.triples, predicted.report.zero_triple_sentences) == (1607, 1562, 29)
    own = read_corpus(real_data / "webnlg/test_triples.json").sentences
    assert [{t.strings for t in s.triples} for s in own] == [{t.strings for t in s.triples} for s in gold.sentences]


@pytest.mark.parametrize(
    ("name", "split", "sentences", "zeros"),
    [
        ("conll04-full", "train", 922 + 2607, 2607),
        ("conll04-full", "valid", 231 + 654, 654),
        ("conll04-full", "test", 288 + 814, 814),
        ("webnlg-augmented", "test", 2812, 0),
        ("nyt29", "test", 4006, 0),
    ],
)
def test_registered_splits(real_data, name, split, sentences, zeros):
    report = read_registered(name, split, real_data).report
    assert (report.sentences, report.zero_triple_sentences) == (sentences, zeros)


def test_the_rearranged_training_set_is_rebuilt(real_data):
    rebuilt = read_registered("webnlg-rearranged", "train", real_data).sentences
    derived = read_corpus(real_data / "rte-eval/derived/rearranged_WebNLG_all_train_triples.json").sentences
    assert [(s.text, s.triples) for s in rebuilt] == [(s.text, s.triples) for s in derived]


def test_the_zero_triple_sentences_of_nyt10m_are_rebuilt(real_data):
    derived = read_corpus(real_data / "nyt10m-zero/nyt10m_test_zero_sentences.json").sentences
    rebuilt = set()
    for split in ("train", "valid", "test"):
        rebuilt |= {s.text for s in read_registered("nyt10m", split, real_data).sentences if not s.triples}
    assert rebuilt == {sentence.text for sentence in derived}
