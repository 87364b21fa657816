"""``tripleaudit compare``: pairs, signs, blocks, changed sentences, forms and refusals."""

import json
import shlex
import shutil
from dataclasses import replace

import pytest

import tripleaudit as ta
from support.docs import sections
from support.scored import keys_of, make_study
from tripleaudit.cli import main
from tripleaudit.core.files import write_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.rows import RunFiles, score_run

FAST = ["--bootstrap", "200", "--shuffles", "300"]


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    return make_study(folder / "one", {"casrel": 0.9}, (1, 2)), make_study(
        folder / "two", {"prgc": 0.5}, (1, 2)
    )


@pytest.fixture
def compared(told):
    return lambda *arguments: told("compare", *arguments, *FAST)


def files(study, extractor, seed=1):
    return study / f"predictions/c/original-nz/{extractor}/none/seed{seed}/test.jsonl"


def test_a_study_and_itself_do_not_differ(studies, compared):
    found = compared(studies[0], studies[0])
    assert len(found["pairs"]) == 2 and not found["only_first"] and not found["runs_left_out"]
    for pair in found["pairs"]:
        assert pair["changed"] == []
        blocks = [
            each
            for block in ("strata", "cardinality", "relations")
            for each in pair[block].values()
        ]
        for one in [pair["all"], *blocks]:
            assert one["p"] == one["p_holm"] == 1 and one["f1"]["difference"] == 0


def test_systems_that_were_queried_about_some_sentences_alone_are_compared_on_these(
    tmp_path, compared
):
    one, two = (
        make_study(tmp_path / name, {"casrel": of}, asked=30)
        for name, of in (("one", 0.9), ("two", 0.5))
    )
    found = compared(one, two)
    assert {pair["all"]["sentences"] for pair in found["pairs"]} == {30}
    assert all(pair["changed"] for pair in found["pairs"])


def test_what_a_training_that_still_rose_reached_is_marked_at_its_value_and_at_its_difference(
    tmp_path, compared, capsys
):
    one, two = (
        make_study(tmp_path / name, {"casrel": of}) for name, of in (("one", 0.9), ("two", 0.5))
    )
    keys = {
        "study": "one",
        "corpus": "c",
        "protocol": "original",
        "training": "nz",
        "extractor": "casrel",
        "seed": 1,
    }
    (one / "trainings.json").write_text(
        json.dumps([{"keys": keys, "convergence": {"flat": False, "slope": 0.02, "error": 0.0}}])
    )
    assert {tuple(pair["marks"].values()) for pair in compared(one, two)["pairs"]} == {("†", "")}
    for options in ([], ["--out", str(tmp_path / "page.md")]):
        assert main(["compare", str(one), str(two), *FAST, *options]) == 0
        text = (tmp_path / "page.md").read_text("utf-8") if options else capsys.readouterr().out
        assert "†: the training was still rising" in text
        (row,) = [line for line in text.splitlines() if "nz wz" in line][:1]
        assert row.count("†") == 4  # A, and the three differences


def test_the_same_predictions_give_the_same_numbers_by_every_way_in(
    studies, tmp_path, compared, told
):
    systems = list(zip(studies, ("casrel", "prgc"), strict=True))
    gold, train = (
        studies[0] / "protocols/c/original" / name for name in ("wz/test.jsonl", "nz/train.jsonl")
    )
    by_files = compared(*(files(*system) for system in systems), gold, "--train", train)["pairs"][0]
    for part in ("predictions", "counts"):
        pairs = compared(
            *(study / part / "c/original-nz" / name / "none/seed1" for study, name in systems)
        )["pairs"]
        (by_folders,) = [pair for pair in pairs if pair["keys"]["testing"] == "wz"]
        for one_way in (
            by_folders,
            by_files,
        ):  # what follows from the names, and from the number of pairs
            one_way["all"].pop("p_holm", None)
        assert {**by_folders, "keys": 0, "seeds": 0} == {**by_files, "keys": 0, "seeds": 0}
    assert by_files["all"]["f1"]["second"] == told("score", gold, files(*systems[1]))["micro"]["f1"]
    # and as stored predictions, which bring their gold triples
    for system in systems:
        rows = [
            {
                "text": g.text,
                "predict": [t.strings for t in p.triples],
                "truth": [t.strings for t in g.triples],
            }
            for g, p in zip(load_sentences(gold), load_sentences(files(*system)), strict=True)
        ]
        (tmp_path / f"{system[1]}.json").write_text(json.dumps(rows))
    alone = compared(tmp_path / "casrel.json", tmp_path / "prgc.json", "--train", train)["pairs"][0]
    alone["all"].pop("p_holm")
    for part in ("all", "strata", "relations"):
        assert alone[part] == by_files[part]


