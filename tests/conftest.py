"""Fixtures shared by all tests: the project's root, real data where it is at hand, and small encoders."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The top level of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real corpora: ``TRIPLEAUDIT_DATA`` or ``../shared/data``; skips where it is absent."""
    folder = Path(os.environ.get("TRIPLEAUDIT_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "webnlg").is_dir():
        pytest.skip(f"no real corpora at {folder}; set TRIPLEAUDIT_DATA to run this test")
    return folder
