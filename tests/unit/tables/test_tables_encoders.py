"""The encoder behind measured values in tables, and the papers' values of trainings under other
names.
"""

import pytest

from support.scored import Results
from tripleaudit.core.files import read_json
from tripleaudit.systems.facts import training_fact
from tripleaudit.tables.building import build_table

MPNET = {"name": "mpnet-base", "layers": 12, "parameters": 108_895_872}


@pytest.fixture
def stored(tmp_path):
    """Tables of a system with stored predictions whose training was one of CasRel on another
    encoder.
    """

    def build(name: str, **training):
        results = Results(tmp_path)
        results.run("mine", quality=0.7)
        keys = {
            "corpus": "webnlg",
            "protocol": "original",
            "training": "nz",
            "extractor": "mine",
            "noise": "none",
        }
        came = {"flat": True, "slope": 0.001, "error": 0.0, "best_step": 9, "last_step": 10}
        results.fact(
            keys=keys,
            device="cpu",
            convergence=came,
            encoder=MPNET,
            layout="exclusive",
            **{"extractor": "casrel", **training},
        )
        return build_table(name, results.inputs())

    return build


def test_a_stored_training_of_any_name_is_compared_with_the_value_of_its_extractor(stored) -> None:
    assert stored("type-f1").cell("mine", "F1").reported == "88.3"
    assert stored("type-f1", noise_probability=0.05).cell("mine", "F1").reported != "88.3"


def test_a_table_with_reported_values_names_the_encoder_of_the_measured_ones(stored) -> None:
    (note,) = (note for note in stored("type-f1").notes if "BERT-base" in note)
    assert "mpnet-base (12 layers, 108.9 million parameters): mine" in note
    (note,) = (note for note in stored("type-f1").notes if "Layout" in note)
    assert "exclusive: mine" in note


def test_the_table_of_trainings_has_the_encoder_and_the_sentences_that_are_never_noised(
    stored,
) -> None:
    counts = {
        "sentences": 5019,
        "zero": 0,
        "noise_nested": 607,
        "triples": 200,
        "lost_triples": 7,
        "unwritable_triples": 2,
    }
    table = stored("trainings", counts=counts, noise_probability=0.05)
    assert table.cell("mine", "Encoder").shown == "mpnet-base (12 layers, 108.9 million parameters)"
    assert table.cell("mine", "Layout").shown == "exclusive"
    assert table.cell("mine", "Lost").shown == "4.5"
    assert any("607 of 5019" in note and "0.0440" in note for note in table.notes)


def test_a_classifier_has_no_layout_and_loses_no_triples(stored) -> None:
    counts = {"triples": 200, "lost_triples": 7, "unwritable_triples": 2}
    table = stored("trainings", counts=counts, extractor="zcc-binary")
    assert table.cell("mine", "Encoder").shown.startswith("mpnet-base")
    for column in ("Layout", "Lost"):
        cell = table.cell("mine", column)
        assert cell.value is None and not cell.text
    (note,) = (note for note in table.notes if note.startswith("Lost:"))
    assert "not counted here (docs/explanation/differences.md" in note


def test_shipped_trainings_name_their_encoder(root) -> None:
    encoders = set()
    for path in (root / "resources" / "trainings").glob("*/*/provenance.json"):
        fact = training_fact(path, {})
        assert fact["extractor"] == read_json(path)["extractor"]
        if path.parents[1].name == "webnlg":  # the others were made with today's layouts
            assert fact["layout"] == ("marker" if fact["extractor"] == "onerel" else "subword")
        encoders.add((fact["encoder"]["name"], fact["encoder"]["layers"]))
    assert encoders == {("minilm", 2), ("minilm", 6), ("mpnet-base", 12)}