def test_a_gate_of_ci_has_an_exit_code_of_its_own(studies):
    one, two = map(str, studies)
    for pair, points, code in (
        ([one, two], "0", 3),
        ([one, two], "-100", 0),
        ([two, one], "0", 0),
        ([one, one], "0", 0),
    ):
        assert main(["compare", *pair, *FAST, "--fail-below", points]) == code


def test_a_notebook_explains_the_bold_marks_of_several_pairs(studies):
    result = ta.compare(*studies, bootstrap=20, shuffles=20)
    assert len(result.pairs) > 1
    assert "Bold: significant" in result._repr_html_() and "*: significant" in str(result)


def test_pages_hold_what_changed_and_no_markup_of_a_model(tmp_path, capsys):
    text = "x <script>alert(1)</script>"
    evil = Triple(Span(0, 1, "x"), "<b>r|", Span(2, 10, "<script>"))
    save_sentences(tmp_path / "gold.jsonl", [Sentence("1", text, (evil,))])
    save_sentences(tmp_path / "a.jsonl", [Sentence("1", text, (evil,))])
    save_sentences(tmp_path / "b.jsonl", [Sentence("1", text)])
    for ending in ("html", "md", "json"):
        command = [str(tmp_path / f"{name}.jsonl") for name in ("a", "b", "gold")]
        assert main(["compare", *command, *FAST, "--out", str(tmp_path / f"page.{ending}")]) == 0
        assert (
            "1 of 1 sentences changed: 0 for the better, 1 for the worse" in capsys.readouterr().out
        )
    page, lines = ((tmp_path / f"page.{ending}").read_text() for ending in ("html", "md"))
    assert "<script>" not in page + lines and "&lt;script&gt;" in page and "1 for the worse" in page
    assert json.loads((tmp_path / "page.json").read_text())["pairs"][0]["changed"][0]["gold"]


def test_what_does_not_belong_together_is_refused_or_counted(
    studies, tmp_path, compared, refused, capsys
):
    one, two = studies
    gold, half = one / "protocols/c/original/wz/test.jsonl", tmp_path / "half.jsonl"
    save_sentences(half, load_sentences(files(one, "casrel"))[:40])
    other = make_study(tmp_path / "other", {"casrel": 0.5}, sentences=50)
    edited = shutil.copytree(
        two, tmp_path / "edited"
    )  # a study whose predictions were edited after scoring
    save_sentences(files(edited, "prgc"), load_sentences(files(one, "casrel")))
    for message, *arguments in (
        ("40 predictions for the 80 sentences", files(one, "casrel"), half, gold),
        ("add GOLD as third argument", files(one, "casrel"), files(two, "prgc")),
        ("has its own gold", one, two, gold),
        ("no such file", one, tmp_path / "nowhere"),
        ("no scored runs in this folder", one, tmp_path),
        ("expected a file that ends in", one, two, "--out", tmp_path / "page.pdf"),
        ("expected the same test set", one, other),
        ("has changed since", one, edited),
    ):
        capsys.readouterr()
        assert main(["compare", *map(str, arguments), *FAST]) == 1
        lines = capsys.readouterr().err.splitlines()
        assert message in lines[-1] and lines[-1].startswith("error: ")
        # the sentences of the fixture have one text; this is said once
        assert sum("repeat the text of an earlier one" in line for line in lines) <= 1
    # seeds and runs that one side lacks are named
    both = make_study(tmp_path / "both", {"casrel": 0.5, "prgc": 0.5})
    found = compared(one, both)
    assert len(found["pairs"]) == 2 and len(found["runs_left_out"]) == 2
    assert [name for name in found["only_second"] if "prgc" in name] == found["only_second"] != []
    assert found["only_first"] == []


def test_where_nothing_is_in_common_three_runs_of_each_side_are_named(tmp_path, refused):
    one, two = (
        make_study(tmp_path / of, dict.fromkeys(of.split(","), 0.5), sentences=4)
        for of in ("casrel,prgc", "spn,grte")
    )
    (two / "counts/c/original-nz/spn/none/seed1/test-nz.csv").unlink()
    assert refused("compare", one, two, *FAST).endswith(
        "have no run in common; the first has c original nz casrel, c original wz casrel, c original nz prgc and 1 "
        "more, the second c original nz grte, c original wz grte, c original wz spn"
    )


def test_a_prediction_file_is_compared_with_no_folder(studies, refused):
    gold = studies[0] / "protocols/c/original/wz/test.jsonl"
    sides = files(studies[0], "casrel"), studies[1]
    for gold_triples in ([], [gold]):
        message = refused("compare", *sides, *gold_triples, *FAST)
        assert "cannot be compared with the folder" in message


