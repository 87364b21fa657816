"""The augmented set from real sentences, a real encoder and real word vectors; small, because models are slow here."""

from collections import Counter

import pytest

from support.augmented_files import published_outcomes
from support.webnlg import read_triple_list
from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel
from tripleaudit.protocols.augmented.replaced import augment, wants_seen
from tripleaudit.protocols.augmented.train_mlm import train_masked_lm
from tripleaudit.protocols.augmented.vectors import NearestWords, derive_vectors, load_vectors
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.protocols.variants import PARTS


@pytest.fixture(scope="module")
def webnlg(real_data):
    train, test = (read_triple_list(real_data / "webnlg" / f"{name}_triples.json") for name in ("train", "test"))
    return Splits(train, [], test[::20])


@pytest.fixture(scope="module")
def model(webnlg, minilm, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlm")
    train_masked_lm(minilm, webnlg.train[:400], folder, steps=3, layers=1)
    return folder


@pytest.mark.parametrize("kind", ["glove", "encoder"])
def test_augmented_webnlg_keeps_its_promises(webnlg, model, minilm, real_data, kind):
    if kind == "glove":
        known_vectors = load_vectors(real_data / "glove" / "glove.6B.100d.subset8000.txt")
    else:
        known_vectors = derive_vectors(minilm, webnlg.train[:1000] + webnlg.test)
    filler = MaskedLanguageModel(model)
    new, report = augment(webnlg, filler, NearestWords(known_vectors), k=10, beams=1, fallback="text")
    assert len(new.test) == 4 * len(webnlg.test)
    known = SeenTriples(webnlg.train).entities
    changed = dict.fromkeys(PARTS, 0)
    for place, row in enumerate(new.test):
        part, old = PARTS[place // len(webnlg.test)], webnlg.test[place % len(webnlg.test)]
        assert not list(row.problems())
        assert len({triple.strings for triple in row.triples}) == len({triple.strings for triple in old.triples})
        subjects, objects = ({getattr(t, role).text for t in old.triples} for role in ("subject", "object"))
        for before, after in zip(old.triples, row.triples, strict=True):
            for one, other in ((before.subject, after.subject), (before.object, after.object)):
                if one.text != other.text:
                    changed[part] += 1
                    assert (other.text in known) == wants_seen(part, one.text in subjects, one.text in objects)
    assert changed["uu"] > changed["su"] > changed["ss"] > 0
    assert report["candidates"]["masked_words"] > report["candidates"]["masked_word"] > 0


def test_the_published_files_do_what_the_defaults_follow(real_data):
    known = SeenTriples(read_triple_list(real_data / "webnlg" / "train_triples.json")).entities
    found = published_outcomes(real_data, known)

    def count(**wanted):
        total = Counter()
        for key, number in found.items():
            if all(
                dict(zip(("part", "way", "role"), key, strict=False))[name] == value for name, value in wanted.items()
            ):
                total[key[3]] += number
        return [total[kind] for kind in ("same", "seen", "unseen")]

    # An entity that is subject and object becomes unseen in su and us alike, not seen as the text says.
    assert [count(part=part, role="so") for part in PARTS] == [[199, 94, 14], [0, 2, 305], [1, 28, 278], [0, 1, 306]]
    # A word of several pieces never stays where a seen one is asked for, others do.
    assert count(part="ss", way="vectors") == [4, 180, 123]
    assert count(part="ss", way="masked_word") == [95, 425, 6]
    assert count(part="ss", way="masked_words") == [1267, 21, 2]
    assert sum(found.values()) == 4 * 2123
