import dataclasses
import html.parser
import json
import re
import shutil

import pytest

from support.report_study import EVIL, TABLES, write_finished_study
from tripleaudit.cli import main
from tripleaudit.corpora.store import load_sentences
from tripleaudit.errors import UserError
from tripleaudit.report.browser import browser_data, error_counts
from tripleaudit.report.inputs import StudyFacts, find_files
from tripleaudit.report.make import command, make_report
from tripleaudit.report.page import script_json
from tripleaudit.report.svg import inline_svg
from tripleaudit.report.table_files import load_table
from tripleaudit.scoring.counts import load_counts

VOID = {"meta", "input", "br", "img", "link", "hr"}
pytestmark = pytest.mark.xdist_group("report")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_finished_study(tmp_path_factory.mktemp("study") / "small")


@pytest.fixture(scope="module")
def written(study, tmp_path_factory):
    out = tmp_path_factory.mktemp("page") / "report.html"
    make_report(find_files(study), StudyFacts("evil", description=EVIL, configfiles=["a b.yaml"]), out)
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def data(study):
    return browser_data(find_files(study).predicted)


class Outline(html.parser.HTMLParser):
    """Collects ids, addresses and unclosed elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.ids, self.addresses, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        self.addresses += [value for name, value in attrs if name in ("src", "href", "xlink:href", "data", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_well_formed_and_loads_nothing(written):
    outline = Outline(written)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert all(address.startswith("#") for address in outline.addresses)
    assert {address[1:] for address in outline.addresses} <= set(outline.ids)
    assert "default-src 'none'" in written
    assert {"main", "nav", "header", "footer", "h1", "caption"} <= set(outline.tags)
    assert outline.tags.count("script") == 2
    assert "url(http" not in written
    assert "@import" not in written


def test_untrusted_text_is_shown_and_never_markup(written):
    assert EVIL not in written
    assert "<script>document" not in written
    embedded = re.search(r'id="browser-data">(.*?)</script>', written, re.DOTALL).group(1)
    assert not set("<>&") & set(embedded)
    value = json.loads(embedded)
    assert EVIL in value["relations"]
    assert any(EVIL in sentence["t"] for sentence in value["sentences"])


def test_json_in_a_script_is_the_same_value():
    value = {"</script>": ["<!--", "&amp;", "\u2028", "\N{GRINNING FACE}"]}
    text = script_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert not set("<>&") & set(text)


def test_every_table_stands_with_its_question_answer_and_command(written):
    for name in TABLES:
        assert written.count(f'id="t-{name}"') == 1
        assert f"tables/{name}.md --configfile &#x27;a b.yaml&#x27;" in written
    assert "points (95&nbsp;% intervals" in written
    assert written.count("<svg") == 2
    assert "d" * 64 in written
    assert "with uncommitted changes" in written


def test_plots_stand_in_order_with_what_to_see(study, tmp_path):
    shutil.copytree(study, tmp_path / "s")
    svg = (study / "plots/type-f1.svg").read_text(encoding="utf-8")
    for name in ("gre-scores", "time-memory", "another"):
        (tmp_path / f"s/plots/{name}.svg").write_text(svg, encoding="utf-8")
    make_report(find_files(tmp_path / "s"), StudyFacts("s"), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    found = re.findall(r'<figure id="p-([a-z0-9-]+)"', text)
    assert found == ["type-f1", "gre-scores", "training-curves", "time-memory", "another"]
    assert all(f'<a href="#p-{name}">' in text for name in found)
    assert "memory of a GPU is not in it" in text and "<h3>Another</h3>" in text
    assert len(set(Outline(text).ids)) == len(Outline(text).ids)


def test_tables_of_many_columns_are_printed_smaller(study, tmp_path):
    shutil.copytree(study, tmp_path / "s")
    path = tmp_path / "s/tables/type-f1.html"
    fragment = path.read_text(encoding="utf-8")
    path.write_text(fragment.replace("</tr>\n</thead>", "<th>x</th>" * 12 + "</tr>\n</thead>"), encoding="utf-8")
    make_report(find_files(tmp_path / "s"), StudyFacts("s"), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.count('class="ta-table wide"') == 1
    assert text.count('class="ta-table"') == len(TABLES) - 1


def test_command_names_the_configuration_only_where_it_is_not_the_default(tmp_path):
    assert command(StudyFacts("s"), tmp_path / "x.md") == f"snakemake --cores 2 {tmp_path}/x.md"
    assert command(StudyFacts("s", configfiles=["config/a.yaml"]), tmp_path / "x.md") == (
        f"snakemake --cores 2 {tmp_path}/x.md --configfile config/a.yaml"
    )
    two = command(StudyFacts("s", configfiles=["config/a.yaml", "my changes.yaml"]), tmp_path / "x.md")
    assert two.endswith("--configfile config/a.yaml 'my changes.yaml'")


def test_browser_data_agree_with_the_scorer(study, data):
    predicted = find_files(study).predicted
    assert [system["name"] for system in data["systems"]] == [
        "CasRel (trained on NZ)",
        "CasRel+EN (trained on NZ)",
        "CasRel (trained on WZ)",
    ]
    for run, totals in zip(predicted, error_counts(data), strict=True):
        correct, guessed, gold = load_counts(run.counts).of("exact-string").sum(axis=0)
        wrong = sum(count for kind, count in totals.items() if kind not in ("correct", "missed"))
        assert (totals["correct"], totals["correct"] + wrong) == (correct, guessed)
        assert totals["missed"] == gold - correct
        assert totals["swapped"] > 0
        assert totals["zero"] > 0


def test_arguments_of_the_browser_are_places_in_the_text(data):
    for sentence in data["sentences"]:
        for triple in sentence["g"]:
            assert all(sentence["t"][place[0] : place[1]].strip() for place in (triple[0], triple[2]))


def test_strata_of_the_browser_are_those_of_the_counts(study, data):
    counts = load_counts(find_files(study).predicted[0].counts)
    expected = {id_: stratum or "zero" for id_, stratum in zip(counts.ids, counts.strata, strict=True)}
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
    assert max(after - before for before, after in zip(kept, kept[1:], strict=False)) <= 90 // len(kept) + 1
    make_report(files, StudyFacts("s"), tmp_path / "r.html", max_bytes=room)
    assert f"This page holds {len(kept)} of 90 test sentences" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_equal_inputs_give_equal_bytes(study, tmp_path):
    pages = []
    for name in "ab":
        make_report(find_files(study), StudyFacts("s"), tmp_path / f"{name}.html")
        pages.append((tmp_path / f"{name}.html").read_bytes().replace(f"{name}.html".encode(), b""))
    assert pages[0] == pages[1]


def test_a_study_without_extractors_has_no_browser(study, tmp_path):
    files = find_files(study)
    only = type(files)(tables=[study / "tables/triple-types.html"], audits=files.audits)
    make_report(only, StudyFacts("data"), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "Of the test triples, training has seen" in text


def test_console_command(study, tmp_path, capsys):
    assert main(["report", str(study), "--out", str(tmp_path / "r.html"), "--facts", '{"name": "mine"}']) == 0
    assert "<h1>mine</h1>" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "x.html")]) != 0
    assert "expected the folder of a finished study" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


def test_gold_and_predictions_must_be_of_the_same_text(study, tmp_path):
    run = find_files(study).predicted[0]
    other = load_sentences(run.predictions)
    (tmp_path / "p.jsonl").write_text(
        json.dumps({"id": other[0].id, "text": "Another text.", "triples": []}) + "\n", encoding="utf-8"
    )
    wrong = dataclasses.replace(run, predictions=tmp_path / "p.jsonl")
    with pytest.raises(UserError, match="another text"):
        browser_data([wrong])


def test_tables_of_others_are_refused(tmp_path):
    path = tmp_path / "x.html"
    for text in ("<p>no table</p>", '<section class="ta-table"><img src=x></section>'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match="not a table of this program"):
            load_table(path)


def test_differences_to_reported_values_are_summed_up(tmp_path):
    (tmp_path / "x.html").write_text('<section class="ta-table" id="table-x"></section>', encoding="utf-8")
    (tmp_path / "x.csv").write_text("Row,F1,F1 reported,F1 difference\na,1,2,-1\nb,4,2,+2\nc,,,\n", encoding="utf-8")
    assert load_table(tmp_path / "x.html").compared == (
        "2 reported values stand beside the measured ones; half of the absolute differences are at most 1.5, the "
        "greatest difference is +2 (in the table's unit)."
    )


def test_inline_svg_gets_own_ids_and_loses_what_loads_or_runs(tmp_path):
    path = tmp_path / "p.svg"
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="x()">'
        "<style>*{stroke:red}</style><script>x()</script><image href='http://a/b.png'/>"
        '<path id="m" clip-path="url(#c)"/><use xlink:href="#m"/><rect fill="url(http://a/b)"/>'
        "<text>a &lt; b</text></svg>",
        encoding="utf-8",
    )
    text = inline_svg(path, "p1", 'A "plot"')
    assert 'id="p1-m"' in text
    assert 'href="#p1-m"' in text
    assert "url(#p1-c)" in text
    assert ".plot-image *{" in text
    assert "a &lt; b" in text
    assert 'aria-label="A &quot;plot&quot;"' in text
    for gone in ("script", "onload", "http://a", "<image"):
        assert gone not in text
    path.write_text("<html/>", encoding="utf-8")
    with pytest.raises(UserError, match="not an SVG"):
        inline_svg(path, "p", "t")
