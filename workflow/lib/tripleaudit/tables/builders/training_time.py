"""``training-time``: minutes of an epoch on NZ and WZ training sets (zero-cardinality, table 6)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tripleaudit.tables import labels, reported
from tripleaudit.tables.builders.end_to_end import PARTIAL_EXTRACTOR
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Table, about, of_frame
from tripleaudit.tables.grid import LAST_WORDS_ONLY, is_extractor
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

READS = ("data/reported/zero_cardinality.csv",)


CAPTION = "Training time in minutes: of an epoch for extractors, of the whole training for the classifier (ZCC)."
PAPER_NOTE = (
    "The paper measured on an NVIDIA A100; compare the ratio of WZ to NZ (the paper's is that of its two "
    "values)."
)
Times = dict[tuple[str, str, str], list[float]]
"""``(corpus, extractor, training)`` -> minutes of each seed."""


def training_time(study: TableInputs) -> Table:
    """Build from the facts of the trainings on the original protocol, means over seeds.

    Extractors show the minutes of an epoch, classifiers those of the whole training, as in the
    paper; the ratio of WZ to NZ is what can be compared between machines.
    """
    import pandas as pd

    times, devices = _times_and_devices(study.facts.rows)
    corpora = labels.corpora(corpus for corpus, _, _ in times)
    names = labels.ordered({name for _, name, _ in times}, labels.cardinality_order())
    names.sort(key=lambda name: not is_extractor(name))
    # the paper timed PFN on the last words of entities
    without_paper = PARTIAL_EXTRACTOR if LAST_WORDS_ONLY in names else ""
    rows = []
    for name in names:
        cells: list[Cell] = []
        for corpus in corpora:
            nz, wz = (
                _time_cell(times, (corpus, name, setting), study.digits(2), name != without_paper)
                for setting in labels.SETTINGS
            )
            if is_extractor(name):
                cells += [nz, wz, _ratio(nz, wz)]
            else:
                cells += [Cell(text=""), wz, Cell(text="")]
        rows.append(cells)
    headings = (*labels.SETTINGS.values(), "WZ / NZ")
    columns = [(labels.corpus(corpus), heading) for corpus in corpora for heading in headings]
    frame = pd.DataFrame(
        rows,
        index=pd.Index([labels.extractor(name) for name in names], name="Model"),
        columns=pd.MultiIndex.from_tuples(columns, names=["corpus", "setting"]),
    )
    cells = [cell for row in rows for cell in row]
    return of_frame(frame, CAPTION, _notes(cells, devices))


def _times_and_devices(facts: Iterable[Mapping[str, Any]]) -> tuple[Times, list[str]]:
    """Return minutes of trainings without noise on the original protocol, and their devices."""
    times: Times = defaultdict(list)
    devices = set()
    for fact in facts:
        keys = fact.get("keys", {})
        if keys.get("protocol") != "original" or keys.get("noise", "none") != "none":
            continue
        seconds = fact.get("seconds_per_epoch" if is_extractor(keys["extractor"]) else "seconds")
        if seconds is not None:
            times[keys["corpus"], keys["extractor"], keys["training"]].append(seconds / 60)
            devices.add(fact.get("device"))
    return times, sorted(labels.device(device) for device in devices if device)


def _time_cell(times: Times, key: tuple[str, str, str], digits: int, has_paper: bool) -> Cell:
    corpus, name, setting = key
    minutes = times.get(key, [])
    subject = about(corpus, "original", testing="")
    return Cell.mean(
        minutes,
        scale=1,
        digits=digits,
        seeds=len(minutes),
        reported=_paper_time(corpus, name, setting) if has_paper else None,
        of={**subject, "training": setting, "extractor": name},
    )


def _notes(cells: Sequence[Cell], devices: Sequence[str]) -> list[str]:
    notes = []
    if devices:
        notes.append(f"Measured on {', '.join(devices)}.")
    if any(cell.reported for cell in cells):
        notes.append(PAPER_NOTE)
    seeds = max((cell.seeds for cell in cells), default=0)
    if seeds > 1:
        notes.append(f"Means over {seeds} seeds ± sample standard deviations.")
    return [*notes, REPORTED, GAPS]


def _ratio(nz: Cell, wz: Cell) -> Cell:
    value, paper = None, None
    if nz.value and wz.value is not None:
        value = wz.value / nz.value
    if nz.reported and wz.reported:
        paper = f"{float(wz.reported) / float(nz.reported):.2f}"
    return Cell(value, 2, reported=paper)


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
    overview=(OverviewColumn("minutes", {"column": "NZ"}),),
)
