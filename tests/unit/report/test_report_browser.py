"""The report in a real browser: no errors, nothing loaded, filters and triples reached by the
keyboard alone.
"""

import pytest

from support.chromium import binary, browser
from support.pictures import take_pictures
from support.report_study import EVIL, write_finished_study
from tripleaudit.report.make import make_report
from tripleaudit.report.study_files import StudyFacts, find_files

pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough,
    pytest.mark.xdist_group("report"),
    pytest.mark.skipif(binary() is None, reason="no chromium or chrome binary on the path"),
]

STATUS = "document.getElementById('browser-status').textContent"
FOCUS = "document.activeElement.id || document.activeElement.className"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOWN = "[...document.querySelectorAll('.sentence')].length"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    study = write_finished_study(folder / "small")
    make_report(find_files(study), StudyFacts("small", description=EVIL), folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def page(report, tmp_path):
    with browser(tmp_path) as opened:
        opened.open(report)
        yield opened


def tab_to(page, name: str) -> None:
    """Press Tab until the element with this id or class has the focus."""
    for _ in range(60):
        if page.evaluate(FOCUS) == name:
            return
        page.press("Tab")
    raise AssertionError(f"Tab does not reach {name}; it stands on {page.evaluate(FOCUS)}")


def test_the_first_filter_is_less_than_ten_tabs_away(page):
    presses = 0
    while page.evaluate("document.activeElement.getAttribute('href')") != "#sentences":
        page.press("Tab")
        presses += 1
        assert presses < 10
    page.press("Enter")
    while page.evaluate(FOCUS) != "filter-text":
        page.press("Tab")
        presses += 1
        assert presses < 10
    assert page.evaluate("document.querySelector('#filter-text').offsetParent !== null")


def open_sentences(page) -> None:
    page.evaluate("document.querySelector('.bar a[href=\"#sentences\"]').click()")


def unfold_tables(page) -> None:
    page.evaluate("document.querySelector('[data-unfold=true]').click()")


def test_the_report_works_by_keyboard_without_errors(page, report):
    assert page.evaluate("document.title") == "small – tripleaudit report"
    page.press("Tab")
    assert page.evaluate(FOCUS) == "skip"
    open_sentences(page)
    assert page.evaluate(STATUS) == "90 sentences fit (90 in all); these are 1 to 15"

    tab_to(page, "filter-text")
    page.press("Ulmstadt")
    texts = page.evaluate(
        "[...document.querySelectorAll('.sentence .text')].map(line => line.textContent)"
    )
    assert texts and all("Ulmstadt" in text for text in texts)
    shown = "#sentences?text=Ulmstadt&set=demo%2Foriginal&system=casrel%2Fnz"
    assert page.evaluate("location.hash") == shown
    page.evaluate("document.getElementById('filters').reset()")

    tab_to(page, "filter-stratum")
    page.press("End")  # the last stratum on the list: sentences with zero triples
    assert (
        page.evaluate("document.getElementById('filter-stratum').selectedOptions[0].text")
        == "Zero triples"
    )
    assert page.evaluate(STATUS).startswith("30 sentences fit")
    metas = page.evaluate(
        "[...document.querySelectorAll('.sentence .meta')].map(line => line.textContent)"
    )
    assert metas and all(meta.endswith("Zero triples") for meta in metas)

    tab_to(page, "filter-kind")
    page.press("ArrowDown", "ArrowDown")  # any error, then: missed
    assert page.evaluate("document.getElementById('filter-kind').value") == "missed"
    assert page.evaluate(STATUS) == "No sentence fits (90 in all)"
    page.press("ArrowDown")  # triples on sentences without any
    assert page.evaluate(SHOWN) > 0
    assert page.evaluate("document.querySelector('#sentence-list .badge').textContent") == "✗ wrong"

    tab_to(page, "clear-filters")
    page.press("Enter")
    page.rest(50)
    assert page.evaluate(STATUS).startswith("90 sentences fit")
    tab_to(page, "next-page")
    page.press("Enter")
    assert page.evaluate(STATUS).endswith("these are 16 to 30")
    assert page.evaluate("location.hash") == "#sentences?page=2"

    tab_to(page, "triple")
    lit = page.evaluate(
        "[...document.querySelectorAll('mark.lit')].map(piece => piece.textContent).join('|')"
    )
    words = page.evaluate(
        "[...document.activeElement.querySelectorAll('b')].map(one => one.textContent)"
    )
    assert lit and all(part in "".join(words) for part in lit.split("|"))

    assert page.problems() == []
    assert page.requests() == [report.resolve().as_uri()]


def test_one_click_leads_from_a_number_to_its_sentences_and_back(page):
    unfold_tables(page)
    cell = "document.querySelector('#t-type-f1 tbody tr td:last-child a')"
    cases = int(page.evaluate(f"{cell}.title").rpartition(", ")[2].split()[0])
    page.evaluate(f"{cell}.scrollIntoView({{behavior: 'instant'}}); {cell}.click()")
    assert (
        page.evaluate("location.hash")
        == "#sentences?set=demo%2Foriginal&system=casrel%2Fnz&stratum=unseen"
    )
    noun = "sentence fits" if cases == 1 else "sentences fit"
    assert page.evaluate(STATUS).startswith(f"{cases} {noun} (90 in all)")
    assert page.evaluate("document.documentElement.dataset.view") == "sentences"
    before = page.evaluate("history.length")
    page.evaluate("history.back(); new Promise(done => setTimeout(done, 300))")
    assert page.evaluate("document.documentElement.dataset.view") == "study"
    assert page.evaluate("scrollY") > 0 and page.evaluate("history.length") == before
    assert page.problems() == []


def test_error_counts_lead_to_their_sentences(page):
    link = "document.querySelector('.counts a[href*=\"kind=swapped\"]')"
    count = int(page.evaluate(f"{link}.textContent"))
    page.evaluate(f"{link}.click()")
    shown = "[...document.querySelectorAll('#errors table:first-child tbody tr')].map(row => row.textContent)"
    assert f"subject and object swapped{count}" in page.evaluate(shown)
    assert "missed triple0" in page.evaluate(shown)
    counts = "[...document.querySelectorAll('#errors .scroll:nth-child({}) td:nth-child(2)')].map(c => +c.textContent)"
    fitting = int(page.evaluate(STATUS).split()[0])
    assert (
        sum(page.evaluate(counts.format(2))) == sum(page.evaluate(counts.format(3))) == fitting > 0
    )
    page.evaluate("document.querySelector('#errors .scroll:nth-child(3) a').click()")
    assert "words=" in page.evaluate("location.hash")
    assert 0 < int(page.evaluate(STATUS).split()[0]) <= fitting
    assert page.problems() == []


def test_columns_are_sorted_and_the_address_keeps_it(page, report):
    column = "[...document.querySelectorAll('#t-end-to-end tbody tr')].map(row => +row.cells[4].dataset.v)"
    own = page.evaluate(column)
    click = "document.querySelector('#t-end-to-end .sort[data-column=\"4\"]').click()"
    page.evaluate(click)
    assert page.evaluate(column) == sorted(own, reverse=True)
    page.evaluate(click)
    assert page.evaluate(column) == sorted(own)
    assert (
        page.evaluate(
            "document.querySelector('#t-end-to-end [aria-sort]').getAttribute('aria-sort')"
        )
        == "ascending"
    )
    assert "sort=t-end-to-end.4.a" in page.evaluate("location.hash")
    page.reload()
    assert page.evaluate(column) == sorted(own)
    page.evaluate(click)
    assert page.evaluate(column) == own
    assert "sort" not in page.evaluate("location.hash")


def test_arrows_move_inside_a_table_that_is_one_stop_of_the_tab_key(page):
    unfold_tables(page)
    page.evaluate("document.querySelector('#t-type-f1 [data-column=\"0\"]').focus()")
    page.press("ArrowRight", "ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "F1"
    page.press("ArrowDown")
    assert page.evaluate("document.activeElement.tagName") == "A"
    page.press("Tab")
    assert not page.evaluate("document.activeElement.closest('table')")


def test_a_table_is_copied(page):
    page.call(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    page.evaluate("document.querySelector('#t-type-f1 .copy[data-form=LaTeX]').click()")
    page.rest(200)
    assert (
        page.evaluate("document.getElementById('said').textContent")
        == "The table is copied as LaTeX."
    )
    assert page.problems() == []


def test_plots_are_drawn_in_the_colours_of_the_page(page):
    unfold_tables(page)
    page.evaluate("document.querySelector('#t-type-f1 .chart').scrollIntoView()")
    fill = "document.querySelector('#t-type-f1 .chart .role-axis text').getAttribute('fill')"
    colours = []
    for scheme in ("light", "dark"):
        page.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        page.rest(800)
        colours.append(page.evaluate(fill))
        assert colours[-1] == page.evaluate(
            "getComputedStyle(document.documentElement).getPropertyValue('--ink')"
        )
    assert colours[0] != colours[1]
    page.evaluate("document.querySelector('#p0-training-curves').scrollIntoView()")
    page.rest(800)
    titles = "[...document.querySelectorAll('#p0-training-curves .role-title-text text')].map(one => one.textContent)"
    assert page.evaluate(titles) == ["Demo: training loss", "Demo: validation F1"]
    label = fill.replace("#t-type-f1 .chart", "#p0-training-curves .chart")
    assert page.evaluate(label) == colours[-1]  # dark, too
    point = "document.querySelector('#t-type-f1 .chart .mark-symbol.role-mark path')"
    page.evaluate(f"{point}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    assert page.evaluate("location.hash").startswith("#sentences?set=demo%2Foriginal&system=casrel")
    assert page.problems() == []


def test_untrusted_text_and_characters_beyond_the_first_plane_are_shown_as_they_are(page):
    open_sentences(page)
    text = page.evaluate("document.querySelector('.sentence .text').textContent")
    assert text.startswith(f"\N{GRINNING FACE} {EVIL} ")
    names = "[...document.querySelectorAll('.sentence:first-child .triple b')]"
    gold = page.evaluate(f"{names}.map(one => one.textContent)")
    assert gold and all(part in text for part in gold)
    assert page.evaluate("document.title") == "small – tripleaudit report"
    page.evaluate("document.querySelector('.triple').click()")
    assert page.evaluate("document.querySelectorAll('mark.lit').length") > 0
    assert page.problems() == []


def test_a_word_longer_than_a_phone_is_wide_breaks(page):
    """Commits, digests and addresses have no blank, and how wide their digits are depends on the
    font.
    """
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    elements = "document.querySelectorAll('p, li, h1, h2, h3, figcaption')"
    page.evaluate(f"{elements}.forEach(one => one.append('m'.repeat(90)))")
    assert page.evaluate(TOO_WIDE) == 0


def test_every_row_of_a_table_stands_under_its_columns(page):
    groups = page.evaluate("document.querySelectorAll('#t-end-to-end tbody tr.first').length")
    shown = page.evaluate(
        "[...document.querySelectorAll('tr')].map(one => getComputedStyle(one).display)"
    )
    assert groups and set(shown) == {"table-row"}


@pytest.mark.parametrize(
    ("media", "width"), [("screen", 1440), ("screen", 800), ("screen", 390), ("print", 660)]
)
def test_nothing_is_wider_than_the_page(page, media, width):
    page.call("Emulation.setEmulatedMedia", media=media)
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    assert page.evaluate(TOO_WIDE) == 0
    page.evaluate(
        "dispatchEvent(new Event('beforeprint')); new Promise(done => setTimeout(done, 500))"
    )
    assert page.evaluate(TOO_WIDE) == 0
    shown = "[...document.querySelectorAll('nav, .filters, .pager button')].filter(one => one.checkVisibility()).length"
    assert (page.evaluate(shown) == 0) == (media == "print")
    views = "[...document.querySelectorAll('.view')].filter(one => one.checkVisibility()).length"
    assert page.evaluate(views) == (3 if media == "print" else 1)
    if media == "print":  # nothing to scroll on paper: every table fits
        over = "filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.innerText.slice(0, 80))"
        assert page.evaluate(f"[...document.querySelectorAll('.ta-table, .scroll')].{over}") == []


def test_pictures_for_the_documentation(page, tmp_path):
    for path in take_pictures(page, tmp_path):
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG")
        assert (int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")) == (
            1400,
            1000,
        )
        assert (
            40_000 < len(content) < 400_000
        )  # something is there, and it is small enough to be kept
    assert page.evaluate("document.querySelectorAll('mark.lit').length") > 0
    assert page.problems() == []
