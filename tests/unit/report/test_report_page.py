import dataclasses
import json
import re
import shutil

import pandas as pd
import pytest

from support.outline import Outline
from support.report_study import EVIL, TABLES, write_finished_study
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.core.shipped import study_file
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.report.browser import browser_data, error_counts
from tripleaudit.report.make import command, make_report
from tripleaudit.report.overview import behind, in_front, matrix
from tripleaudit.report.page import script_json
from tripleaudit.report.study_files import StudyFacts, find_files
from tripleaudit.report.table_files import compared
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.study.study import Study
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Column, Row, Table
from tripleaudit.tables.frames import read_contrasts
from tripleaudit.tables.headlines import make_headlines
from tripleaudit.tables.render.data_forms import read_table
from tripleaudit.tables.study_facts import UNREAD

pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_finished_study(tmp_path_factory.mktemp("study") / "small")


@pytest.fixture(scope="module")
def written(study, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "report.html"
    make_report(
        find_files(study), StudyFacts("evil", description=EVIL, configfiles=["a b.yaml"]), out
    )
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def data(study):
    return browser_data(find_files(study).predicted)


@pytest.fixture
def own(study, tmp_path):
    """A copy of the study, to be changed."""
    return shutil.copytree(study, tmp_path / "s")


def page_of(folder, **more) -> str:
    make_report(find_files(folder), StudyFacts("s"), folder.with_name("r.html"), **more)
    return folder.with_name("r.html").read_text(encoding="utf-8")


def embedded(written: str, name: str) -> str:
    return re.search(rf'id="{name}">(.*?)</script>', written, re.DOTALL).group(1)


def data_of(written: str, name: str):
    """What the page holds as JSON under an id."""
    return json.loads(embedded(written, name))


def test_page_is_well_formed_and_loads_nothing(written):
    outline = Outline(written)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert all(address.startswith("#") for address in outline.addresses)
    assert {address[1:].partition("?")[0] for address in outline.addresses} <= set(outline.ids)
    assert "default-src 'none'" in written
    assert {"main", "nav", "header", "footer", "h1", "article"} <= set(outline.tags)
    assert "url(http" not in written and "@import" not in written
    assert len(written) < 10_000_000


def test_the_page_says_what_it_said_and_holds_the_same_sentences(study, written, data, kept):
    main = written.partition("<main>")[2].partition("</main>")[0]
    said = Outline(re.sub("<script.*?</script>", "", main, flags=re.DOTALL)).text
    said = re.sub(
        r"Reporttripleaudit .*?Trainings", "Trainings", said.replace(str(study.parent), "results")
    )
    kept("report/page.txt", re.sub(r"\n\s*\n+", "\n", said))
    kept(
        "report/sentences.jsonl", "".join(f"{json.dumps(one)}\n" for one in data["sentences"][:30])
    )


def test_untrusted_text_is_shown_and_never_markup(written):
    assert EVIL not in written
    assert "<script>document" not in written
    assert not set("<>&") & set(embedded(written, "browser-data"))
    value = data_of(written, "browser-data")
    assert EVIL in value["relations"]
    assert any(EVIL in sentence["t"] for sentence in value["sentences"])
    value = {"</script>": ["<!--", "&amp;", "\u2028", "\N{GRINNING FACE}"]}
    text = script_json(value)
    assert json.loads(text) == value and text.isascii() and not set("<>&") & set(text)


def test_every_table_has_a_section_with_its_command(written):
    for name in TABLES:
        assert written.count(f'id="t-{name}"') == 1
        assert f"tables/{name}.md --configfile &#x27;a b.yaml&#x27;" in written
    assert written.count("<figure") == 2
    assert "d" * 64 in written
    assert "with uncommitted changes" in written


def test_notes_stand_once_and_tables_can_be_copied(study, written):
    note = "Triples are sets within a sentence."
    assert written.partition('id="copies"')[0].count(note) == 1
    assert written.count('<a href="#note-1">1</a>') > 1
    copies = data_of(written, "copies")
    for name in TABLES:
        for form, ending in (("CSV", "csv"), ("Markdown", "md"), ("LaTeX", "tex")):
            assert copies[f"t-{name}"][form] == (study / f"tables/{name}.{ending}").read_text(
                encoding="utf-8"
            )


def test_every_score_leads_to_its_sentences(study, written, data):
    table = read_table(study / "tables/type-f1.json")
    unseen = table.cell("CasRel", "Unseen")
    address = "#sentences?set=demo%2Foriginal&amp;system=casrel%2Fnz&amp;stratum=unseen"
    assert f'<a href="{address}" title="' in written
    assert (
        unseen.cases
        == sum(data["strata"][one["s"]][0] == "unseen" for one in data["sentences"])
        > 0
    )
    assert f"{unseen.cases} case" in written
    cells = [cell for row in table.rows for cell in row.cells if cell.value is not None]
    section = written.partition('id="t-type-f1"')[2].partition("</article>")[0]
    assert section.count('href="#sentences?') == len(cells)


def test_the_matrix_has_each_system_once_and_f1_in_percent_each_once_and_the_rest_is_folded(
    written, study
):
    front, folded = (part.partition("</table>")[0] for part in written.split('class="matrix"')[1:])
    assert re.findall(r'<th scope="row">([^<]*)</th>', front) == ["CasRel", "CasRel+EN"]
    heads = [
        re.findall(r'href="#(t-[a-z0-9-]*)" title="[^"]*\?"', part) for part in (front, folded)
    ]
    # eight unseen sentences are too few for the first screen
    assert heads == [["t-type-f1", "t-end-to-end"], ["t-type-f1", "t-training-time"]]
    assert front.count('<svg class="mark"') >= 4
    fraction = read_table(study / "tables/end-to-end.json").find("F1", training="nz", testing="wz")[
        0
    ]
    assert fraction.full == 1 and f'">{100 * fraction.value:.1f}<' in front
    assert "triple-types" not in front + folded
    assert written.index("<details><summary>More questions and systems") < written.rindex(
        'class="matrix"'
    )


def test_the_first_screen_has_headlines_and_draws_f1_by_kind_of_triple(written, study):
    found = make_headlines(read_contrasts(study / "contrasts.parquet"))
    stated = written.partition('class="findings"')[2].partition("</ol>")[0]
    assert found.headlines and stated.count("<li>") == len(found.headlines)
    for headline in found.headlines:
        assert headline.title in stated and headline.numbers in stated
    assert all(remark in written for remark in found.remarks)
    drawn = data_of(written, "charts")["lead"]
    points = drawn["data"]["values"]
    assert {point["stratum"] for point in points} == {"Entirely seen", "Partially seen", "Unseen"}
    assert {point["series"] for point in points} == {"CasRel", "CasRel+EN"}
    assert 'data-chart="lead"' in written


def test_a_table_of_a_plugin_appears_in_the_matrix_by_itself(study, tmp_path):
    of = {**(read_table(study / "tables/type-f1.json").rows[0].cells[0].of or {})}
    rows = [
        Row("CasRel", (Cell(3.5, of=of),)),
        Row("Other", (Cell(4.5, of={**of, "extractor": "other"}),)),
    ]
    own = Table("per-second", "Speed.", [Column("Sentences")], rows)
    found = matrix([read_table(study / "tables/type-f1.json"), own])
    assert found.heads[-1] == ("per-second", "Sentences")
    assert found.rows["Demo", "CasRel"]["per-second", "Sentences"].value == 3.5
    assert ("Demo", "other") in found.rows


def test_what_is_folded_repeats_nothing_that_stands_in_sight(study):
    table = read_table(study / "tables/type-f1.json")
    found = matrix(
        [
            table,
            dataclasses.replace(table, name="again"),
            read_table(study / "tables/training-time.json"),
        ]
    )
    front = in_front(found)
    assert ("type-f1", "all triples") in front.heads
    folded = behind(found, front).heads
    assert ("again", "all triples") not in folded and "training-time" in {
        name for name, _ in folded
    }


def test_a_number_stands_in_the_row_of_its_own_corpus(study):
    of = read_table(study / "tables/type-f1.json").rows[0].cells[0].of
    nyt = {**of, "corpus": "nyt"}
    rows = [Row("CasRel", (Cell(9.0, of=nyt),)), Row("CasRel", (Cell(8.0, of=of),))]
    scores = Table("scores", "", [Column("F1")], rows)
    timed = Table("times", "", [Column("Minutes")], [Row("CasRel", (Cell(3.0, of=nyt),))])
    rows = matrix([scores, timed]).rows
    assert rows[labels.corpus("nyt"), "CasRel"]["times", "Minutes"].value == 3.0
    assert ("times", "Minutes") not in rows["Demo", "CasRel"]
    unnamed = Table(
        "cost", "", [Column("Money")], [Row("CasRel", (Cell(0.1),))]
    )  # of which corpus, nobody knows
    assert ("cost", "Money") not in matrix([scores, unnamed]).heads


def test_of_each_system_the_first_seed_and_the_larger_test_set_are_shown(own):
    runs = own / "counts/demo/original-nz/casrel/none"
    for number in (2, 10):
        for old in (runs / "seed1").iterdir():
            counts = load_counts(old)
            again = dataclasses.replace(counts, keys={**counts.keys, "seed": str(number)})
            again.save(runs / f"seed{number}" / old.name)
    shutil.rmtree(runs / "seed1")
    sidecars = own / "scores/demo/original-nz/casrel/none"
    shutil.copytree(sidecars / "seed1", sidecars / "seed2")
    files = find_files(own)
    shown = [path.relative_to(own / "counts/demo").as_posix() for path in files.rows]
    expected = (
        "original-nz/casrel/none/seed2",
        "original-nz/casrel/noising/seed1",
        "original-wz/casrel/none/seed1",
    )
    assert shown == [f"{run}/test-wz.csv" for run in expected]
    assert files.predicted[0].gold == own / "protocols/demo/original/wz/test.jsonl"


def test_a_system_that_failed_has_no_sentences_and_costs_the_page_nothing(own, tmp_path):
    (sidecar,) = own.glob("scores/demo/original-nz/casrel/none/seed1/test-wz.provenance.json")
    sidecar.write_text(
        json.dumps({"inputs": {"report": {"path": "predictions/x/test.report.json", "sha256": ""}}})
    )
    files = find_files(own)
    assert len(files.predicted) == len(files.rows) - 1
    make_report(files, StudyFacts("s"), tmp_path / "r.html")


def test_sentences_that_are_gone_or_have_changed_are_refused(own, tmp_path):
    path = own / "predictions/demo/original-nz/casrel/none/seed1/test.jsonl"
    path.write_text("")
    with pytest.raises(
        UserError, match=r"test.jsonl: has changed since .*test-wz.csv was counted from it"
    ):
        page_of(own)
    path.unlink()
    with pytest.raises(
        UserError,
        match=r"test-wz.csv: its gold sentences or predictions are not in .*; score it the",
    ):
        page_of(own)
    assert not (tmp_path / "r.html").exists()


def test_raw_answers_of_a_language_model_stand_next_to_their_text(own):
    talker = own / "generative/texts/talker"
    talker.mkdir(parents=True)
    line = {"id": "a", "text": "Ada met Bob.", "triples": []}
    write_jsonl(talker.parent / "reference.jsonl", [line])
    write_jsonl(talker / "predictions.jsonl", [line])
    write_jsonl(talker / "answers.jsonl", [{**line, "answers": [{"text": EVIL}]}])
    text = page_of(own)
    assert EVIL not in text
    data = data_of(text, "browser-data")
    answered = next(one for one in data["sentences"] if "r" in one)
    assert list(answered["r"].values()) == [EVIL]
    assert data["systems"][int(*answered["r"])]["name"] == "talker"


def test_two_steps_show_only_what_the_classifier_lets_through(study, tmp_path):
    run = find_files(study).predicted[0]
    counts = load_counts(run.counts)
    for table in counts.counts.values():
        table[:, 1] = 0
    counts.save(tmp_path / "c.csv")
    two_step = dataclasses.replace(run, extractor="zcc-binary+casrel", counts=tmp_path / "c.csv")
    data = browser_data([run, two_step])
    assert data["systems"][1]["name"] == "CasRel behind ZCC binary"
    assert any(one["p"][0] for one in data["sentences"])
    assert not any(one["p"][1] for one in data["sentences"])
    SentenceCounts(counts.keys, [], []).save(tmp_path / "c.csv")  # as of a system that failed
    save_sentences(tmp_path / "none.jsonl", [])
    failed = dataclasses.replace(two_step, predictions=tmp_path / "none.jsonl")
    assert not any(1 in one["p"] for one in browser_data([run, failed])["sentences"])


def test_plots_stand_next_to_their_tables_with_what_to_see(own, study, written):
    for name in ("time-memory", "another"):
        shutil.copy(study / "plots/training-curves.json", own / f"plots/{name}.json")
    text = page_of(own)
    times = text.partition('id="t-training-time"')[2].partition("</article>")[0]
    assert re.findall(r'<figure id="([a-z0-9-]+)"', times) == [
        "p0-training-curves",
        "p0-time-memory",
    ]
    assert "memory of a GPU is not in it" in times
    assert '<figure id="p0-another"' in text.partition('id="about"')[2]
    curves = data_of(text, "charts")["p0-training-curves-1"]
    assert curves["title"] == "Demo: validation F1"
    assert curves["width"] == "container"
    (own / "plots/another.json").write_text('{"concat": "no"}', encoding="utf-8")
    with pytest.raises(
        UserError, match=r"another.json: not a plot; expected a Vega-Lite specification"
    ):
        page_of(own)
    drawn = data_of(written, "charts")["t-type-f1"]
    assert drawn["layer"][1]["encoding"]["x"]["scale"]["domain"] == [0, 100]
    table = read_table(study / "tables/type-f1.json")
    values = {(one["row"], one["series"]): one["value"] for one in drawn["data"]["values"]}
    assert values["CasRel", "F1"] == pytest.approx(table.cell("CasRel", "F1").value, abs=1e-3)
    assert all(one["href"].startswith("#sentences?") for one in drawn["data"]["values"])


def test_tables_of_many_columns_are_printed_smaller(own):
    path = own / "tables/type-f1.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table["columns"] += [{"label": "x", "group": ""}] * 12
    for row in table["rows"]:
        row["cells"] += [{}] * 12
    path.write_text(json.dumps(table), encoding="utf-8")
    text = page_of(own)
    assert text.count('class="scroll ta-table wide"') == 1
    assert text.count('class="scroll ta-table"') == len(TABLES) - 1


def test_command_names_the_configuration_only_where_it_is_not_the_default(tmp_path):
    for files, shown in (
        ([], ""),
        (["config/a.yaml"], " --configfile config/a.yaml"),
        (["config/a.yaml", "my changes.yaml"], " --configfile config/a.yaml 'my changes.yaml'"),
    ):
        made = command(StudyFacts("s", configfiles=files), tmp_path / "x.md")
        assert made == f"snakemake --cores 2 {tmp_path}/x.md{shown}"


def test_browser_data_agree_with_the_scorer(study, data):
    predicted = find_files(study).predicted
    names = ["CasRel (trained on NZ)", "CasRel+EN (trained on NZ)", "CasRel (trained on WZ)"]
    assert [system["name"] for system in data["systems"]] == names
    for run, totals in zip(predicted, error_counts(data), strict=True):
        correct, guessed, gold = load_counts(run.counts).of("exact-string").sum(axis=0)
        wrong = sum(count for kind, count in totals.items() if kind not in ("correct", "missed"))
        assert (totals["correct"], totals["correct"] + wrong) == (correct, guessed)
        assert totals["missed"] == gold - correct
        assert totals["swapped"] > 0 and totals["zero"] > 0
    for sentence in data["sentences"]:  # arguments are offsets in the text
        for triple in sentence["g"]:
            assert all(sentence["t"][span[0] : span[1]].strip() for span in (triple[0], triple[2]))
    counts = load_counts(predicted[0].counts)
    expected = {
        id_: stratum or "zero" for id_, stratum in zip(counts.ids, counts.strata, strict=True)
    }
    assert {one["id"]: data["strata"][one["s"]][0] for one in data["sentences"]} == expected
    assert {"zero", "entirely_seen"} <= set(expected.values())


def test_data_are_capped_evenly_and_the_page_says_so(study, data, tmp_path):
    files = find_files(study)
    room = 8000
    capped = browser_data(files.predicted, room)
    assert len(json.dumps(capped["sentences"], separators=(",", ":"))) <= room + 2
    assert 10 < len(capped["sentences"]) < len(data["sentences"]) == capped["total"] == 90
    places = [one["id"] for one in data["sentences"]]
    kept = [places.index(one["id"]) for one in capped["sentences"]]
    assert kept == sorted(kept)
    assert (
        max(after - before for before, after in zip(kept, kept[1:], strict=False))
        <= 90 // len(kept) + 1
    )
    make_report(files, StudyFacts("s"), tmp_path / "r.html", max_bytes=room)
    assert f"This page holds {len(kept)} of 90 test sentences" in (tmp_path / "r.html").read_text(
        encoding="utf-8"
    )


def test_equal_inputs_give_equal_bytes(own):
    assert page_of(own) == page_of(own)


def test_a_study_without_extractors_has_no_browser(study, tmp_path):
    files = find_files(study)
    make_report(
        type(files)(tables=[study / "tables/triple-types.json"]),
        StudyFacts("data"),
        tmp_path / "r.html",
    )
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="sentences"' not in text and "vegaEmbed=" not in text
    assert 'id="t-triple-types"' in text and 'class="findings"' not in text


def test_the_page_names_the_encoder_of_stored_trainings(own):
    encoder = {"name": "minilm", "layers": 6, "parameters": 22_600_000}
    fact = {"encoder": encoder, "device": "NVIDIA H100", "finished": "2026-01-03T10:00:00Z"}
    write_json(own / "trainings.json", [fact])
    text = page_of(own)
    assert "minilm (6 layers, 22.6 million parameters)" in text and "NVIDIA H100" in text
    stored = Study.read(study_file("webnlg-stored"))
    assert stored.paths.results.training_facts in stored.report.inputs()["provenance"]


def test_console_command(study, tmp_path, refused):
    assert main(["report", str(study), "--out", str(tmp_path / "other.html")]) == 0
    target = "<pre>snakemake --cores 2 results/small/report.html --configfile STUDY.yaml</pre>"
    assert target in (tmp_path / "other.html").read_text(encoding="utf-8")
    said = refused("report", tmp_path, "--out", tmp_path / "x.html")
    assert "expected the folder of a finished study" in said
    assert not (tmp_path / "x.html").exists()


def test_gold_and_predictions_must_be_of_the_same_text(study, tmp_path):
    run = find_files(study).predicted[0]
    other = load_sentences(run.predictions)
    save_sentences(
        tmp_path / "p.jsonl", [dataclasses.replace(other[0], text="Another text.", triples=())]
    )
    wrong = dataclasses.replace(run, predictions=tmp_path / "p.jsonl")
    with pytest.raises(UserError, match="another text"):
        browser_data([wrong])


@pytest.mark.parametrize(
    "text", ['{"name": "x"}', "[]", '{"rows": [{"label": "a"}], "columns": []}']
)
def test_tables_of_others_are_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="not a table of this program"):
        read_table(tmp_path / "x.json")


