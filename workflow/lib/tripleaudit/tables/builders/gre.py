"""The tables of GenRES (tables 1 to 4): systems as rows, reported next to measured values.

The protocol of a GREScore row is ``gre-LEVEL-SETTING`` and its matching the mode of scoring
(``default`` or ``official``); the corpus is the data set and the extractor the system.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tripleaudit.scoring.scores import Run, run_keys
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Table, of_frame
from tripleaudit.tables.grid import Keys, make_row, row_frame, row_notes, score_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

if TYPE_CHECKING:
    import pandas as pd

READS = ("data/reported/genres.csv",)

DATASETS = {
    name.lower(): name for name in ("TACRED", "Wiki80", "NYT10m", "Wiki20m", "CDR", "DocRED")
}
GROUND_TRUTH = "groundtruth"
MODELS = {GROUND_TRUTH: "Ground truth"}
MODELS |= {
    name.lower(): name
    for name in (
        "Vicuna-1.5-7B",
        "Vicuna-1.3-33B",
        "LLaMA-2-7B",
        "LLaMA-2-70B",
        "WizardLM-70B",
        "text-davinci-003",
    )
}
MODELS |= {
    "gpt-3.5-turbo-instruct": "GPT-3.5-Turbo-Instruct",
    "gpt-3.5-turbo-1106": "GPT-3.5-Turbo",
    "gpt-4": "GPT-4",
}
MODELS |= {
    "gpt-4-1106-preview": "GPT-4-Turbo",
    "mistral": "Mistral-7B-Instruct",
    "zephyr-7b-beta": "Zephyr-7B-beta",
}
MODELS |= {"galactica-30b": "Galactica-30B", "openchat": "OpenChat-3.5"}
# the published closed and semi-open runs are of one model under two names
MODELS |= dict.fromkeys(("gpt-3.5_closed", "gpt-3.5_semi"), "GPT-3.5-Turbo-Instruct")
TABLES = {"document": "2", "bag": "3", "sentence": "4"}
VARIANTS = ("", "corrected digit", "full paper only")  # of a printed value, the first that there is
OWN = ("system", "trained")  # what answers a corpus's own test set: systems, and extractors
SETTINGS = {
    "gold": "Ground truth",
    "closed": "Closed",
    "semi-open": "Semi-open",
    "open": "Open",
    "system": "Not trained",
    "trained": "Trained",
}


class Metric(NamedTuple):
    """A column: its label, the metric, its scale and decimals, and the paper's name for it."""

    label: str
    metric: str
    scale: float = 100
    digits: int = 1
    paper: str = ""


SIZES = (Metric("#tri", "ntri", 1, paper="#tri"), Metric("#tok", "ntok", 1, paper="#tok"))
SCORES = tuple(
    Metric(name.upper(), name, paper=name.upper()) for name in ("ts", "us", "fs", "gs", "cs")
)
"""The columns that compare systems."""
COVERAGE = Metric("Cov.", "coverage")
ANSWERS = (
    Metric("FS (empty 0)", "fs_empty_0"),
    Metric("FS read", "fs_coverage"),
    Metric("GS read", "gs_coverage"),
    Metric("Fail.", "parse_failures"),
    Metric("Ref.", "refusals"),
)


def dataset(name: str) -> str:
    """Return the label of a data set: the paper's, else that of a corpus."""
    return DATASETS.get(name) or labels.corpus(name)


def parts(run: Mapping[str, str]) -> tuple[str, str]:
    """Return (level, setting) of a run, empty strings if it has no GREScores."""
    kind, _, rest = run["protocol"].partition("-")
    level, _, setting = rest.partition("-")
    return (level, setting) if kind == "gre" else ("", "")


def runs_of(study: TableInputs, level: str = "") -> list[Run]:
    """Return the runs of one level, or of all, in the order of the scores file."""
    prefix = f"gre-{level}-" if level else "gre-"
    runs = study.runs
    return runs[runs["protocol"].str.startswith(prefix)].to_dict("records")


def system_order(run: Mapping[str, str]) -> tuple:
    """Sort key: ground truth, language models in the paper's order, others, trained extractors."""
    setting = parts(run)[1]
    own = list(SETTINGS).index(setting) if setting in OWN else 0
    name = run["extractor"]
    rank = list(MODELS).index(name) if name in MODELS else len(MODELS)
    return own, rank, name, run["noise"] != "none", run["training"]


