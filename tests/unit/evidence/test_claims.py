"""Claims of the papers: verdicts by the rules, evidence that is stored and read again."""

import json
import subprocess
import sys

import pytest

import tripleaudit as ta
from support.scored import make_study
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import PROJECT, studies
from tripleaudit.evidence.claim import read_claims
from tripleaudit.evidence.stored import CONTRAST_COLUMNS, Evidence, load_evidence
from tripleaudit.scoring.scores import read_scores, write_scores

SEEN = "rte-seen-unseen-original"


def contrast(difference, low, high, *, doubled=(None, None, None), seeds=3, **more):
    """A stored contrast from entirely seen to unseen triples, fractions of F1."""
    row = dict.fromkeys(CONTRAST_COLUMNS)
    row |= {
        "contrast": "entirely seen to unseen",
        "corpus": "webnlg",
        "protocol_first": "original",
        "protocol_second": "original",
        "extractor_first": "casrel",
        "extractor_second": "casrel",
        "unit": "shared-triple",
        "encoder": "minilm, 2 layers",
        "ended": "flat",
        "difference": difference,
        "low": low,
        "high": high,
        "cases": 40,
        "seeds": seeds,
    }
    row |= dict(zip(("difference_doubled", "low_doubled", "high_doubled"), doubled, strict=True))
    return row | more


def verdict_on(claim, folder, *rows):
    Evidence("made", rows).write(folder)
    (row,) = [row for row in ta.claims(folder).rows() if row["claim"] == claim]
    return row


@pytest.mark.parametrize(
    ("rows", "verdict", "leans"),
    [
        pytest.param([], "undecided", "", id="nothing measured"),
        pytest.param(
            [contrast(-0.5, -0.6, -0.4, doubled=(-0.5, -0.6, -0.3))], "holds", "", id="holds twice"
        ),
        pytest.param(
            [contrast(-0.1, -0.15, -0.05, doubled=(-0.1, -0.15, -0.05))],
            "does not hold",
            "",
            id="too small twice",
        ),
        pytest.param([contrast(-0.5, -0.6, -0.4)], "undecided", "holds", id="not doubled"),
        pytest.param(
            [contrast(-0.5, -0.6, -0.4, doubled=(-0.5, -0.6, -0.3), seeds=1)],
            "undecided",
            "holds",
            id="one seed",
        ),
        pytest.param(
            [contrast(-0.5, -0.6, -0.4, doubled=(-0.3, -0.6, -0.1))],
            "undecided",
            "",
            id="lost after twice the epochs",
        ),
        pytest.param(
            [
                contrast(-0.5, -0.6, -0.4, doubled=(-0.5, -0.6, -0.3)),
                contrast(-0.3, -0.5, -0.1, doubled=(-0.3, -0.5, -0.1), extractor_second="prgc"),
            ],
            "undecided",
            "",
            id="one of two extractors open",
        ),
        pytest.param(
            [contrast(-0.5, -0.6, -0.4, doubled=(-0.5, -0.6, -0.3), unit="sentence")],
            "undecided",
            "",
            id="another unit of resampling",
        ),
        pytest.param(
            [contrast(-0.5, -0.6, -0.4, doubled=(-0.5, -0.6, -0.3), protocol_first="rearranged")],
            "undecided",
            "",
            id="another test set",
        ),
    ],
)
def test_a_contrast_decides_with_three_seeds_and_twice_the_epochs(tmp_path, rows, verdict, leans):
    row = verdict_on(SEEN, tmp_path, *rows)
    assert (row["verdict"], row["leans"]) == (verdict, leans)


def test_a_difference_is_shown_with_the_claims_sign(tmp_path):
    row = verdict_on(SEEN, tmp_path, contrast(-0.5, -0.6, -0.4, doubled=(-0.55, -0.7, -0.3)))
    assert row["here"] == "50.0 [40.0, 60.0]"
    assert row["here_doubled"] == "55.0 [30.0, 70.0]"
    assert (row["seeds"], row["encoder"], row["cases"]) == ("3", "minilm, 2 layers", "40")


def test_both_parts_of_a_claim_have_to_hold(tmp_path):
    name = "zero-triple sentences in training"
    lower = contrast(-0.05, -0.08, -0.02, doubled=(-0.05, -0.08, -0.02), unit="sentence")
    higher = contrast(0.05, 0.02, 0.08, doubled=(0.05, 0.02, 0.08), unit="sentence")
    on_nz = {**lower, "contrast": f"{name}, NZ test"}
    on_wz = {**higher, "contrast": name}
    assert verdict_on("zc-wz-training", tmp_path / "one", on_nz)["verdict"] == "undecided"
    assert verdict_on("zc-wz-training", tmp_path / "both", on_nz, on_wz)["verdict"] == "holds"
    other = {**lower, "contrast": name}
    assert (
        verdict_on("zc-wz-training", tmp_path / "other", on_nz, other)["verdict"] == "does not hold"
    )


