import pytest

from tripleaudit.cli import main
from tripleaudit.collection.cost import parts_table, rates, size_table, ungated, worth
from tripleaudit.errors import UserError
from tripleaudit.files import write_json


def measured(**changes):
    return {
        "counts": {"sentences": 1000, "let_through": 250},
        "seconds": {"start": 8.0, "other": 1.0, "tokenisation": 0.5, "gate": 0.5, "extraction": 2.0},
        "bytes": 50_000,
        "peak_mb": 400.0,
        **changes,
    }


def test_hours_add_up():
    found = rates(measured())
    assert found.sentence == pytest.approx(0.004)  # 4 s for 1000 sentences
    assert found.extraction == pytest.approx(0.008)  # 2 s for 250 sentences
    assert found.hours(3600) == pytest.approx((3600 * 0.004 + 8.0) / 3600)
    without = ungated(found)
    assert without.sentence == pytest.approx(0.001 + 0.0005 + 0.008)
    faster = found.on_gpu(1000)  # 1 ms for the gate, 0.25 ms for the quarter that it lets through
    assert faster.sentence == pytest.approx(0.0015 + 0.00125)
    assert faster.other == found.other
    assert faster.feeders() == pytest.approx(0.0015 / 0.00125)
    assert without.on_gpu(1000).models == pytest.approx(0.001)


def test_the_clock_goes_by_the_slower_side():
    found = rates(measured())
    assert found.elapsed(3600) == pytest.approx(0.004 + 8 / 3600)
    assert found.elapsed(3600, workers=2) == pytest.approx(0.002 + 8 / 3600)
    assert found.elapsed(3600, workers=2, cpus=1) == pytest.approx(0.0015 + 8 / 3600)
    assert found.elapsed(3600, workers=2, cpus=2) == pytest.approx(0.00125 + 8 / 3600)


def test_tables_and_the_worth_of_the_gate():
    found = rates(measured())
    assert "| **all** | 4000 | 9500 |" in parts_table({"with": found, "without": ungated(found)})
    row = size_table(found, ungated(found), [1e6], [1000], price=2).splitlines()[-1]
    assert row == "| 1,000,000 | 0.1 | 1.11 | 2.64 | 0.35 | 0.28 | 1.2 | 0.70 |"
    assert worth(found, ungated(found)) == (
        "The models take 2500 µs a sentence with the gate and 8000 µs without: the gate saves 69 % there. "
        "It saves time where it lets through less than 94 % of the sentences."
    )


def test_a_gate_as_dear_as_the_extractor_saves_nothing():
    equal = rates(measured(seconds={"start": 1.0, "other": 1.0, "tokenisation": 0, "gate": 8, "extraction": 2.0}))
    assert worth(equal, ungated(equal)).endswith(
        "the gate adds 25 % there. It costs as much as the extractor: only a gate with a smaller encoder can save time."
    )


def test_the_command_reads_manifests(tmp_path, capsys):
    write_json(tmp_path / "gated.json", measured())
    write_json(tmp_path / "other.json", {"blocks": []})
    assert main(["collection", "cost", "--measured", str(tmp_path / "gated.json"), "--sentences", "1e9"]) == 0
    assert "| 1,000,000,000 | 50.0 |" in capsys.readouterr().out
    assert main(["collection", "cost", "--measured", str(tmp_path / "gated.json"), "--share", "1"]) == 0
    assert "| share let through | 100.0 % |" in capsys.readouterr().out
    assert main(["collection", "cost", "--measured", str(tmp_path / "other.json")]) == 1
    assert "not the manifest of a collection" in capsys.readouterr().err


def test_nothing_measured_is_said():
    with pytest.raises(UserError, match="no sentences"):
        rates(measured(counts={"sentences": 0, "let_through": 0}))