def label_of(run: Mapping[str, str], with_setting: bool = True) -> str:
    """Return the name of a system, with its setting unless that is open, gold or trained."""
    setting = parts(run)[1]
    if setting == "trained":
        label = labels.extractor(run["extractor"], run["noise"])
        return f"{label} ({run['training'].upper()})" if run["training"] else label
    name = MODELS.get(run["extractor"], run["extractor"])
    return f"{name} ({setting})" if with_setting and setting in ("closed", "semi-open") else name


def mode_of(study: TableInputs, runs: Iterable[Run]) -> str:
    """Return the mode that the runs are scored in; the official one if there are both."""
    is_official = any("official" in study.frames.matchings(run) for run in runs)
    return "official" if is_official else "default"


def printed(run: Mapping[str, str], metric: str, strategy: bool = False) -> str | None:
    """Return the values of a system in tables 2 to 4 of GenRES, or in table 1; None without.

    Args:
        run: with GREScores.
        metric: as the paper calls it.
        strategy: whether table 1 (of strategies) is meant.
    """
    level, setting = parts(run)
    table = TABLES[level]
    settings = {"gold": f"gold triples, {level} level", "open": f"open, {level} level"}
    if strategy:
        table = "1"
        settings = {setting: setting, "gold": "ground truth"}
    name, dataset = MODELS.get(run["extractor"], ""), DATASETS.get(run["corpus"], "")
    keys = (table, dataset, settings.get(setting, ""), name)
    values = (reported.values("genres").get((*keys, variant, metric)) for variant in VARIANTS)
    return next((value for value in values if value is not None), None)


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
    "FS (empty 0): FS with texts without triples counted as 0 (FS leaves them out); FS read, GS read: share of the "
    "judge's answers that could be read (the others are missing values); Fail.: share of answers that could not be "
    "read or were cut off (their complete triples count all the same); Ref.: share of refusals."
)


CALLED_FOR = (
    "[low, high] is the 95 % percentile bootstrap interval over texts.",
    "Several runs of a system: mean ± sample standard deviation.",
    REPORTED,
    GAPS,
)


def build_level(level: str, study: TableInputs) -> Table:
    """Build the table of one level from GREScores; missing systems of a data set are gaps."""
    runs = runs_of(study, level)
    mode = mode_of(study, runs)
    answers = [
        metric
        for metric in ANSWERS
        if any(study.frames.mean(run, metric.metric, matching=mode) is not None for run in runs)
    ]
    shown = [*SIZES, *SCORES, COVERAGE, *answers]
    # the same system on several data sets is one row
    ordered = sorted(runs, key=lambda run: (system_order(run), label_of(run)))
    systems = (run_keys(run, corpus="") for run in ordered)
    rows = row_frame(make_row(label_of(run), run, mode) for run in systems).drop_duplicates()
    corpora = labels.ordered((run["corpus"] for run in runs), tuple(DATASETS))
    columns = metric_columns(
        (metric, dataset(corpus), corpus) for corpus in corpora for metric in shown
    )
    frame = score_frame(
        study,
        rows,
        columns,
        heads=("System", "Data set"),
        reported=partial(_reported, runs),
        mark_winners=False,
    )
    notes = [SCORES_NOTE, MODE_NOTES[mode]]
    if answers:
        notes.append(ANSWERS_NOTE)
    notes += [*_notes_on_systems(study, runs), *CALLED_FOR]
    return of_frame(frame, f"GREScores of generative extraction, {level} level.", notes)


def metric_columns(metrics: Iterable[tuple[Metric, str, str | None]]) -> pd.DataFrame:
    """Return a column frame of metrics with group and data set; None for the row's data set."""
    import pandas as pd

    columns = [
        {
            "column_group": group,
            "column": metric.label,
            "corpus": corpus,
            "stratum": "all",
            **metric._asdict(),
        }
        for metric, group, corpus in metrics
    ]
    names = ["column_group", "column", "corpus", "stratum", *Metric._fields]
    frame = pd.DataFrame(columns, columns=names).drop(columns="label")
    return frame.drop(columns="corpus") if frame["corpus"].isna().all() else frame


