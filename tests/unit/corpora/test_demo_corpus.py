"""The shipped demo corpus: it is what the generator makes, and it has the properties that its README promises."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from generator import FILES, OUTSIDE, RELATIONS, SCHEMA, SEED, Shape, World, generate
from support.workflow import ran
from tripleaudit.corpora.store import load_sentences
from tripleaudit.files import read_json, sha256
from tripleaudit.plan.study import Study
from tripleaudit.protocols.strata import audit_corpus
from tripleaudit.shipped import DATA
from tripleaudit.systems.facts import made_of

SMALL = Shape(train=60, valid=20, test=120, train_zero=40, valid_zero=10, test_zero=10, held_out=(20, 20))


@pytest.fixture(scope="module")
def folder(root) -> Path:
    return root / "resources" / "demo"


@pytest.fixture(scope="module")
def shipped(folder):
    return {part: load_sentences(folder / f"{part}.jsonl") for part in FILES}


@pytest.fixture(scope="module")
def world():
    return World(SEED)


def test_shipped_files_are_what_the_program_makes(folder, tmp_path, world):
    command = [sys.executable, "-m", "generator", "--out", tmp_path, "--new-facts", tmp_path / "new_facts.jsonl"]
    subprocess.run(command, cwd=folder.parent, check=True, stdout=subprocess.DEVNULL)
    for part in FILES:
        name = f"{part}.jsonl"
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name
    assert (tmp_path / "new_facts.jsonl").read_bytes() == (DATA / "new_facts.jsonl").read_bytes()
    new = load_sentences(DATA / "new_facts.jsonl")
    assert not {triple.subject.text for sentence in new for triple in sentence.triples} & set(world.entities)


def test_another_seed_is_another_world():
    mine, same, other = generate(1, SMALL), generate(1, SMALL), generate(2, SMALL)
    assert mine == same
    assert not {sentence.text for sentence in mine["train"]} & {sentence.text for sentence in other["train"]}


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
    texts = Counter(sentence.text for part in FILES if part != "test_augmented" for sentence in shipped[part])
    assert texts.most_common(1)[0][1] == 1
    leftovers = re.compile(r"[{}|\[\]<>\ue000-\uf8ff]|\s\s|\s[,.;)]|,,|\.\.|[a-z]\(|\b(the|a) the\b")
    assert not [each for each in everything if leftovers.search(each.text) or each.text[-1] != "."]


def test_sentences_are_short_and_hold_one_to_three_triples(shipped):
    lengths = [len(sentence.text.split()) for part in ("train", "valid", "test") for sentence in shipped[part]]
    assert 12 <= sum(lengths) / len(lengths) <= 25
    cardinality = Counter(len(sentence.triples) for sentence in shipped["train"])
    assert set(cardinality) == {1, 2, 3} and min(cardinality.values()) >= 30
    assert not any(sentence.triples for part in FILES if part.endswith("_zero") for sentence in shipped[part])


def test_each_stratum_is_large_enough_for_an_f1(shipped):
    report = audit_corpus(shipped["train"], shipped["test"])
    types, strata = report["triple_types"], report["strata"]
    for name, least, most in (("entirely_seen", 0.6, 0.67), ("partially_seen", 0.17, 0.23), ("unseen", 0.14, 0.2)):
        assert least <= types[name]["share"] <= most
    assert min(strata[name]["count"] for name in ("partially_seen", "unseen")) >= 90


def test_each_test_sentence_is_there_four_times_about_other_names(shipped, world):
    trained = {name for row in shipped["train"] for triple in row.triples for name in triple.strings[::2]}
    by_id = {row.id: row for row in shipped["test_augmented"]}
    assert list(by_id) == [f"{row.id}.{variant}" for row in shipped["test"] for variant in ("ss", "su", "us", "uu")]
    for row in shipped["test"]:
        for variant in ("ss", "su", "us", "uu"):
            renamed = by_id[f"{row.id}.{variant}"]
            assert [triple.relation for triple in renamed.triples] == [triple.relation for triple in row.triples]
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


def test_every_relation_is_trained_and_no_other_appears(shipped):
    trained = Counter(triple.relation for sentence in shipped["train"] for triple in sentence.triples)
    assert set(trained) == set(SCHEMA)
    assert min(trained.values()) >= 60
    tested = {triple.relation for sentence in shipped["test"] for triple in sentence.triples}
    assert tested <= set(trained)


def test_facts_follow_a_steep_distribution(shipped):
    counts = Counter(triple.strings for sentence in shipped["train"] for triple in sentence.triples)
    ranked = sorted(counts.values(), reverse=True)
    top = sum(ranked[: len(ranked) // 10]) / sum(ranked)
    assert 0.35 <= top <= 0.6
    assert sum(count <= 2 for count in ranked) / len(ranked) > 0.4  # the long tail


def test_overlap_of_every_kind(shipped):
    """Shared single entities, two relations of one pair, and arguments nested in one another."""
    single, pair, nested = 0, 0, 0
    for sentence in shipped["train"]:
        names = [{triple.subject.text, triple.object.text} for triple in sentence.triples]
        pairs = [(one, two) for index, one in enumerate(names) for two in names[:index]]
        single += any(len(one & two) == 1 for one, two in pairs)
        pair += any(one == two for one, two in pairs)
        spans = {(span.start, span.end) for triple in sentence.triples for span in (triple.subject, triple.object)}
        nested += any(a != b and a[0] <= b[0] and b[1] <= a[1] for a in spans for b in spans)
    total = len(shipped["train"])
    assert single / total > 0.3
    assert pair / total > 0.05
    assert nested


def test_several_triples_of_a_sentence_stay_together(shipped):
    for part in ("train", "valid", "test"):
        for sentence in shipped[part]:
            names = [{triple.subject.text, triple.object.text} for triple in sentence.triples]
            reached = names.pop()
            while joined := [one for one in names if one & reached]:
                for one in joined:
                    reached |= one
                    names.remove(one)
            assert not names, sentence


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


def test_zero_triple_sentences_hold_hard_ones(shipped, world):
    """Many name the two arguments of a fact, or of a possible one, without stating it."""
    names = sorted((name for name, e in world.entities.items() if e.kind not in ("YEAR", "NUMBER")), key=len)
    pattern = re.compile(r"(?<!\w)(" + "|".join(re.escape(name) for name in reversed(names)) + r")(?!\w)")
    related = {frozenset((fact.subject, fact.object)) for fact in world.facts}
    for part in ("train_zero", "test_zero"):
        found = [set(pattern.findall(sentence.text)) for sentence in shipped[part]]
        two = sum(len(one) >= 2 for one in found) / len(found)
        true_pair = sum(len(one) == 2 and frozenset(one) in related for one in found) / len(found)
        none = sum(not one for one in found) / len(found)
        assert 0.6 < two < 0.8
        assert true_pair > 0.12
        assert none > 0.05
        texts = " ".join(sentence.text for sentence in shipped[part])
        for sign in ("It is not true that", "whether", "in the same report", "Had it been true"):
            assert sign in texts, sign


def test_three_zero_triple_sentences_in_ten_state_another_relation(shipped, world):
    facts = [fact for fact in world.facts if fact.relation in OUTSIDE]
    rows = shipped["test_zero"]
    names = [sum(fact.subject in row.text and fact.object in row.text for fact in facts) > 0 for row in rows]
    assert 0.25 < sum(names) / len(rows) < 0.5  # some that name the two state nothing


def test_denied_claims_are_false_in_the_world(shipped, world):
    facts = [fact for fact in world.facts if fact.relation == "founder_of"]
    denied = [s.text for s in shipped["train_zero"] if "It is not true" in s.text and "founded" in s.text]
    assert denied
    assert not [text for text in denied for fact in facts if fact.subject in text and fact.object in text]


def test_wordings_are_shared_by_train_and_test(shipped):
    """The same patterns with other entities: a test sentence without its names mostly has a training twin."""

    def skeleton(sentence):
        spans = sorted(
            {span for triple in sentence.triples for span in (triple.subject, triple.object)}, key=lambda s: -s.start
        )
        text = sentence.text
        for span in spans:
            text = text[: span.start] + "*" + text[span.end :]
        return re.sub(r"\b\d+\b|\b(January|February|March|April|May|June|July|August|September|October|November|"
                      r"December)\b", "#", text)  # fmt: skip

    trained = {skeleton(sentence) for sentence in shipped["train"] if len(sentence.triples) == 1}
    tested = [skeleton(sentence) for sentence in shipped["test"] if len(sentence.triples) == 1]
    assert sum(text in trained for text in tested) / len(tested) > 0.4


@pytest.mark.slow
def test_the_doubled_trainings_that_ship_are_those_of_the_demo(root, folder, tmp_path, minilm):
    """A setting that is said in other words would make every one of them count for nothing."""
    config = root / "config" / "config.yaml"
    study = Study.read(config)
    sets = Path("results", "demo", "protocols", "demo", "original")
    wanted = [str(sets / setting / f"{split}.jsonl") for setting in ("nz", "wz") for split in ("train", "valid")]
    ran(tmp_path, "--", *wanted, config=config)
    shipped = {fact["made_of"] for fact in read_json(folder / "trainings.json") if fact["doubled"]}
    for run in (*study.runs, *study.classifier_runs):
        files = {split: tmp_path / sets / run.setting / f"{split}.jsonl" for split in ("train", "valid")}
        inputs = {role: {"sha256": sha256(path)} for role, path in files.items()}
        inputs["encoder"] = {"sha256": sha256(minilm / "model.safetensors")}
        settings = json.loads(study.trainings.training_json(run.corpus, run.extractor, run.noise, run.trainset))
        assert made_of({"extractor": run.extractor, "inputs": inputs, "settings": settings}) in shipped, run
