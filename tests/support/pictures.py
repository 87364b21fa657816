"""Pictures of a report for the documentation, taken by the browser that the tests use.

``PYTHONPATH=tests python -m support.pictures results/demo/report.html docs`` writes ``report.png``
(its beginning, light) and ``report-errors.png`` (sentences with a kind of error, dark) into the
given folder.
"""

import sys
import tempfile
from pathlib import Path

from support.chromium import Page, browser


def take_pictures(page: Page, folder: Path) -> list[Path]:
    """Write two PNG files of the report that the page shows, and return their paths: light
    above, dark below.
    """
    paths = [folder / "report.png", folder / "report-errors.png"]
    page.evaluate("document.querySelector('.bar a[href=\"#overview\"]').click(); scrollTo(0, 0)")
    for scheme, path in zip(("light", "dark"), paths, strict=True):
        page.screenshot(
            path, height=1000, scheme=scheme
        )  # sets the window's size, so that plots are drawn for it
        if scheme == "dark":
            links = "[...document.querySelectorAll('.counts a')]"
            page.evaluate(
                f"{links}.find(one => one.textContent !== '0').click();"
                "document.querySelector('.badge.wrong').closest('button').click()"
            )
        page.rest(1000)
        page.screenshot(path, height=1000, scheme=scheme)
    return paths


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder)) as opened:
        opened.open(Path(sys.argv[1]))
        for path in take_pictures(opened, Path(sys.argv[2])):
            print(path, path.stat().st_size)
        assert opened.problems() == []
