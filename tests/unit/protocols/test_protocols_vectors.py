import gzip

import numpy as np
import pytest

from support.filler import vectors
from support.webnlg import sentence
from tripleaudit.errors import UserError
from tripleaudit.protocols.augmented.vectors import NearestWords, derive_vectors, load_vectors
from tripleaudit.protocols.substitution import like, replaceable


def test_neighbours_come_nearest_first_with_the_case_of_the_word():
    nearest = NearestWords(vectors(rome=(1, 0), milan=(1, 0.1), turin=(0.1, 1), ROME=(1, 0.01), **{",": (1, 0)}))
    assert nearest.nearest("Rome", 2) == ["Milan", "Turin"]
    assert nearest.nearest("rome", 1) == ["milan"]
    assert nearest.nearest("Oslo", 3) == []


def test_equally_near_words_keep_the_order_of_the_file():
    nearest = NearestWords(vectors(a=(1, 0), c=(0, 1), b=(0, 1), d=(0, 1)))
    assert nearest.nearest("a", 3) == ["c", "b", "d"]


@pytest.mark.parametrize(
    ("word", "model", "expected"),
    [("oslo", "Rome", "Oslo"), ("oslo", "NASA", "OSLO"), ("oslo", "rome", "oslo"), ("oslo", "A", "Oslo")],
)
def test_case_follows_the_replaced_word(word, model, expected):
    assert like(word, model) == expected


def test_only_words_with_letters_or_digits_are_replaceable():
    assert [word for word in ("Rome", "3", ",", "(", "A.C.", "--") if replaceable(word)] == ["Rome", "3", "A.C."]


@pytest.mark.parametrize("header", ["", "2 3\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_text_forms_with_and_without_header_are_read(tmp_path, header, packed):
    path = tmp_path / ("v.txt.gz" if packed else "v.txt")
    data = f"{header}rome 1 0 0\noslo 0 1 0\n".encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert load_vectors(path)["oslo"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("data", "words"), [("1990 1 0\n7 0 1\n", ["1990", "7"]), ("rome 1\noslo 0\n", ["rome", "oslo"])]
)
def test_a_first_line_is_a_header_if_it_is_two_numbers(tmp_path, data, words):
    (tmp_path / "v.txt").write_text(data)
    assert load_vectors(tmp_path / "v.txt").index_to_key == words


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

    made = derive_vectors(tiny_encoder, [sentence("Tim leads Apple in Cupertino ."), sentence("tim cooks")])
    assert made.index_to_key == ["tim", "leads", "apple", "in", "cupertino", "cooks"]
    pieces = AutoTokenizer.from_pretrained(tiny_encoder)("cupertino", add_special_tokens=False)["input_ids"]
    table = AutoModel.from_pretrained(tiny_encoder).get_input_embeddings().weight.detach().numpy()
    assert len(pieces) == 3
    np.testing.assert_allclose(made["cupertino"], table[pieces].mean(0), rtol=1e-5, atol=1e-7)


def test_deriving_needs_words_and_an_encoder(tiny_encoder, tmp_path):
    with pytest.raises(UserError, match="no words to derive"):
        derive_vectors(tiny_encoder, [sentence("... --")])
    with pytest.raises(UserError, match="expected the folder of an encoder"):
        derive_vectors(tmp_path, [sentence("rome")])
