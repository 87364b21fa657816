"""Tokens and sentence ends, on cases where tokenizers differ."""

import json

import pytest

from tripleaudit.grescores.aggregate import mean_tokens
from tripleaudit.grescores.tokens import STOP_WORDS, sentences, tokens


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Barrick Gold", ["Barrick", "Gold"]),
        ("isn't he's cannot", ["is", "n't", "he", "'s", "can", "not"]),
        ("U.S. Army", ["U.S.", "Army"]),
        ("in the U.S.", ["in", "the", "U.S", "."]),
        ("Gov. Spitzer", ["Gov", ".", "Spitzer"]),
        ("Mr. Spitzer", ["Mr.", "Spitzer"]),
        ("J. Smith", ["J.", "Smith"]),
        ("No. 1", ["No", ".", "1"]),
        ("Dr. No", ["Dr.", "No"]),
        ("(i.v.) injection", ["(", "i.v", ".", ")", "injection"]),
        ("3,000 people: 5,3", ["3,000", "people", ":", "5,3"]),
        ("at 5% for $3.88", ["at", "5", "%", "for", "$", "3.88"]),
        ('a "b" c', ["a", "``", "b", "''", "c"]),
        ("1999–2000", ["1999–2000"]),
        ("'tis a 'quoted' word", ["'t", "is", "a", "'quoted", "'", "word"]),
        ("wait ... what--now", ["wait", "...", "what", "--", "now"]),
        ("Yahoo! won. He lost", ["Yahoo", "!", "won", ".", "He", "lost"]),
        ("", []),
        ("   ", []),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


def test_sentences_keep_closing_brackets():
    assert sentences("He left (on foot.) She stayed.") == ["He left (on foot.)", "She stayed."]


def test_odd_texts_are_cut_as_the_kept_text_says(root, kept):
    lines = (root / "tests" / "data" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    kept("tokens.txt", "".join(f"{' '.join(tokens(each))}\n" for line in lines for each in sentences(line)))


def test_long_texts_without_blanks_take_linear_time():
    assert len(tokens("a." * 50_000 + '")' * 1000)) > 0


def test_tokens_of_triples():
    assert mean_tokens([("Peter Munk", "founder of", "Barrick Gold"), ("Peter Munk", 3, "Barrick Gold")]) == 3
    assert mean_tokens([("a b", "c", "d"), ("a", "b", None)]) == 2
    assert mean_tokens([]) is None


def test_vocabulary_of_the_published_topic_models(real_data):
    """CDR's dictionary comes out word for word in size; the others take longer and are in docs/grescores.md."""
    texts = json.loads((real_data / "genres" / "lda_text" / "cdr_all_text.json").read_text(encoding="utf-8"))
    words = {word for text in texts for word in tokens(text) if word.isalnum() and word not in STOP_WORDS}
    assert len(words) == 16_144
