import pytest

from tripleaudit.cli import main
from tripleaudit.collection.cost import parts_table, rates, size_table, ungated, worth
from tripleaudit.errors import UserError
from tripleaudit.files import write_json


def measured(**changes):
    return {
        "counts": {"sentences": 1000, "let_through": 250},
        "seconds": {"start": 8.0, "all": 4.0, "other": 1.0, "tokenisation": 0.5, "gate": 0.5, "extraction": 2.0},
        "shards": [{}, {}],
        "bytes": 50_000,
        "peak_mb": 400.0,
        **changes,
    }


def test_hours_add_up():
    found = rates(measured())
    assert found.sentence == pytest.approx(0.004)  # 4 s for 1000 sentences
    assert found.extraction == pytest.approx(0.008)  # 2 s for 250 sentences
    assert found.hours(3600, 1000) == pytest.approx((3600 * 0.004 + 4 * 4.0) / 3600)
    without = ungated(found)
    assert without.sentence == pytest.approx(0.001 + 0.0005 + 0.008)
    faster = found.faster(10)
    assert faster.sentence == pytest.approx(0.0015 + 0.00025)
    assert faster.other == found.other


def test_tables_and_the_worth_of_the_gate():
    found = rates(measured())
    assert "| **all** | 4000 | 9500 |" in parts_table({"with": found, "without": ungated(found)})
    row = size_table(found, ungated(found), [1e6], 100_000, [10]).splitlines()[-1]
    assert row == "| 1,000,000 | 10 | 0.1 | 1.12 | 2.65 | 0.50 | 0.65 |"
    assert worth(found, ungated(found)) == (
        "The models take 2500 µs a sentence with the gate and 8000 µs without: the gate saves 69 % there. "
        "It saves time where it lets through less than 94 % of the sentences."
    )


def test_a_gate_as_dear_as_the_extractor_saves_nothing():
    equal = rates(
        measured(seconds={"start": 1.0, "all": 13.0, "other": 1.0, "tokenisation": 0, "gate": 8, "extraction": 2.0})
    )
    assert worth(equal, ungated(equal)).endswith(
        "the gate adds 25 % there. It costs as much as the extractor: only a gate with a smaller encoder can save time."
    )


def test_the_command_reads_the_lists_of_shards(tmp_path, capsys):
    write_json(tmp_path / "gated.json", measured())
    write_json(tmp_path / "other.json", {"shards": []})
    assert main(["collection", "cost", "--measured", str(tmp_path / "gated.json"), "--sentences", "1e9"]) == 0
    assert "| 1,000,000,000 | 10,000 |" in capsys.readouterr().out
    assert main(["collection", "cost", "--measured", str(tmp_path / "gated.json"), "--share", "1"]) == 0
    assert "| share let through | 100.0 % |" in capsys.readouterr().out
    assert main(["collection", "cost", "--measured", str(tmp_path / "other.json")]) == 1
    assert "not the list of shards of a collection" in capsys.readouterr().err


def test_nothing_measured_is_said():
    with pytest.raises(UserError, match="no sentences"):
        rates(measured(counts={"sentences": 0, "let_through": 0}))
