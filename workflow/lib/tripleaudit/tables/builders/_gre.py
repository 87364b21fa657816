"""What the GenRES tables share: systems as rows, ground truth first, and where the paper reports a value.

The protocol of a GREScore row is ``gre-LEVEL-SETTING`` and its matching the mode of scoring (``default`` or
``official``); the corpus is the data set and the extractor the system.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from tripleaudit.tables import labels, reported
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell

DATASETS = {
    "tacred": "TACRED",
    "wiki80": "Wiki80",
    "nyt10m": "NYT10m",
    "wiki20m": "Wiki20m",
    "cdr": "CDR",
    "docred": "DocRED",
}
GROUND_TRUTH = "groundtruth"
MODELS = {
    GROUND_TRUTH: "Ground truth",
    "vicuna-1.5-7b": "Vicuna-1.5-7B",
    "vicuna-1.3-33b": "Vicuna-1.3-33B",
    "llama-2-7b": "LLaMA-2-7B",
    "llama-2-70b": "LLaMA-2-70B",
    "wizardlm-70b": "WizardLM-70B",
    "text-davinci-003": "text-davinci-003",
    "gpt-3.5-turbo-instruct": "GPT-3.5-Turbo-Instruct",
    "gpt-3.5-turbo-1106": "GPT-3.5-Turbo",
    "gpt-4": "GPT-4",
    "gpt-4-1106-preview": "GPT-4-Turbo",
    "mistral": "Mistral-7B-Instruct",
    "zephyr-7b-beta": "Zephyr-7B-beta",
    "galactica-30b": "Galactica-30B",
    "openchat": "OpenChat-3.5",
    # The published closed and semi-open runs are of one model under two names.
    "gpt-3.5_closed": "GPT-3.5-Turbo-Instruct",
    "gpt-3.5_semi": "GPT-3.5-Turbo-Instruct",
}
TABLES = {"document": "2", "bag": "3", "sentence": "4"}
SETTINGS = {"gold": "Ground truth", "closed": "Closed", "semi-open": "Semi-open", "open": "Open", "trained": "Trained"}


class Metric(NamedTuple):
    """A column: its label and the paper's name for it, the metric, its scale and decimals."""

    label: str
    metric: str
    scale: float = 100
    digits: int = 1
    paper: str = ""


SIZES = (Metric("#tri", "ntri", 1, 1, "#tri"), Metric("#tok", "ntok", 1, 1, "#tok"))
SCORES = tuple(Metric(name, name.lower(), paper=name) for name in ("TS", "US", "FS", "GS", "CS"))
COVERAGE = Metric("Cov.", "coverage")
ANSWERS = (Metric("Fail.", "parse_failures"), Metric("Ref.", "refusals"))


def dataset(name: str) -> str:
    """Return the label of a data set: the paper's, else that of a corpus."""
    return DATASETS.get(name) or labels.corpus(name)


def parts(run: RunKey) -> tuple[str, str]:
    """Return (level, setting) of a run, empty strings if it has no GREScores."""
    kind, _, rest = run.protocol.partition("-")
    level, _, setting = rest.partition("-")
    return (level, setting) if kind == "gre" else ("", "")


def runs_of(inputs: TableInputs, level: str | None = None) -> list[RunKey]:
    """Return the runs of one level, or of all, in the order of the scores file."""
    return [run for run in inputs.scores.runs if parts(run)[0] and level in (None, parts(run)[0])]


def system_order(run: RunKey) -> tuple:
    """Sort key: ground truth, language models in the paper's order, others, trained extractors."""
    setting = parts(run)[1]
    rank = list(MODELS).index(run.extractor) if run.extractor in MODELS else len(MODELS)
    return (
        list(SETTINGS).index(setting) if setting == "trained" else 0,
        rank,
        run.extractor,
        run.noise != "none",
        run.training,
    )


