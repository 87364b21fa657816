"""Pictures of a report for the documentation, taken by the browser that the tests use.

``PYTHONPATH=tests python -m support.pictures results/demo/report.html docs`` writes ``report.png`` (its beginning) and
``report-errors.png`` (the error browser) into the given folder.
"""

import sys
import tempfile
from pathlib import Path

from support.chromium import Page, browser


def take_pictures(page: Page, folder: Path) -> list[Path]:
    """Write two PNG files of the report that the page shows, and return their paths."""
    page.evaluate("scrollTo(0, 0)")
    paths = [folder / "report.png", folder / "report-errors.png"]
    page.screenshot(paths[0], height=1000)
    page.evaluate(
        "document.getElementById('filter-kind').value = 'error';"
        "document.getElementById('filters').dispatchEvent(new Event('input'));"
        "document.getElementById('filters').scrollIntoView({behavior: 'instant'});"
        "document.querySelector('.badge.wrong').closest('button').click()"
    )
    page.screenshot(paths[1], height=1000)
    return paths


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder)) as opened:
        opened.open(Path(sys.argv[1]))
        for path in take_pictures(opened, Path(sys.argv[2])):
            print(path, path.stat().st_size)
        assert opened.problems() == []
