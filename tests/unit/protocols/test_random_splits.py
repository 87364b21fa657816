"""Unseen triples of random splits, compared with a count over all splits."""

import itertools
import json
import random

import numpy as np
import pytest

from support.published import webnlg
from support.webnlg import sentence
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.store import save_sentences
from tripleaudit.protocols import random_splits as drawn
from tripleaudit.protocols.types import UNSEEN, SeenTriples, distinct_triples


def corpus(size, seed=0):
    chance = random.Random(seed)

    def triple():
        return f"s{chance.randrange(12)}", f"r{chance.randrange(3)}", f"o{chance.randrange(12)}"

    return [sentence("t", *(triple() for _ in range(n % 4)), id_=str(n)) for n in range(size)]


def test_random_splits_are_like_all_splits_of_these_sizes():
    """Of nine sentences there are 252 splits with two for testing and one for validation."""
    sentences = corpus(9)
    shares = []
    for test in itertools.combinations(sentences, 2):
        rest = [sentence for sentence in sentences if sentence not in test]
        for valid in rest:
            seen = SeenTriples([sentence for sentence in rest if sentence is not valid])
            kinds = [seen.type_of(triple) for each in test for triple in distinct_triples(each)]
            shares.append(kinds.count(UNSEEN) / max(1, len(kinds)))
    found = drawn.random_splits(sentences[:6], sentences[6:7], sentences[7:], 8192)
    assert (found.mean, found.most) == (pytest.approx(np.mean(shares), abs=0.015), max(shares))
    assert found.quantiles == pytest.approx(np.quantile(shares, (0.025, 0.5, 0.975)), abs=0.06)


def test_same_seed_same_numbers_and_sets_without_triples_are_refused():
    sets = corpus(50)[:30], corpus(50)[30:35], corpus(50)[35:]
    assert drawn.random_splits(*sets, 100, seed=1) == drawn.random_splits(*sets, 100, seed=1)
    assert drawn.random_splits(*sets, 100, seed=1) != drawn.random_splits(*sets, 100, seed=2)
    with pytest.raises(
        UserError, match="random splits: expected training and test sentences, and triples"
    ):
        drawn.random_splits([], [], corpus(5), 10)


def test_random_splits_of_webnlg_have_few_unseen_triples_where_the_rearranged_one_has_many(
    tmp_path, capsys
):
    files = {split: tmp_path / f"{split}.jsonl" for split in ("train", "valid", "test")}
    for split, path in files.items():
        save_sentences(path, getattr(webnlg().rearranged, split))
    command = ["audit", *map(str, (files["train"], files["test"], "--valid", files["valid"]))]
    assert main([*command, "--random-splits", "1024", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["random_splits"]["trials"] == 1024
    assert 0.015 < value["random_splits"]["mean"] < 0.02 < value["random_splits"]["most"] < 0.045
    assert value["triple_types"]["unseen"]["share"] == pytest.approx(0.2033, abs=1e-4)
    assert main([*command, "--random-splits", "64"]) == 0
    assert "Random splits of the same sizes (64 trials)" in capsys.readouterr().out