def label_of(run: RunKey, with_setting: bool = True) -> str:
    """Return the name of a system, with its setting unless that is open, gold or trained."""
    setting = parts(run)[1]
    if setting == "trained":
        return labels.extractor(run.extractor, run.noise) + (f" ({run.training.upper()})" if run.training else "")
    name = MODELS.get(run.extractor, run.extractor)
    return f"{name} ({setting})" if with_setting and setting in ("closed", "semi-open") else name


def mode_of(inputs: TableInputs, runs: Iterable[RunKey]) -> str:
    """Return the mode that the runs are scored in; the official one if there are both."""
    modes = set().union(*(inputs.scores.matchings(run) for run in runs)) if runs else set()
    return "official" if "official" in modes else "default"


def cell_of(inputs: TableInputs, run: RunKey | None, metric: Metric, mode: str) -> Cell:
    """Return a measured cell, a gap without a run."""
    digits = inputs.digits(metric.digits)
    if run is None:
        return Cell(digits=digits)
    return inputs.scores.cell(run, metric.metric, matching=mode, scale=metric.scale, digits=digits)


def reported_value(run: RunKey, metric: Metric) -> str | None:
    """Return what tables 2 to 4 of GenRES print for a system, None where they print nothing."""
    level, setting = parts(run)
    name, dataset = MODELS.get(run.extractor), DATASETS.get(run.corpus)
    if name is None or dataset is None or not metric.paper or setting not in ("open", "gold"):
        return None
    where = f"{'gold triples' if setting == 'gold' else 'open'}, {level} level"
    return _printed(TABLES[level], dataset, where, name, metric.paper)


def reported_strategy(run: RunKey, metric: Metric) -> str | None:
    """Return what table 1 of GenRES (closed, semi-open, open, ground truth) prints, None where it prints nothing."""
    name, dataset = MODELS.get(run.extractor), DATASETS.get(run.corpus)
    setting = {"gold": "ground truth"}.get(parts(run)[1], parts(run)[1])
    if name is None or dataset is None or not metric.paper:
        return None
    return _printed("1", dataset, setting, name, metric.paper)


def _printed(table: str, dataset: str, setting: str, model: str, metric: str) -> str | None:
    values = reported.values("genres")
    for variant in ("", "corrected digit", "full paper only"):
        value = values.get((table, dataset, setting, model, variant, metric))
        if value is not None:
            return value
    return None


def measured_or_reported(cell: Cell, value: str | None) -> Cell:
    """Put a reported value beside a measured one."""
    return replace(cell, reported=value)


MODE_NOTES = {
    "default": (
        "Default rules: a text without triples scores 0 in TS and CS and is left out of US, FS and GS, so read every "
        "score with its coverage (Cov.: texts with at least one triple)."
    ),
    "official": (
        "Published rules: a text without triples counts as 0 in FS and CS and as fully unique (US), and is left out of "
        "GS and of hard matching, so read every score with its coverage (Cov.: texts with at least one triple)."
    ),
}
SCORES_NOTE = (
    "TS topical similarity, US uniqueness, FS factualness, GS granularity, CS completeness (all in %); #tri triples "
    "per text, #tok tokens per triple. US and CS depend on the embedder and its threshold: the paper's are "
    "text-embedding-ada-002 at 0.95. TS depends on the topic model: compare within one study only."
)
ANSWERS_NOTE = (
    "Fail.: share of answers that could not be read or were cut off (their complete triples count all the same); Ref.: "
    "share of refusals."
)


def notes_of(cells: Iterable[Cell], *first: str) -> tuple[str, ...]:
    """Return the given notes and those that the cells call for."""
    cells = list(cells)
    found = [note for note in first if note]
    if any(cell.low is not None for cell in cells):
        found.append("[low, high] is the 95 % percentile bootstrap interval over texts.")
    if any(cell.seeds > 1 for cell in cells):
        found.append("Several runs of a system: mean ± sample standard deviation.")
    if any(cell.reported is not None for cell in cells):
        found.append("“reported” is the value that the paper prints; Δ is measured minus reported.")
    if any(cell.value is None for cell in cells):
        found.append("–: not measured.")
    return tuple(found)
