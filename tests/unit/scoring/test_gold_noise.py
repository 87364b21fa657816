"""Corrected scores from a judged sample: hand-made numbers, coverage of the truth, files for people."""

import json
import random
from itertools import zip_longest

import pytest

from support.webnlg import sentence
from tripleaudit.cli import main
from tripleaudit.errors import UserError
from tripleaudit.scoring.gold_noise import (
    Disagreements,
    Item,
    corrected,
    disagreements,
    drawn,
    read_labels,
    write_items,
)


def population(seed, gold_right=0.7, added_right=0.4, size=300):
    """Gold and two systems over a text a triple, and what is true of each triple."""
    chance = random.Random(seed)
    gold, systems, truth = set(), {"a": set(), "b": set()}, {}
    for number in range(size):
        item = Item(str(number), "s", "r", "o")
        kind = chance.choice(["agreed", "missed", "added"])
        truth[item] = chance.random() < {"agreed": 1.0, "missed": gold_right, "added": added_right}[kind]
        if kind != "added":
            gold.add(item)
        for name, skip in (("a", 0.2), ("b", 0.5)):
            if kind == "agreed" or chance.random() > (skip if kind == "added" else 1 - skip):
                systems[name].add(item)
    texts = {str(number): f"text {number}" for number in range(size)}
    frozen = {name: frozenset(each) for name, each in systems.items()}
    return Disagreements(frozenset(gold), frozen, texts), truth


def test_bounds_are_those_of_the_shares_and_unsure_items_widen_them():
    def item(number):
        return Item(str(number), "s", "r", "o")

    own = frozenset(map(item, [*range(8), 20, 21, 22, 23]))  # eight agreed, four added
    found = Disagreements(frozenset(map(item, range(12))), {"a": own, "b": frozenset(map(item, range(12)))}, {})
    labels = {item(8): "no", item(9): "yes", item(20): "yes", item(21): "no", item(22): "unsure"}
    one, other = corrected(found, labels)[0], corrected(found, {**labels, item(22): "yes"})[0]
    assert (one.precision, one.recall) == (8 / 12, 8 / 12)
    assert one.judged == {"missed": (1, 1, 0), "added": (1, 1, 1)}
    assert one.corrected_precision[:2] == pytest.approx([(8 + 4 / 3) / 12, (8 + 8 / 3) / 12])
    right = 8 + 4 / 3  # of four missed gold triples two are right; the other system adds none
    assert one.corrected_recall.least == pytest.approx(right / (right + 2))
    assert one.corrected_precision.low < one.corrected_precision.least < one.corrected_precision.most
    assert other.corrected_precision.least == pytest.approx(one.corrected_precision.most)
    with pytest.raises(UserError, match="'7'.* do not disagree on it"):
        corrected(found, {item(7): "no"})
    with pytest.raises(UserError, match="a: none of its 4 triples of the kind 'added' was judged"):
        corrected(found, {item(8): "no"})


def test_intervals_hold_the_truth_in_about_95_of_100_samples():
    inside, trials = 0, 60
    for seed in range(trials):
        found, truth = population(seed)
        row = corrected(found, {item: "yes" if truth[item] else "no" for item in drawn(found, 40, seed)})[0]
        own, right = found.systems["a"], {item for item, stated in truth.items() if stated}
        known = right & (found.gold | own | found.systems["b"])
        inside += row.corrected_precision.low <= len(own & right) / len(own) <= row.corrected_precision.high
        inside += row.corrected_recall.low <= len(own & right) / len(known) <= row.corrected_recall.high
    assert inside / (2 * trials) >= 0.9
    biased, truth = population(1)
    wrong = dict.fromkeys(drawn(biased, 40, 1), "no")
    stated = [truth[item] for item in biased.systems["a"]]
    assert corrected(biased, wrong)[0].corrected_precision.high < sum(stated) / len(stated)


def test_a_sample_comes_back_from_people(tmp_path):
    found, _ = population(3)
    items = drawn(found, 10, seed=1)
    assert items == drawn(found, 10, seed=1) != drawn(found, 10, seed=2)
    assert sum(item in found.gold for item in items[:4]) == 2  # each beginning is balanced
    path = tmp_path / "a.csv"
    write_items(path, items, found.texts)
    header, *rows = path.read_text().splitlines()
    assert header == "id,text,subject,relation,object,label" and found.texts[items[0].id] in rows[0]
    labels = [" Yes ", "No", "unsure", "", "perhaps"]
    path.write_text("\n".join([header, *map("".join, zip_longest(rows, labels, fillvalue=""))]))
    with pytest.raises(UserError, match="line 6: the label is 'perhaps', expected one of yes, no, unsure"):
        read_labels(path)
    path.write_text(path.read_text().replace("perhaps", ""))
    assert read_labels(path) == (dict(zip(items, ["yes", "no", "unsure"], strict=False)), {"without a label": 7})


def test_gold_and_systems_are_compared_by_strings():
    gold, other = ([sentence("A b c", ("A", "r", name), id_="1")] for name in "bc")
    found = disagreements(gold, {"x": other})
    assert (found.missed, found.added) == ([Item("1", "A", "r", "b")], [Item("1", "A", "r", "c")])
    with pytest.raises(UserError, match="--sample 4: there are 1 gold triples"):
        drawn(found, 4, 0)


def test_the_labels_that_ship_bound_the_best_trainings(root, real_data, capsys):
    trainings = root / "resources" / "trainings" / "webnlg"
    systems = [f"{name}={trainings / name / 'predictions.jsonl.gz'}" for name in ("pfn", "birte", "onerel")]
    labels = root / "resources" / "labels" / "webnlg-disagreements.csv"
    gold = str(real_data / "webnlg" / "test_triples.json")
    assert main(["gold-noise", gold, *systems, "--labels", str(labels), "--json"]) == 0
    text = capsys.readouterr().out
    value = json.loads(text[text.index("{") :])
    assert (value["judged"], value["left_out"]) == (40, {})
    assert [row["system"] for row in value["systems"]] == ["birte", "onerel", "pfn"]
    for row in value["systems"]:
        low, high = row["corrected_precision"][2:]
        assert row["precision"] < low < high < 1  # some of what gold lacks is stated
