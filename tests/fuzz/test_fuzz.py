"""Bad inputs before the commands: each ends with its exit status and one sentence; what is accepted
is counted right.

A sample of them; ``make fuzz`` runs all, or others by another seed.
"""

import importlib
import os
import pkgutil
import random

import pytest

import tripleaudit
from tripleaudit.core import plugins

from . import corpora, options, studies
from .running import wrong

pytestmark = pytest.mark.thorough

EVERY = int(os.environ.get("FUZZ_EVERY", "17"))
RANDOM = random.Random(int(os.environ.get("FUZZ_SEED", "3")))
CASES = [case for module in (corpora, options, studies) for case in module.cases(RANDOM)]


@pytest.fixture(scope="module", autouse=True)
def preloaded(tmp_path_factory):
    """Import what the commands import when they run, so that the processes of the cases need not
    do it again.
    """
    for info in pkgutil.walk_packages(tripleaudit.__path__, "tripleaudit."):
        if not info.name.endswith(
            ("__main__", "inspect_task")
        ):  # of an extra with its own environment
            importlib.import_module(info.name)
    for name in ("pyarrow.parquet", "sentence_transformers", "spacy", "datasets"):
        importlib.import_module(name)
    for registry in plugins.registries():
        len(registry)
    studies.MODEL.append(studies.tiny_model(tmp_path_factory.mktemp("model")))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case.name[:80])
def test_a_bad_input_ends_with_one_sentence(case, tmp_path):
    tmp_path.chmod(0o755)
    assert wrong(case, tmp_path / "case") == ""


def test_no_case_stands_twice():
    assert len(CASES) > 400 and len({case.name for case in CASES}) == len(CASES)
