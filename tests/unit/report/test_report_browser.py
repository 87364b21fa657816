"""The report in a real browser: no errors, nothing loaded, filters and triples reached by the keyboard alone."""

import pytest

from support.chromium import binary, browser
from support.pictures import take_pictures
from support.report_study import EVIL, write_finished_study
from tripleaudit.report.inputs import StudyFacts, find_files
from tripleaudit.report.make import make_report

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("report"),
    pytest.mark.skipif(binary() is None, reason="no chromium or chrome binary on the path"),
]

STATUS = "document.getElementById('browser-status').textContent"
FOCUS = "document.activeElement.id || document.activeElement.className"
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


def test_the_report_works_by_keyboard_without_errors(page, report):
    assert page.evaluate("document.title") == "small – tripleaudit report"
    assert page.evaluate(STATUS) == "Sentences 1 to 15 of 90 that fit (90 in all)"
    page.press("Tab")
    assert page.evaluate(FOCUS) == "skip"

    tab_to(page, "filter-text")
    page.press("Ulmstadt")
    texts = page.evaluate("[...document.querySelectorAll('.sentence .text')].map(line => line.textContent)")
    assert texts
    assert all("Ulmstadt" in text for text in texts)
    page.evaluate("document.getElementById('filters').reset()")

    tab_to(page, "filter-stratum")
    page.press("End")  # the last stratum on the list: sentences with zero triples
    assert page.evaluate("document.getElementById('filter-stratum').selectedOptions[0].text") == "Zero triples"
    assert "of 30 that fit" in page.evaluate(STATUS)
    metas = page.evaluate("[...document.querySelectorAll('.sentence .meta')].map(line => line.textContent)")
    assert metas
    assert all(meta.endswith("Zero triples") for meta in metas)

    tab_to(page, "filter-kind")
    page.press("ArrowDown", "ArrowDown")  # any error, then: missed
    assert page.evaluate("document.getElementById('filter-kind').value") == "missed"
    assert page.evaluate(STATUS) == "No sentence fits (90 in all)"
    page.press("ArrowDown")  # triples on sentences without any
    assert page.evaluate(SHOWN) > 0
    assert page.evaluate("document.querySelector('#sentences .badge').textContent") == "✗ wrong"

    page.press("Tab", "Enter")  # clear filters
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    assert page.evaluate(STATUS) == "Sentences 1 to 15 of 90 that fit (90 in all)"
    tab_to(page, "next-page")
    page.press("Enter")
    assert page.evaluate(STATUS).startswith("Sentences 16 to 30")

    tab_to(page, "triple")
    lit = page.evaluate("[...document.querySelectorAll('mark.lit')].map(piece => piece.textContent).join('|')")
    words = page.evaluate("[...document.activeElement.querySelectorAll('b')].map(one => one.textContent)")
    assert lit
    assert all(part in "".join(words) for part in lit.split("|"))

    assert page.problems() == []
    assert page.requests() == [report.resolve().as_uri()]


def test_untrusted_text_and_characters_beyond_the_first_plane_are_shown_as_they_are(page):
    text = page.evaluate("document.querySelector('.sentence .text').textContent")
    assert text.startswith(f"\N{GRINNING FACE} {EVIL} ")
    gold = page.evaluate(
        "[...document.querySelectorAll('.sentence:first-child .triple b')].map(one => one.textContent)"
    )
    assert gold
    assert all(part in text for part in gold)
    assert page.evaluate("document.title") == "small – tripleaudit report"
    page.evaluate("document.querySelector('.triple').click()")
    assert page.evaluate("document.querySelectorAll('mark.lit').length") > 0
    assert page.problems() == []


def test_filters_by_extractor_and_relation_hold_together(page):
    choose = "(id, label) => { const s = document.getElementById(id);"
    choose += "s.value = [...s.options].find(o => o.text.startsWith(label)).value;"
    choose += "document.getElementById('filters').dispatchEvent(new Event('input')) }"
    page.evaluate(f"({choose})('filter-system', 'CasRel+EN')")
    page.evaluate(f"({choose})('filter-relation', 'founded_in')")
    systems = page.evaluate("[...document.querySelectorAll('.sentence .system')].map(one => one.textContent)")
    assert systems
    assert set(systems) == {"CasRel+EN (trained on NZ)"}
    relations = page.evaluate("[...document.querySelectorAll('.sentence')].map(one => one.textContent)")
    assert all("founded_in" in text for text in relations)


@pytest.mark.parametrize(("media", "width"), [("screen", 1400), ("screen", 600), ("print", 660)])
def test_nothing_is_wider_than_the_page(page, media, width):
    page.call("Emulation.setEmulatedMedia", media=media)
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
    hidden = "[...document.querySelectorAll('nav, .filters, .pager button')].filter(one => one.offsetParent).length"
    assert (page.evaluate(hidden) == 0) == (media == "print")
    if media == "print":  # nothing to scroll on paper: every table fits
        over = (
            "[...document.querySelectorAll('.ta-table, .scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)"
        )
        assert page.evaluate(f"{over}.map(one => one.innerText.slice(0, 80))") == []


def test_pictures_for_the_documentation(page, tmp_path):
    for path in take_pictures(page, tmp_path):
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG")
        assert (int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")) == (1400, 1000)
        assert 40_000 < len(content) < 400_000  # something is there, and it is small enough to be kept
    assert page.evaluate("document.querySelectorAll('mark.lit').length") > 0
    assert page.problems() == []