def _reported(runs: Collection[Run], keys: Keys, strategy: bool = False) -> str | None:
    """Return what the paper prints next to a value of one of the runs."""
    return printed(keys, keys["paper"], strategy) if run_keys(keys) in runs else None


def _notes_on_systems(study: TableInputs, runs: Iterable[Run]) -> list[str]:
    queried = [run for run in runs if parts(run)[1] == "system"]
    return row_notes(study, row_frame(queried), "original")


ORDER = (
    "cdr",
    "nyt10m",
    "docred",
    "wiki20m",
    "wiki80",
    "tacred",
)  # the paper's two, then the others
NAMES = {"P": "precision", "R": "recall", "F1": "f1"}
PAPER = {"P": "precision", "R": "recall", "F1": "F1"}
SIZES_AND_COVERAGE = (*SIZES, COVERAGE)
HARD_NOTE = (
    "Micro: sets of triples, case and underscores ignored, every text counts. As published: means of per-text "
    "scores over the texts with a prediction and gold triples, repeats counted; an empty answer is left out, "
    "so read them with the coverage (Cov.: texts with at least one triple)."
)


def hard_matching(study: TableInputs) -> Table:
    """Build from GREScores: the ground truth and systems by setting, micro and published scores.

    The ground truth matches itself, so its cells show sizes only.
    """
    runs = runs_of(study)
    corpora = labels.ordered((run["corpus"] for run in runs), ORDER)
    mode = mode_of(study, runs)
    # the plain metric names are those of the mode; the other rule has a prefix
    micro, macro = ("micro_", "") if mode == "official" else ("", "official_")
    metrics = [(metric, "") for metric in SIZES_AND_COVERAGE]
    metrics += [(Metric(label, micro + name), "Micro, all texts") for label, name in NAMES.items()]
    metrics += [
        (Metric(label, macro + name, paper=PAPER[label]), "As published")
        for label, name in NAMES.items()
    ]

    def rank(run: Run) -> tuple:
        return corpora.index(run["corpus"]), list(SETTINGS).index(parts(run)[1]), system_order(run)

    ordered = sorted(runs, key=rank)
    frame = score_frame(
        study,
        row_frame(make_row(_strategy(run), run, mode, dataset(run["corpus"])) for run in ordered),
        metric_columns((metric, group, None) for metric, group in metrics),
        heads=("Setting", "Data set"),
        reported=partial(_reported, runs, strategy=True),
        change=_sizes_of_ground_truth,
        mark_winners=False,
    )
    notes = [HARD_NOTE]
    if "cdr" in corpora:
        notes.append("The paper's CDR values come from an older gold file.")
    notes += [*_notes_on_systems(study, runs), *CALLED_FOR]
    return of_frame(frame, "Extraction strategies under hard matching (%).", notes)


def _strategy(run: Run) -> str:
    """Return the setting of a run and its system; the ground truth has no system."""
    setting = SETTINGS[parts(run)[1]]
    if run["extractor"] == GROUND_TRUTH:
        return setting
    return f"{setting}: {label_of(run, with_setting=False)}"


def _sizes_of_ground_truth(keys: Keys, cell: Cell) -> Cell:
    """Return a cell; of the ground truth, a gap in place of scores."""
    if keys["extractor"] == GROUND_TRUTH and keys["column_group"]:
        return Cell(digits=cell.digits)
    return cell


LEVELS = tuple(
    TableSpec(
        name=f"gre-{level}",
        order=order,
        build=partial(build_level, level),
        needs="gre",
        possible=lambda study, level=level: level in study.gre_levels,
        question=f"What do generative extractors deliver from {texts}?",
        overview=tuple(
            OverviewColumn(name, {"metric": name.lower()}) for name in ("TS", "FS", "CS")
        ),
    )
    for order, level, texts in (
        (20, "sentence", "single sentences"),
        (21, "bag", "bags of sentences"),
        (22, "document", "whole documents"),
    )
)
HARD_MATCHING = TableSpec(
    name="gre-hard-matching",
    order=23,
    build=hard_matching,
    needs="gre",
    possible=lambda study: bool(study.gre_levels),
    question="What does a given schema change, if triples must match the gold exactly?",
    overview=(OverviewColumn("F1", {"metric": "f1"}),),
)