def test_the_mean_over_sifted_sets_decides(tmp_path):
    def sifted(number, difference):
        ends = (difference, difference - 0.02, difference + 0.02)
        name = f"with Entity Noising, sift-{number}, unseen"
        return contrast(*ends, doubled=ends, contrast=name, protocol_second=f"sift-{number}")

    rows = [sifted(1, 0.1), sifted(2, 0.05), sifted(3, -0.03)]
    row = verdict_on("rte-noising-sifted", tmp_path, *rows)
    assert (row["verdict"], row["here"]) == ("holds", "4.0 [2.0, 6.0]")
    assert verdict_on("rte-noising-sifted", tmp_path, *rows[:2])["verdict"] == "undecided"


def test_claims_about_printed_rows_need_no_study(tmp_path):
    Evidence("empty").write(tmp_path)
    verdicts = {row["claim"]: row["verdict"] for row in ta.claims(tmp_path).rows()}
    assert verdicts["gen-cs-fs"] == "holds"
    assert verdicts["gen-leaders"] == verdicts["gen-tokens-gs"] == "does not hold"
    assert verdicts["gen-gpt4-human"] == "undecided"
    assert verdicts["min-level"] == "not measurable here"


def test_random_splits_decide_by_the_greatest_share(tmp_path):
    path = tmp_path / "random-splits.json"
    drawn = {"trials": 1000, "mean": 0.018, "most": 0.0383, "quantiles": [0.01, 0.02, 0.03]}
    path.write_text(json.dumps({"random_splits": drawn}))
    (row,) = [row for row in ta.claims(path).rows() if row["claim"] == "rte-random-splits"]
    assert row["verdict"] == "does not hold"
    assert "3.83" in row["here"]


def test_the_evidence_of_a_study_is_stored_and_read_again(tmp_path, capsys):
    study = make_study(tmp_path / "results" / "toy", {"casrel": 0.7, "prgc": 0.4})
    write_scores(study / "scores.csv", read_scores(sorted((study / "scores").rglob("*.csv"))))
    assert main(["claims", str(study), "--store", str(tmp_path / "stored")]) == 0
    stored = load_evidence(tmp_path / "stored")
    assert stored.study == "toy"
    names = {row["contrast"] for row in stored.contrasts}
    assert "entirely seen to unseen" in names and "two systems" not in names
    computed = load_evidence(study)
    assert len(stored.contrasts) == len(computed.contrasts) > 0
    for one, other in zip(stored.contrasts, computed.contrasts, strict=True):
        assert one["difference"] == pytest.approx(other["difference"], rel=1e-4)
    assert main(["claims", str(tmp_path / "stored"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["claims"]) == len(read_claims())


def test_what_is_no_evidence_is_refused(tmp_path):
    with pytest.raises(UserError, match="no evidence; expected the folder of a finished study"):
        ta.claims(tmp_path)


@pytest.mark.parametrize("claim", read_claims(), ids=lambda claim: claim.id)
def test_a_claim_has_a_rule_and_a_command_that_makes_its_row(claim):
    assert claim.rule["holds"] and claim.rule["does_not_hold"]
    assert claim.rule["fixed"] in ("before looking", "after looking")
    assert set(claim.decision.get("studies", ())) <= {*studies(), "demo"}
    assert (
        claim.decision["evidence"] == "random-splits"
        or claim.printed
        or claim.id == "zc-clue-words"
    )


def test_claims_that_ship_are_computed_from_what_ships(capsys):
    assert main(["claims", "--markdown"]) == 0
    table = capsys.readouterr().out
    assert table.startswith("**Claims of the four papers: ")
    assert table.count("\n|") >= len(read_claims())


@pytest.mark.parametrize(("page", "options"), [("README.md", ["--short"]), ("docs/results.md", [])])
def test_pages_have_the_table_that_the_command_prints(page, options, capsys):
    assert main(["claims", "--markdown", *options]) == 0
    text = (PROJECT / page).read_text(encoding="utf-8")
    _, _, rest = text.partition("<!-- claims: made by `tripleaudit claims")
    shown = rest.partition("-->\n")[2].partition("<!-- end of claims -->")[0]
    assert shown.strip() == capsys.readouterr().out.strip()


def test_stored_evidence_equals_a_computation_without_code_of_the_project(real_data):
    program = PROJECT / "resources" / "results" / "recompute.py"
    command = [sys.executable, "-I", str(program), str(real_data)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.count("\n") > 50


def test_semi_open_extraction_is_not_open_extraction(tmp_path):
    def measures(setting, f1, fs):
        keys = {"corpus": "cdr", "protocol": f"gre-document-{setting}", "system": setting}
        return [{**keys, "measure": "f1", "value": f1}, {**keys, "measure": "fs", "value": fs}]

    rows = [*measures("closed", 50, 60), *measures("semi-open", 6, 30), *measures("open", 0, 90)]
    Evidence("genres", measures=rows).write(tmp_path)
    (row,) = [row for row in ta.claims(tmp_path).rows() if row["claim"] == "gen-hard-matching"]
    assert row["verdict"] == "holds"
