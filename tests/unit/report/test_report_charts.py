"""Which systems the plot of the report's first screen draws."""

from tripleaudit.report.charts import by_stratum
from tripleaudit.tables.cells import Cell, Column, Row, Table, subject

STRATA = ("all", "entirely_seen", "unseen")


def table(scores: dict[str, float]) -> Table:
    def cells(name: str, value: float) -> list[Cell]:
        run = {
            "corpus": "c",
            "protocol": "original",
            "training": "nz",
            "testing": "nz",
            "extractor": name,
        }
        keys = [
            subject({**run, "noise": "none"}, stratum, "exact-string", "f1") for stratum in STRATA
        ]
        return [
            Cell(value, low=value - 1, high=value + 1, of=of, cases=100, full=100) for of in keys
        ]

    rows = [Row(name, cells(name, value)) for name, value in scores.items()]
    return Table("type-f1", "", [Column(stratum) for stratum in STRATA], rows)


def drawn(of: Table) -> list[str]:
    return list(dict.fromkeys(point["series"] for point in by_stratum(of)["data"]["values"]))


def test_of_many_systems_those_with_the_greatest_f1_are_drawn() -> None:
    scores = {f"system{number:02d}": float(number) for number in range(1, 14)}
    shown = drawn(table(scores))
    assert shown == [f"system{number:02d}" for number in range(7, 14)]


def test_a_few_systems_are_all_drawn_in_the_order_of_the_table() -> None:
    assert drawn(table({"b": 10.0, "a": 20.0})) == ["b", "a"]