def test_seeds_of_one_pair_change_no_other_pair(tmp_path, compared):
    one = make_study(tmp_path / "one", {"casrel": 0.9, "prgc": 0.6}, (1, 2))
    two = make_study(tmp_path / "two", {"casrel": 0.7, "prgc": 0.5}, (1, 2, 3))
    shutil.rmtree(two / "counts/c/original-nz/prgc/none/seed1")
    casrel = "counts/c/original-nz/casrel"
    alone = compared(one / casrel, two / casrel)["pairs"]
    together = compared(one, two)["pairs"]
    assert len(together) == 4 and together[2]["seeds"]["second"] == ["2", "3"]
    for pair in [*alone, *together]:
        del pair["all"]["p_holm"]  # counts the pairs
    assert together[:2] == alone


def test_strata_of_different_training_triples_are_not_compared(studies, tmp_path, compared):
    one, two = studies
    edited = shutil.copytree(two, tmp_path / "edited")
    for path in (edited / "counts").rglob("*.csv"):
        counts = load_counts(path)
        strata = [stratum and "unseen" for stratum in counts.strata]
        replace(counts, strata=strata).save(path)
    assert all("strata" in pair and not pair["notes"] for pair in compared(one, two)["pairs"])
    for pair in compared(one, edited)["pairs"]:
        assert "strata" not in pair and "cardinality" in pair
        assert "trained on different triples" in pair["notes"][0]


def test_the_number_of_runs_is_shown_with_changed_triples(tmp_path, capsys):
    one, two = (
        make_study(tmp_path / name, {"casrel": of}, (1, 2, 3))
        for name, of in (("one", 0.9), ("two", 0.5))
    )
    page = tmp_path / "page.md"
    assert main(["compare", str(one), str(two), *FAST, "--out", str(page)]) == 0
    assert "(in 1 → 0 of 3 runs)" in page.read_text("utf-8")


def test_a_gate_rejects_what_it_did_and_where_predictions_are_gone_numbers_remain(
    tmp_path, compared
):
    one, two = (
        make_study(tmp_path / name, {"casrel": of}, sentences=12)
        for name, of in (("one", 1.0), ("two", 0.5))
    )
    gold, run = one / "protocols/c/original/wz/test.jsonl", "c/original-nz/casrel/none/seed1/test"
    scores = {
        each.id: 0.5 + number % 2 * 0.01 for number, each in enumerate(load_sentences(gold))
    }  # or at the border
    write_jsonl(
        one / "decisions.jsonl", [{"id": id, "score": score} for id, score in scores.items()]
    )
    out = {f"out_{kind}": one / f"{kind}/{run}-wz.csv" for kind in ("scores", "counts")}
    of_run = {
        "gold": gold,
        "predictions": one / f"predictions/{run}.jsonl",
        "decisions": one / "decisions.jsonl",
    }
    score_run(
        RunFiles(**of_run, **out),
        keys_of("one", "c", "original", "nz", "wz", "casrel", "none", 1),
        50,
    )
    changed = {pair["keys"]["testing"]: pair["changed"] for pair in compared(one, two)["pairs"]}[
        "wz"
    ]
    found = {row["id"]: any(triple["first"] for triple in row["changed"]) for row in changed}
    assert {scores[id] for id, read in found.items() if read} == {0.51} and 0.5 in map(
        scores.get, found
    )
    shutil.rmtree(two / "predictions")
    pairs = compared(one, two)["pairs"]
    assert len(pairs) == 2 and all(
        pair["changed"] is None and "relations" not in pair for pair in pairs
    )


def test_the_commands_of_the_page_run_as_they_stand(root, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, after = (
        make_study(tmp_path / "results" / n, {"casrel": of})
        for n, of in (("before", 0.9), ("after", 0.8))
    )
    gold, train = (
        before / "protocols/c/original" / name for name in ("wz/test.jsonl", "nz/train.jsonl")
    )
    named = {"mine.jsonl": files(before, "casrel"), "theirs.jsonl": files(after, "casrel")}
    for name, file in {**named, "gold.json": gold, "train.json": train}.items():
        shutil.copy(file, name)
    (block,) = sections(root / "docs" / "howto" / "compare.md")["Compare"]
    lines = [shlex.split(line) for line in block.text.splitlines()]
    assert len(lines) >= 4
    for program, *arguments in lines:
        gate = "--fail-below" in arguments  # which the second study does not pass
        assert (program, main(arguments)) == ("tripleaudit", 3 if gate else 0), arguments
        assert capsys.readouterr().out
