"""The functions of Python: the same scores from every form of input, what they refuse, what they
import.
"""

import json
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

import tripleaudit as ta
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus

NAMES = ("Ada Lund", "Ben Ode", "Cleo Ray", "Dan Moss", "Eva Hill", "Finn Roy")
GOLD = [
    *({"text": f"{name} works for Harrow {n}", "triples": [[name, "works for", f"Harrow {n}"]]}
      for n, name in enumerate(NAMES * 2)),
    {"text": "It rained in Oslo", "triples": []},
]  # fmt: skip
GUESS = [
    {**row, "triples": row["triples"] if n % 3 else [["Oslo", "works for", "x"]]}
    for n, row in enumerate(GOLD)
]


def written(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def one_triple_a_row(rows: list[dict]) -> pandas.DataFrame:
    parts = [
        (row["text"], *triple) for row in rows for triple in row["triples"] or [(float("nan"),) * 3]
    ]
    return pandas.DataFrame(parts, columns=["text", "subject", "relation", "object"])


FORMS = {
    "rows": lambda rows, path: rows,
    "path": lambda rows, path: written(path, rows),
    "frame": lambda rows, path: pandas.DataFrame(rows),
    "frame of triples": lambda rows, path: one_triple_a_row(rows),
    "lists": lambda rows, path: [[tuple(triple) for triple in row["triples"]] for row in rows],
    "sentences": lambda rows, path: read_corpus(written(path, rows)).sentences,
}


def test_one_further_score_may_be_given_without_a_list():
    expected = ta.score(GOLD, GUESS, by=["overlap"], bootstrap=0)
    assert ta.score(GOLD, GUESS, by="overlap", bootstrap=0).overlap == expected.overlap != {}


def test_every_form_of_input_scores_as_the_command_does(tmp_path, capsys, caplog):
    files = [
        str(written(tmp_path / f"{name}.jsonl", rows))
        for name, rows in (("gold", GOLD), ("guess", GUESS))
    ]
    options = ["--train", files[0], "--matching", "exact-span", "--bootstrap", "50"]
    assert main(["score", *files, *options, "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    assert expected["micro"]["correct"] == 8 and expected["micro"]["predicted"] == 13
    for form, write in FORMS.items():
        right, guess, seen = (
            write(rows, tmp_path / f"side{n}") for n, rows in enumerate((GOLD, GUESS, GOLD))
        )
        for gold, predictions in (
            (right, guess),
            (GOLD, guess),
            *([(right, GUESS)] if form != "lists" else []),
        ):
            result = ta.score(gold, predictions, train=seen, matching="exact-span", bootstrap=50)
            assert json.loads(json.dumps(result.to_json())) == expected, form
    assert result.f1 == expected["micro"]["f1"] and result.strata["entirely_seen"].gold == 12
    assert not caplog.records, "neither a list of triples nor a row without a triple lacks anything"
    rows = result.to_frame().set_index(["part", "name"])
    assert rows.loc[("all", "all"), "f1"] == result.f1
    assert rows.loc[("strata", "unseen")].isna()["f1"]


def test_audit_check_and_compare_are_what_their_commands_print(tmp_path, capsys):
    train, test = (
        str(written(tmp_path / f"{name}.jsonl", rows))
        for name, rows in (("train", GUESS), ("test", GOLD))
    )
    fast = {"bootstrap": 50, "shuffles": 50}
    for command, result, of_rows in (
        (["audit", train, test], ta.audit(train, test), ta.audit(GUESS, pandas.DataFrame(GOLD))),
        (["check", train, test], ta.check(test, train), ta.check(train=GUESS, test=GOLD)),
        (
            ["compare", train, test, test, "--bootstrap", "50", "--shuffles", "50"],
            ta.compare(train, test, test, **fast),
            ta.compare(GUESS, FORMS["lists"](GOLD, None), GOLD, **fast),
        ),
    ):
        assert main([*command, "--json"]) == 0
        expected = json.loads(capsys.readouterr().out)
        assert json.loads(json.dumps(result.to_json())) == expected
        assert main(command) == 0
        assert str(result) + "\n" == capsys.readouterr().out
        assert len(of_rows.to_frame()) == len(result.to_frame())
        assert "<table" in result._repr_html_()


def test_shares_and_differences_are_attributes():
    audited = ta.audit(GUESS, GOLD)
    assert audited.missing_entities == 0
    assert (audited.triple_types["entirely_seen"].count, audited.train["sentences"]) == (8, 13)
    changed = ta.compare(GUESS, GOLD, GOLD, bootstrap=50, shuffles=50)
    assert changed.difference.change("f1") == 1 - ta.score(GOLD, GUESS).f1
    assert ta.check(train=GOLD, test=GOLD).leakage[0]["sentences"]["equal"] == 13


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ta.score(GOLD, []), "predictions: [] is no corpus; expected a path, a data frame"),
        (lambda: ta.score(None, GOLD), "gold: null is no corpus"),
        (
            lambda: ta.score([("a", "r", "b")], [[]]),
            'gold item 1: "a" is no triple; expected for each sentence',
        ),
        (
            lambda: ta.score(GOLD, [[], []]),
            "predictions: lists of triples for 2 sentences, but the gold has 13",
        ),
        (
            lambda: ta.score([{"sentense": "x", "triples": []}], [[]]),
            "gold item 1: nothing is known to be the text",
        ),
        (lambda: ta.score(GOLD, GOLD, matching="soft"), "unknown matching rule 'soft'"),
        (lambda: ta.audit([[]], GOLD), "train: lists of triples have no texts"),
        (lambda: ta.check(), "no corpus is given"),
        (
            lambda: ta.check(pandas.DataFrame(GOLD)),
            "a DataFrame is no path; expected the name of its split",
        ),
        (
            lambda: ta.check("train.jsonl", train=GOLD),
            "train: train.jsonl is the train set already",
        ),
        (lambda: ta.compare(GOLD, GOLD), "first: has no gold triples"),
        (lambda: ta.score("gone.json", GOLD), "gone.json: no such file"),
    ],
)
def test_what_is_wrong_is_one_sentence(call, message):
    with pytest.raises(UserError) as error:
        call()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_importing_is_light_and_what_it_has_needs_no_torch(tmp_path):
    path = str(written(tmp_path / "gold.jsonl", GOLD))
    code = (
        "import sys, tripleaudit as ta\n"
        "at_once = {name for name in sys.modules if name.startswith('tripleaudit.')}\n"
        "assert at_once <= {'tripleaudit.core', 'tripleaudit.core.version'}, at_once\n"
        "sys.modules.update(dict.fromkeys(['torch', 'transformers', 'datasets', 'pandas', 'snakemake']))\n"
        "sides = [[('a', 'r', 'b')], []], [[('a', 'r', 'b')], [('c', 'r', 'd')]]\n"
        "assert ta.score(*sides).f1 == 2 / 3 and '66.67' in ta.score(*sides)._repr_html_()\n"
        "from tripleaudit.cli import main\n"
        f"assert [main([name, {path!r}, {path!r}]) for name in ('audit', 'score')] == [0, 0]\n"
        "names = {'score', 'audit', 'check', 'claims', 'compare', 'which', 'load', 'export'}\n"
        "assert set(ta.__all__) == names and callable(ta.which)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1500:]


def test_a_notebook_completes_names_of_results_alone():
    result = ta.score([[("a", "r", "b")]], [[("a", "r", "b")]])
    names = dir(result)
    assert {"f1", "micro", "relations", "to_frame", "to_json"} <= set(names)
    assert not [
        name
        for name in names
        if name.startswith(("model_", "_")) or "forward" in name or name == "copy"
    ]