def test_differences_to_reported_values_are_summed_up():
    cells = [(Cell(1.0, reported="2"),), (Cell(4.0, reported="2"),), (Cell(),)]
    table = Table(
        "x", "", [Column("F1")], [Row(str(place), one) for place, one in enumerate(cells)]
    )
    assert compared(table) == (
        "Compared with 2 reported values: median absolute difference 1.5, "
        "greatest difference +2 (in the table's unit)."
    )


def test_the_sentences_begin_with_the_best_system_on_the_original_test_set(data):
    start = data["start"]
    assert start["set"] == "demo/original"
    assert start["system"] in {system["key"] for system in data["systems"]}
    assert start["system"].startswith("casrel/")  # no classifier in front of it


def test_the_sentences_do_not_begin_with_a_model_of_mostly_unread_answers(study):
    run = find_files(study).predicted[0]
    models = [dataclasses.replace(run, extractor=name, training="") for name in ("cut", "whole")]
    assert browser_data(models)["start"]["system"] == "cut"
    readable = browser_data(models, unread={("demo", "cut")})
    assert readable["start"]["system"] == "whole"


def test_the_page_reads_from_the_contrasts_whose_answers_are_unread(own):
    assert data_of(page_of(own), "browser-data")["start"]
    frame = pd.read_parquet(own / "contrasts.parquet")
    frame[["mark", "mark_first", "mark_second"]] = UNREAD
    frame.to_parquet(own / "contrasts.parquet")
    assert data_of(page_of(own), "browser-data")["start"] == {}


