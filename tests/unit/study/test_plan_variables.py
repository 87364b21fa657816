"""Environment variables that a study needs: named before anything runs, never their values."""

from types import SimpleNamespace

import pytest
import yaml

from tripleaudit.commands.validate import summary
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json
from tripleaudit.llm.store import Store
from tripleaudit.study.study import Study
from tripleaudit.study.variables import refuse_without, to_set

URL = "http://127.0.0.1:9/v1"
KEY, HEADER, OTHER = "PLAN_TEST_KEY", "PLAN_TEST_HEADER", "PLAN_TEST_SERVICE"
CONFIG = yaml.safe_load(f"""
study: s
corpora: {{webnlg: }}
systems:
  far: {{address: "http://127.0.0.1:9/x", headers: {{Authorization: "env:{OTHER}", X-Title: plain}}}}
  lm: {{endpoint: paid}}
  near: {{command: python -}}
generative:
  endpoints:
    paid: {{base_url: "{URL}", model: m, api_key_env: {KEY}, headers: {{api-key: "env:{HEADER}"}}}}
    free: {{base_url: "{URL}", model: m}}
  datasets: {{d: {{corpus: webnlg}}}}
  systems: {{open: {{endpoint: paid}}, gratis: {{endpoint: free}}}}
grescores:
  judge: {{endpoint: paid}}
  embedder: {{endpoint: paid}}
  datasets: {{g: {{level: sentence, generative: d}}}}
needles: {{documents: [README.md], models: [paid], schema: paper}}
collections: {{news: {{files: [news.txt], extractor: far, gate: , corpus: webnlg}}}}
""")


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("README.md", "news.txt"):
        (tmp_path / name).write_text("Words.\n", encoding="utf-8")
    for name in (KEY, HEADER, OTHER):
        monkeypatch.delenv(name, raising=False)
    return Study(CONFIG)


def refused(study, cache, rule: str, **wildcards) -> tuple[list[str], list[str]]:
    """Locations that are refused, and those that are only named."""
    notes: list[str] = []
    try:
        notes += refuse_without(study, [(rule, SimpleNamespace(**wildcards))], cache)
    except UserError as error:
        return [
            line.partition(": ")[0].removeprefix("- ") for line in str(error).splitlines()[1:]
        ], notes
    return [], [note.partition(": ")[0] for note in notes]


def test_what_is_to_be_set_is_named_with_its_location_and_without_its_value(study, monkeypatch):
    place = "generative/endpoints/paid"
    expected = f"{HEADER} ({place}/headers/api-key), {KEY} ({place}/api_key_env), {OTHER} (systems/far/headers/"
    assert to_set(study) == f"environment variables to set first: {expected}Authorization)"
    assert to_set(study) in [*summary(study)]
    assert (study.language_models.missing_keys(), study.language_models.keys_present()) == (
        [HEADER, KEY],
        [],
    )
    for name in (KEY, HEADER, OTHER):
        monkeypatch.setenv(name, "hush")
    assert to_set(study) == "" and study.language_models.keys_present() == [HEADER, KEY]
    monkeypatch.setenv(KEY, " ")  # holds nothing that could be a key
    assert to_set(study) == f"environment variables to set first: {KEY} ({place}/api_key_env)"
    assert "hush" not in "".join(summary(study))


@pytest.mark.parametrize(
    ("rule", "wildcards"),
    [
        ("generate", {"system": "open"}),
        ("judge_triples", {"judge": "paid"}),
        ("score_triples", {}),
        ("extract_needles", {"lm": "paid"}),
        ("predict_system", {"extractor": "lm"}),
    ],
)
def test_a_job_that_queries_a_language_model_needs_its_key_or_stored_answers(
    study, tmp_path, rule, wildcards
):
    places = ["generative/endpoints/paid/api_key_env", "generative/endpoints/paid/headers/api-key"]
    assert refused(study, tmp_path / "none", rule, **wildcards) == (places, [])
    Store(tmp_path / "cache").settle("ab12", 0.0, {})
    assert refused(study, tmp_path / "cache", rule, **wildcards) == ([], places)


def test_a_service_is_queried_again_and_others_need_nothing(study, tmp_path):
    write_json(tmp_path / "cache/ab/ab12.json", {"key": "ab12"})  # as version 0.3 stored answers
    place = ["systems/far/headers/Authorization"]
    assert refused(study, tmp_path / "cache", "query_system", extractor="far") == (place, [])
    assert refused(study, tmp_path / "cache", "extract_collection", collection="news") == (
        place,
        [],
    )
    for rule, wildcards in (
        ("predict_system", {"extractor": "near"}),
        ("generate", {"system": "gratis"}),
        ("make_needles", {}),
        ("train", {"extractor": "far"}),
    ):
        assert refused(study, tmp_path / "none", rule, **wildcards) == ([], [])
