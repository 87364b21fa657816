"""Tokens and sentence ends, on cases where tokenizers differ."""

import json

from tripleaudit.grescores.aggregate import mean_tokens
from tripleaudit.grescores.tokens import STOP_WORDS, sentences, tokens


def test_sentences_keep_closing_brackets():
    assert sentences("He left (on foot.) She stayed.") == ["He left (on foot.)", "She stayed."]


def test_long_texts_without_blanks_take_linear_time():
    assert len(tokens("a." * 50_000 + '")' * 1000)) > 0


def test_tokens_of_triples():
    assert (
        mean_tokens(
            [("Peter Munk", "founder of", "Barrick Gold"), ("Peter Munk", 3, "Barrick Gold")]
        )
        == 3
    )
    assert mean_tokens([("a b", "c", "d"), ("a", "b", None)]) == 2
    assert mean_tokens([]) is None


def test_vocabulary_of_the_published_topic_models(real_data):
    """CDR's dictionary comes out word for word in size; the others take longer and are in
    docs/reference/grescores.md.
    """
    texts = json.loads(
        (real_data / "genres" / "lda_text" / "cdr_all_text.json").read_text(encoding="utf-8")
    )
    words = {
        word for text in texts for word in tokens(text) if word.isalnum() and word not in STOP_WORDS
    }
    assert len(words) == 16_144
