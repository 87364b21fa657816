"""Corrected scores from a judged sample: hand-made numbers, files for people."""

import json
from dataclasses import replace
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


def item(number):
    return Item(str(number), "s", "r", "o")


def test_bounds_are_those_of_the_shares_and_unsure_items_widen_them():
    own = frozenset(map(item, [*range(8), 20, 21, 22, 23]))  # eight agreed, four added
    found = Disagreements(frozenset(map(item, range(12))), {"a": own, "b": frozenset(map(item, range(12)))}, {})
    labels = {item(8): "no", item(9): "yes", item(20): "yes", item(21): "no", item(22): "unsure"}
    one, other = corrected(found, labels, 0)[0], corrected(found, {**labels, item(22): "yes"}, 0)[0]
    assert (one.precision, one.recall) == (8 / 12, 8 / 12)
    assert one.judged == {"missed": (1, 1, 0), "added": (1, 1, 1)}
    assert one.corrected_precision[:2] == pytest.approx([(8 + 4 / 3) / 12, (8 + 8 / 3) / 12])
    right = 8 + 4 / 3  # of four missed gold triples two are right; the other system adds none
    assert one.corrected_recall.least == pytest.approx(right / (right + 2))
    # quantiles of the shares: Beta(1.5, 2.5) has 2.5 % below 0.0387, and Beta(2.5, 1.5) as much above 0.9613
    shares = (8 + 4 * 0.0387) / 12, (8 + 4 * 0.9613) / 12
    assert one.corrected_precision[2:] == pytest.approx(shares, abs=0.003)
    judged = {item(8): "no", item(9): "yes", item(10): "unsure"}  # a missed triple that is right hurts
    alone = corrected(replace(found, systems={"a": frozenset(map(item, range(8)))}), judged, 0)[0]
    missed = (4 * 2 / 3, 4 / 3, 4 * 0.9613, 4 * 0.0387)
    assert alone.corrected_recall == pytest.approx([8 / (8 + each) for each in missed], abs=0.003)
    both = {"a": frozenset(map(item, range(8))), "b": own}  # of four triples that only the other adds two are right
    rest = corrected(replace(found, systems=both), {**labels, item(22): "no", item(23): "yes"}, 0)[0]
    assert rest.corrected_recall[:2] == pytest.approx((8 / 12, 8 / 12))
    assert other.corrected_precision.least == pytest.approx(one.corrected_precision.most)
    with pytest.raises(UserError, match="'7'.* do not disagree on it"):
        corrected(found, {item(7): "no"}, 0)
    with pytest.raises(UserError, match="a: none of its 4 triples of the kind 'added' was judged"):
        corrected(found, {item(8): "no"}, 0)


def test_a_sample_comes_back_from_people(tmp_path):
    own = frozenset(map(item, range(5, 20)))
    found = Disagreements(frozenset(map(item, range(10))), {"a": own}, {str(n): f"text {n}" for n in range(20)})
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
