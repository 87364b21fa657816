"""``training-time``: minutes of an epoch on NZ and WZ training sets (zero-cardinality, table 6)."""

from collections import defaultdict

from tripleaudit.core.descriptors import Headline, TableSpec
from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders.end_to_end import PARTIAL_EXTRACTOR
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Column, Row, Table, about
from tripleaudit.tables.grid import LAST_WORDS_ONLY, is_extractor
from tripleaudit.tables.inputs import TableInputs

READS = ("data/reported/zero_cardinality.csv",)


def training_time(inputs: TableInputs) -> Table:
    """Build from the facts of the trainings on the original protocol, means over seeds.

    Extractors show the minutes of an epoch, classifiers those of the whole training, as in the
    paper; the ratio of WZ to NZ is what can be compared between machines.
    """
    times: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    devices = set()
    for fact in inputs.runs:
        keys = fact.get("keys", {})
        if keys.get("protocol") != "original" or keys.get("noise", "none") != "none":
            continue
        seconds = fact.get("seconds_per_epoch" if is_extractor(keys["extractor"]) else "seconds")
        if seconds is not None:
            times[keys["corpus"], keys["extractor"], keys["training"]].append(seconds / 60)
            devices.add(fact.get("device"))
    corpora = labels.corpora(corpus for corpus, _, _ in times)
    found = {name for _, name, _ in times}
    names = labels.ordered(found, labels.cardinality_order())
    names.sort(key=lambda name: not is_extractor(name))
    # the paper timed PFN on the last words of entities
    unknown = PARTIAL_EXTRACTOR if LAST_WORDS_ONLY in names else ""

    def cell(name: str, corpus: str, setting: str) -> Cell:
        minutes = times.get((corpus, name, setting), [])
        return Cell.mean(
            minutes,
            scale=1,
            digits=inputs.digits(2),
            seeds=len(minutes),
            reported=None if name == unknown else _paper_time(corpus, name, setting),
            of={**about(corpus, "original", testing=""), "training": setting, "extractor": name},
        )

    rows = []
    for name in names:
        cells: list[Cell] = []
        for corpus in corpora:
            nz, wz = (cell(name, corpus, setting) for setting in labels.SETTINGS)
            cells += (
                (nz, wz, _ratio(nz, wz))
                if is_extractor(name)
                else (Cell(text=""), wz, Cell(text=""))
            )
        rows.append(Row(labels.extractor(name), cells))
    every = [cell for row in rows for cell in row.cells]
    seeds = max((cell.seeds for cell in every), default=0)
    named = sorted(labels.device(device) for device in devices if device)
    return inputs.table(
        "Training time in minutes: of an epoch for extractors, of the whole training for the classifier (ZCC).",
        [
            Column(label, labels.corpus(one))
            for one in corpora
            for label in (*labels.SETTINGS.values(), "WZ / NZ")
        ],
        rows,
        ("Model", ""),
        bool(named) and f"Measured on {', '.join(named)}.",
        any(cell.reported for cell in every)
        and "The paper measured on an NVIDIA A100; compare the ratio of WZ to NZ (the paper's is that of its two "
        "values).",
        seeds > 1 and f"Means over {seeds} seeds ± sample standard deviations.",
        REPORTED,
        GAPS,
    )


def _ratio(nz: Cell, wz: Cell) -> Cell:
    paper = (
        f"{float(wz.reported) / float(nz.reported):.2f}" if nz.reported and wz.reported else None
    )
    return Cell(
        wz.value / nz.value if nz.value and wz.value is not None else None, 2, reported=paper
    )


def _paper_time(corpus: str, name: str, setting: str) -> str | None:
    metric = "minutes_per_epoch" if is_extractor(name) else "training_minutes"
    return reported.cardinality(6, corpus, f"train {setting.upper()}", metric, model=name)


TRAINING_TIME = TableSpec(
    name="training-time",
    order=13,
    build=training_time,
    needs="runs",
    possible=lambda study: bool(study.extractors),
    question="How long does a training take, with and without zero-triple sentences?",
    overview=(Headline("minutes", {"column": "NZ"}),),
)