def test_the_page_shows_fractions_in_percent_and_copies_them_as_written(study, written):
    table = read_table(study / "tables/end-to-end.json")
    cell = table.find("F1", training="nz", testing="wz")[0]
    section = written.partition('id="t-end-to-end"')[2].partition("</article>")[0]
    assert cell.full == 1 and f">{100 * cell.value:.1f}" in section and cell.shown not in section
    assert cell.shown in data_of(written, "copies")["t-end-to-end"]["CSV"]


def test_reported_fractions_are_scaled_with_the_measured_ones():
    cell = Cell(0.923, digits=3, reported="0.914", reported_change="-0.01", full=1).percent()
    assert (cell.shown, cell.reported, cell.reported_change) == ("92.3", "91.4", "-1")
    assert cell.difference == 0.9


def test_sections_behind_headlines_are_open_and_notes_stand_once(written, study):
    found = make_headlines(read_contrasts(study / "contrasts.parquet"))
    tables = {headline.table for headline in found.headlines}
    for name in TABLES:
        section = written.partition(f'id="t-{name}"')[2]
        assert section.partition(">")[2].startswith("<details data-section open>") == (
            name in tables
        )
    note = read_table(study / "tables/type-f1.json").notes[0]
    assert written.partition('id="copies"')[0].count(note) == 1
