"""LaTeX tables as a paper has them: compiled by pdflatex, where it is installed, and nothing
wider than the page.
"""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

HEAD = "\\documentclass{article}\\usepackage{booktabs,tabularx,adjustbox}\\begin{document}\n"
needs_pdflatex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on this machine"
)


def check_fits(tables: Iterable[str], folder: Path) -> None:
    """Compile the tables into one article; each must fit the page."""
    body = "\\clearpage\n".join(tables)
    (folder / "t.tex").write_text(f"{HEAD}{body}\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-2000:]
    wide = [
        line for line in done.stdout.splitlines() if "Overfull" in line or "Float too large" in line
    ]
    assert wide == []
