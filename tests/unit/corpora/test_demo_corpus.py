"""The shipped demo corpus: it is what the generator makes, and it has the properties that its
README promises.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from generator import FILES, RELATIONS, SEED, Shape, World, generate
from tripleaudit.corpora.store import load_sentences
from tripleaudit.protocols.strata import audit_corpus

SMALL = Shape(
    train=60, valid=20, test=120, train_zero=40, valid_zero=10, test_zero=10, held_out=(20, 20)
)


@pytest.fixture(scope="module")
def folder(root) -> Path:
    return root / "resources" / "demo"


@pytest.fixture(scope="module")
def shipped(folder):
    return {part: load_sentences(folder / f"{part}.jsonl") for part in FILES}


@pytest.fixture(scope="module")
def world():
    return World(SEED)


def test_shipped_files_are_what_the_program_makes(folder, tmp_path):
    command = [sys.executable, "-m", "generator", "--out", tmp_path]
    subprocess.run(command, cwd=folder.parent, check=True, stdout=subprocess.DEVNULL)
    for part in FILES:
        name = f"{part}.jsonl"
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_another_seed_is_another_world():
    mine, same, other = generate(1, SMALL), generate(1, SMALL), generate(2, SMALL)
    assert mine == same
    assert not {sentence.text for sentence in mine["train"]} & {
        sentence.text for sentence in other["train"]
    }


def test_sizes_are_those_of_the_readme(shipped, folder):
    counts = {part: len(sentences) for part, sentences in shipped.items()}
    assert counts == {
        "train": 1200, "valid": 200, "test": 500, "train_zero": 1200, "valid_zero": 200, "test_zero": 500,
        "test_augmented": 2000,
    }  # fmt: skip
    sizes = [(folder / f"{part}.jsonl").stat().st_size for part in FILES]
    assert max(sizes) < 0.7e6 and sum(sizes) < 1.6e6
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for part, sentences in shipped.items():
        triples = sum(len(sentence.triples) for sentence in sentences)
        assert f"| `{part}.jsonl` | {len(sentences)} | {triples} |" in readme
    types = audit_corpus(shipped["train"], shipped["test"])["triple_types"]
    for name in ("entirely_seen", "partially_seen", "unseen"):
        assert f"{types[name]['count']} ({100 * types[name]['share']:.2f} %)" in readme


def test_texts_are_finished_english_once_each_with_exact_spans_and_ids_of_their_own(shipped):
    everything = [sentence for sentences in shipped.values() for sentence in sentences]
    assert not [problem for sentence in everything for problem in sentence.problems()]
    assert all(triple.located for sentence in everything for triple in sentence.triples)
    assert len({sentence.id for sentence in everything}) == len(everything)
    texts = Counter(
        sentence.text for part in FILES if part != "test_augmented" for sentence in shipped[part]
    )
    assert texts.most_common(1)[0][1] == 1
    leftovers = re.compile(
        r"[{}|\[\]<>\ue000-\uf8ff]|\s\s|\s[,.;)]|,,|\.\.|[a-z]\(|\b(the|a) the\b"
    )
    assert not [each for each in everything if leftovers.search(each.text) or each.text[-1] != "."]


def test_each_test_sentence_is_there_four_times_about_other_names(shipped, world):
    trained = {
        name for row in shipped["train"] for triple in row.triples for name in triple.strings[::2]
    }
    by_id = {row.id: row for row in shipped["test_augmented"]}
    assert list(by_id) == [
        f"{row.id}.{variant}" for row in shipped["test"] for variant in ("ss", "su", "us", "uu")
    ]
    for row in shipped["test"]:
        for variant in ("ss", "su", "us", "uu"):
            renamed = by_id[f"{row.id}.{variant}"]
            assert [triple.relation for triple in renamed.triples] == [
                triple.relation for triple in row.triples
            ]
            for old, new in zip(row.triples, renamed.triples, strict=True):
                assert not {new.subject.text, new.object.text} & {old.subject.text, old.object.text}
                seen = (new.subject.text in trained, new.object.text in trained)
                roles = [
                    {name for triple in row.triples for name in triple.strings[place]}
                    for place in (slice(0, 1), slice(2, 3))
                ]
                nested = old.subject.start <= old.object.start < old.subject.end
                if not nested and not roles[0] & roles[1]:
                    assert seen == (variant[0] == "s", variant[1] == "s")
                kinds = RELATIONS[old.relation].objects
                assert world.kind_of(new.object.text) in (None, *kinds)


def test_world_is_consistent(world):
    for name, rule in RELATIONS.items():
        facts = [fact for fact in world.facts if fact.relation == name]
        assert facts, name
        subjects, objects = [fact.subject for fact in facts], [fact.object for fact in facts]
        if rule.subject_functional:
            assert len(set(subjects)) == len(subjects), name
        if rule.object_functional:
            assert len(set(objects)) == len(objects), name
        if rule.symmetric:
            assert not set(subjects) & set(objects), name
        assert {world.kind_of(subject) for subject in subjects} <= set(rule.subjects), name
        assert {world.kind_of(object_) for object_ in objects} <= set(rule.objects), name
    assert len(set(world.facts)) == len(world.facts)
    owner = {fact.subject: fact.object for fact in world.facts if fact.relation == "acquired_by"}
    for company in owner:
        seen = {company}
        while company in owner:
            company = owner[company]
            assert company not in seen
            seen.add(company)


def test_all_triples_are_facts_of_the_world(shipped, world):
    facts = {tuple(fact) for fact in world.facts}
    assert all(
        triple.strings in facts
        for part in ("train", "valid", "test")
        for sentence in shipped[part]
        for triple in sentence.triples
    )
