"""Every count that is known of the published files comes out of the readers."""

import collections

import pytest

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.registered import read_registered

# file: sentences, different texts, triples as listed, unique triples, relations, repeats,
# zero-triple sentences
COUNTS = {
    "webnlg/train_triples.json": (5019, 5011, 11313, 2444, 211, 1),
    "webnlg/val_triples.json": (500, 500, 1224, 780, 144, 1),
    "webnlg/test_triples.json": (703, 701, 1607, 887, 149),
    "webnlg-star/train_triples.json": (5019, 5012, 11776, 1231, 170, 89),
    "webnlg-star/val_triples.json": (500, 500, 1118, 576, 110, 5),
    "webnlg-star/test_triples.json": (703, None, 1591, 665, 125, 10),
    "nyt/val_triples.json": (5000, 4975, 8489, 3488, 22, 504),
    "nyt/test_triples.json": (5000, 4985, 8616, 3493, 22, 496),
    "nyt-star/val_triples.json": (4999, 4973, 7976, 3352, 22, 0),
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
    "scierc/train_triples.json": (1861, None, 3219, None, 7, 4, 495),
    "scierc/dev_triples.json": (275, None, 455, None, 7, None, 88),
    "ade/train_triples.json": (3845, None, 6155, None, 1),
    "ade/test_triples.json": (427, None, 666, None, 1),
    "conll04-full/corp.tsv": (5516, None, 2048, None, 5, None, 4075),
    "ade-corpus-v2/DRUG-AE.rel": (4271, 4271, 6821, 5730, 1),
    "ade-corpus-v2/ADE-NEG.txt": (16695, 16625, 0, 0, 0),
    "kbp37/dev.txt": (1514 + 210, None, 1514, None, 18),
    "kbp37/test.txt": (2986 + 419, None, 2986, None, 18),
    "nyt11-cotype/test.json": (395, 388, 410, None, 12, 14),
    "nyt11-cotype/overlap.txt": (2936, 2906, 8321, None, None, 735),
    "nyt10m-zero/nyt10m_test_zero_sentences.json": (2203, 2203, 0, 0, 0),
    "genres/datasets/nyt10m_all.json": (5603, 5603, 7984, 3899, 24),
    "genres/datasets/wiki80_rand_800.json": (800, 800, 802, None, 80),
    "genres/datasets/nyt10m_rand_500.json": (500, 500, 720, None, 20),
    "genres/datasets/wiki20m_rand_500.json": (500, 500, 1000, None, 79),
    "genres/datasets/cdr_rand_200.json": (200, 200, 2143, None, 3),
    "genres/datasets/docred_rand_200.json": (200, 200, 2485, None, 92),
    "genres/datasets/docred_all.json": (985, 985, 12275, None, 96, 111),
    "genres/processed_results/cdr_rand_200_groundtruth_1.json": (200, 200, 2077, None, 2),
    "genres/processed_results/wiki80_rand_800_groundtruth_1.json": (
        800,
        None,
        802,
        None,
        80,
        None,
        0,
    ),
    "genres/processed_results/wiki80_rand_800_vicuna-1.5-7b_1.json": (
        800,
        None,
        1908,
        None,
        1158,
        None,
        31,
    ),
    "genres/processed_results/wiki80_rand_800_gpt-3.5-turbo-1106_1.json": (
        800,
        None,
        2704,
        None,
        1115,
        None,
        140,
    ),
    "genres/processed_results/nyt10m_rand_500_gpt-3.5_semi_1.json": (
        500,
        None,
        1444,
        None,
        230,
        None,
        298,
    ),
    "genres/processed_results/cdr_rand_200_gpt-3.5_semi_1.json": (
        200,
        None,
        1263,
        None,
        29,
        None,
        56,
    ),
    "genres/processed_results/docred_rand_200_vicuna-1.5-7b_1.json": (
        200,
        None,
        1486,
        None,
        905,
        None,
        9,
    ),
    "jointer-predictions/webnlg_best_test_results.json": (703, 701, 1607, 887, 149),
    "jointer-predictions/nyt_multi_best_test_results.json": (5000, None, 8120, None, 22),
}
NAMES = (
    "sentences",
    "texts",
    "triples_raw",
    "unique_triples",
    "relations",
    "duplicates",
    "zero_triple_sentences",
)


CORPORA = sorted({file.partition("/")[0] for file in COUNTS})
# of each kind of file one; make test-thorough reads all
QUICK = ("ade-corpus-v2", "conll04-full", "genres", "kbp37", "nyt11-cotype", "webnlg")


