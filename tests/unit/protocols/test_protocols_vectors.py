import gzip

import numpy as np
import pytest

from support.filler import vectors
from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.protocols.augmented.vectors import NearestWords, derive_vectors, load_vectors
from tripleaudit.protocols.substitution import like, replaceable


def test_neighbours_come_nearest_first_with_the_case_of_the_word_and_ties_in_the_order_of_the_file():
    nearest = NearestWords(
        vectors(rome=(1, 0), milan=(1, 0.1), turin=(0.1, 1), ROME=(1, 0.01), **{",": (1, 0)})
    )
    assert nearest.nearest("Rome", 2) == ["Milan", "Turin"]
    assert nearest.nearest("rome", 1) == ["milan"]
    assert nearest.nearest("Oslo", 3) == []
    assert NearestWords(vectors(a=(1, 0), c=(0, 1), b=(0, 1), d=(0, 1))).nearest("a", 3) == [
        "c",
        "b",
        "d",
    ]


@pytest.mark.parametrize(
    ("word", "model", "expected"),
    [
        ("oslo", "Rome", "Oslo"),
        ("oslo", "UK", "OSLO"),
        ("oslo", "rome", "oslo"),
        ("oslo", "A", "Oslo"),
    ],
)
def test_case_follows_the_replaced_word(word, model, expected):
    assert like(word, model) == expected


def test_only_words_with_letters_or_digits_are_replaceable():
    assert [word for word in ("Rome", "3", ",", "(", "A.C.", "--") if replaceable(word)] == [
        "Rome",
        "3",
        "A.C.",
    ]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("rome 1 0 0\noslo 0 1 0\n", ["rome", "oslo"]),
        ("2 3\nrome 1 0 0\noslo 0 1 0\n", ["rome", "oslo"]),
        ("1990 1 0\n7 0 1\n", ["1990", "7"]),  # a first line is a header if it is two numbers
        ("rome 1\noslo 0\n", ["rome", "oslo"]),
    ],
)
def test_text_forms_with_and_without_header_are_read(tmp_path, data, words, packed):
    path = tmp_path / ("v.txt.gz" if packed else "v.txt")
    path.write_bytes(gzip.compress(data.encode()) if packed else data.encode())
    found = load_vectors(path)
    assert found.index_to_key == words and found[words[0]][0] == 1 and found[words[1]][0] == 0


def test_the_binary_form_is_read(tmp_path):
    vectors(rome=(1, 0), oslo=(0, 1)).save_word2vec_format(tmp_path / "v.bin", binary=True)
    assert load_vectors(tmp_path / "v.bin")["oslo"].tolist() == [0, 1]


def test_pickles_other_files_and_missing_ones_are_refused(tmp_path):
    vectors(rome=(1, 0)).save(str(tmp_path / "v.kv"))
    with pytest.raises(UserError, match="are pickles and are not loaded"):
        load_vectors(tmp_path / "v.kv")
    (tmp_path / "v.txt").write_text("this is\nno vector file at all\n")
    with pytest.raises(UserError, match="v.txt: not word vectors"):
        load_vectors(tmp_path / "v.txt")
    with pytest.raises(UserError, match="no such file"):
        load_vectors(tmp_path / "missing.txt")


def test_vectors_of_an_encoder_are_the_means_of_piece_embeddings(tiny_encoder):
    from transformers import AutoModel, AutoTokenizer

    made = derive_vectors(
        tiny_encoder, [sentence("Tim leads Apple in Cupertino ."), sentence("tim cooks")]
    )
    assert made.index_to_key == ["tim", "leads", "apple", "in", "cupertino", "cooks"]
    pieces = AutoTokenizer.from_pretrained(tiny_encoder)("cupertino", add_special_tokens=False)[
        "input_ids"
    ]
    table = AutoModel.from_pretrained(tiny_encoder).get_input_embeddings().weight.detach().numpy()
    assert len(pieces) == 3
    np.testing.assert_allclose(made["cupertino"], table[pieces].mean(0), rtol=1e-5, atol=1e-7)


def test_deriving_needs_words_and_an_encoder(tiny_encoder, tmp_path):
    with pytest.raises(UserError, match="no words to derive"):
        derive_vectors(tiny_encoder, [sentence("... --")])
    with pytest.raises(UserError, match="expected the folder of an encoder"):
        derive_vectors(tmp_path, [sentence("rome")])
