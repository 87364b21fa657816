"""The table ``clue-words``: counts over seeds, shares, and its answer."""

import json

from tripleaudit.tables.building import build_table
from tripleaudit.tables.loading import load_inputs


def curve(folder, name, passed, rejected=None):
    path = folder / f"{name}.json"
    keys = {"corpus": "demo", "extractor": "zcc-binary"}
    path.write_text(json.dumps({"keys": keys, "clues": {"passed": passed, "rejected": rejected or {}}}))
    return path


def test_seeds_are_counted_together_and_names_distinguished_from_other_words(tmp_path):
    files = [
        curve(tmp_path, "1", {"born": [20, 19, 0], "harrow": [10, 5, 10]}, {"weather": [4, 1, 0]}),
        curve(tmp_path, "2", {"born": [10, 9, 0]}),
    ]
    table = build_table("clue-words", load_inputs(files={"curves": files}))
    groups = {row.group for row in table.rows}
    assert len(groups) == 2
    passed, rejected = sorted(groups)
    assert passed.endswith("accepted") and rejected.endswith("rejected")
    value = lambda row, column, group=passed: table.cell(row, column, group).value  # noqa: E731
    assert (value("“born”", "Sentences"), value("“born”", "Share (%)")) == (30, 75)
    assert value("“born”", "With triples (%)") == 100 * 28 / 30
    assert value("“harrow”", "In a name (%)") == 100 and value("all 2 words", "In a name (%)") == 25
    assert value("“weather”", "With triples (%)", rejected) == 25
    assert "depends most often on “born”, “harrow”; in 75.0 % of 40 accepted sentences" in table.answer


def test_few_sentences_say_what_it_takes(tmp_path):
    table = build_table("clue-words", load_inputs(files={"curves": [curve(tmp_path, "1", {"born": [29, 29, 0]})]}))
    assert "29 sentences with a clue word, too few: it takes 30" in table.answer