@pytest.mark.parametrize(
    "corpus",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in CORPORA],
)
def test_published_counts(real_data, corpus):
    for file, counts in COUNTS.items():
        if not file.startswith(f"{corpus}/"):
            continue
        report = read_corpus(real_data / file).report.to_json()
        named = dict(zip(NAMES, counts, strict=False))
        known = {name: count for name, count in named.items() if count is not None}
        assert {name: report[name] for name in known} == known, file


CONLL04 = {"Live_In": 521, "OrgBased_In": 452, "Located_In": 406, "Work_For": 401, "Kill": 268}
FACTS = {  # file: how it is read, and what else is known of it
    "nyt/val_triples.json": ({}, {"triples": 7985}),  # the other way in which NYT24 was counted
    "nyt/test_triples.json": (
        {},
        {"triples": 8120, "triples_not_in_text": 44},
    ),  # string recall ends at 99.46 %
    "rte-eval/WebNLG_all/valid_data.json": (
        {"occurrence": "given"},
        {"spans": 1551},
    ),  # every mention
    "rte-eval/WebNLG_all/test_data.json": ({"occurrence": "given"}, {"spans": 1984}),
    "nyt11-cotype/test.json": ({}, {"triples": 396, "notes": {"pairs_without_relation": 3470}}),
    "nyt11-hrl/test.json": (
        {},
        {
            "triples": 370,
            "found": {"given": 0, "word": 740, "token": 0, "substring": 0, "missing": 0},
        },
    ),
    "genres/datasets/cdr_rand_200.json": (
        {},
        {"relation_counts": {"1:NR:2": 1642, "1:CID:2": 435, "not_include": 66}},
    ),
    "jointer-predictions/webnlg_best_test_results.json": (
        {"side": "predict"},
        {"triples": 1562, "zero_triple_sentences": 29},
    ),
}


@pytest.mark.parametrize("file", FACTS)
def test_what_else_is_known(real_data, file):
    options, facts = FACTS[file]
    corpus = read_corpus(real_data / file, **options)
    report = corpus.report.to_json()
    assert {name: report[name] for name in facts} == facts
    assert not [problem for sentence in corpus.sentences for problem in sentence.problems()]
    if file.startswith("nyt11-hrl"):  # leading blanks do not shift offsets
        assert all(
            sentence.text.startswith(" ") and sentence.text.endswith(" ")
            for sentence in corpus.sentences
        )


def test_both_versions_of_conll04_agree(real_data):
    """SpERT's tokens differ in ten sentences only (commas without blanks, -LCB-); see that spans
    and text agree.
    """
    full = {s.id: s for s in read_corpus(real_data / "conll04-full/corp.tsv").sentences}
    assert (
        collections.Counter(triple.relation for each in full.values() for triple in each.triples)
        == CONLL04
    )
    different = 0
    for part in ("train", "dev", "test"):
        for sentence in read_corpus(real_data / f"conll04/{part}_triples.json").sentences:
            twin = full[sentence.id]
            assert len(twin.triples) == len(sentence.triples)
            different += set(twin.triples) != set(sentence.triples) or twin.text != sentence.text
    assert different == 10


@pytest.mark.parametrize(
    ("name", "split", "sentences", "zeros"),
    [
        ("conll04-full", "train", 922 + 2607, 2607),
        ("conll04-full", "valid", 231 + 654, 654),
        ("conll04-full", "test", 288 + 814, 814),
        ("webnlg-augmented", "test", 2812, 0),
        ("nyt29", "test", 4006, 0),
        ("nyt10m", "test", 2342, 661),
    ],
)
def test_registered_splits(real_data, name, split, sentences, zeros):
    report = read_registered(name, split, real_data).report
    assert (report.sentences, report.zero_triple_sentences) == (sentences, zeros)


def test_the_rearranged_training_set_is_rebuilt(real_data):
    rebuilt = read_registered("webnlg-rearranged", "train", real_data).sentences
    derived = read_corpus(
        real_data / "rte-eval/derived/rearranged_WebNLG_all_train_triples.json"
    ).sentences
    assert [(s.text, s.triples) for s in rebuilt] == [(s.text, s.triples) for s in derived]


def test_the_zero_triple_sentences_of_nyt10m_are_rebuilt(real_data):
    derived = read_corpus(real_data / "nyt10m-zero/nyt10m_test_zero_sentences.json").sentences
    rebuilt = set()
    for split in ("train", "valid", "test"):
        rebuilt |= {
            s.text for s in read_registered("nyt10m", split, real_data).sentences if not s.triples
        }
    assert rebuilt == {sentence.text for sentence in derived}
