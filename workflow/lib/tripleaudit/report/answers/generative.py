"""Answers of the tables about generative extraction: GREScores and needles."""

from collections.abc import Sequence

from tripleaudit.report.answers._words import NOT_MEASURED, listed, several
from tripleaudit.tables import labels
from tripleaudit.tables.builders import _gre, _minea
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import number


def gre_level(level: str):
    """Return the answer of one level: which system leads in each score, ground truth aside."""

    def answer(inputs: TableInputs) -> str:
        runs = [run for run in _gre.runs_of(inputs, level) if run.extractor != _gre.GROUND_TRUTH]
        mode = _gre.mode_of(inputs, runs)
        leaders = [_leader(inputs, runs, metric, mode) for metric in _gre.SCORES]
        found = [f"{metric.label} {leader}" for metric, leader in zip(_gre.SCORES, leaders, strict=True) if leader]
        if not found:
            return NOT_MEASURED
        systems = len(dict.fromkeys(_gre.label_of(run) for run in runs))
        return f"Of {systems} system{'s' if systems > 1 else ''}, the highest scores are {listed(found)}."

    return answer


def hard_matching(inputs: TableInputs) -> str:
    runs = [run for run in _gre.runs_of(inputs) if run.extractor != _gre.GROUND_TRUTH]
    mode = _gre.mode_of(inputs, runs)
    name = "micro_f1" if mode == "official" else "f1"
    leader = _leader(inputs, runs, _gre.Metric("F1", name), mode)
    return f"Under hard matching over all texts, the highest micro F1 is {leader}." if leader else NOT_MEASURED


def _leader(inputs: TableInputs, runs: Sequence[RunKey], metric: _gre.Metric, mode: str) -> str:
    cells = [(_gre.cell_of(inputs, run, metric, mode), run) for run in runs]
    known = [(cell.value, cell.shown, run) for cell, run in cells if cell.value is not None]
    if not known:
        return ""
    best = max(known, key=lambda item: item[0])[0]
    leaders = [(shown, run) for value, shown, run in known if value == best]
    shown, run = leaders[0]
    several_sets = len({one.corpus for one in runs}) > 1
    where = f" on {_gre.dataset(run.corpus)}" if several_sets else ""
    ties = f" and {len(leaders) - 1} more" if len(leaders) > 1 else ""
    return f"{shown} % by {_gre.label_of(run)}{where}{ties}"


def minea(inputs: TableInputs) -> str:
    runs = _minea.runs_of(inputs, "needles")
    found = []
    for run in runs:
        cell = _minea.cell(inputs, run, "all", "max", "minea", 3)
        if cell.value is not None:
            number_of = _minea.cell(inputs, run, "all", "", "needles", 0).shown
            found.append(f"{_minea.label(run, runs)} {cell.shown}" + (f" of {number_of} needles" if number_of else ""))
    return f"MINEA over all needles, as a share: {several(found)}." if found else NOT_MEASURED


def criteria(inputs: TableInputs) -> str:
    runs = _minea.runs_of(inputs, "needles")
    found = []
    for run in runs:
        rules = [rule for s, rule, name in inputs.scores.measured(run) if (s, name) == ("all", "rate")]
        cells = [(_minea.cell(inputs, run, "all", rule, "rate", 3), _minea.criterion_label(rule)) for rule in rules]
        rates = [(cell.value, label, cell.shown) for cell, label in cells if cell.value is not None]
        if rates:
            low, high = min(rates), max(rates)
            found.append(f"{_minea.label(run, runs)} from {low[2]} ({low[1]}) to {high[2]} ({high[1]})")
    return f"The rates of the criteria reach — {several(found)}." if found else NOT_MEASURED


def middle(inputs: TableInputs) -> str:
    found = []
    runs = _minea.runs_of(inputs, "parts")
    for run in runs:
        parts = [part for part in _minea.strata(inputs, run, "", "redundancy") if part.isdigit()]
        values = [_minea.cell(inputs, run, part, "", "redundancy", 3).value for part in sorted(parts, key=int)]
        if len(values) > 1 and None not in values:
            most = values.index(max(values))
            found.append(
                f"{_minea.label(run, runs)} repeats {number(values[0], 3)} of what it found in the first part and "
                f"{number(values[-1], 3)} in the last of {len(values)}"
                + ("" if len(values) < 3 else f", most in part {most + 1} ({number(values[most], 3)})")
            )
    return f"{several(found)}." if found else NOT_MEASURED


def iterations(inputs: TableInputs) -> str:
    found = []
    runs = _minea.runs_of(inputs, "iterations")
    for run in runs:
        steps = sorted((s for s in _minea.strata(inputs, run, "", "entities") if s.isdigit()), key=int)
        if len(steps) > 1:
            first, last = (_minea.cell(inputs, run, step, "", "entities", 1).shown for step in (steps[0], steps[-1]))
            found.append(f"{_minea.label(run, runs)} from {first} to {last} entities after {steps[-1]} follow-up calls")
    return f"In the mean over documents — {several(found)}." if found else NOT_MEASURED


def needle_example(inputs: TableInputs) -> str:
    return "The table shows one needle of the study beside what was extracted for it." if inputs.scores.runs else ""


def comparison(inputs: TableInputs) -> str:
    runs = _minea.runs_of(inputs, "needles")
    cells = [(_minea.cell(inputs, run, "all", "max", "minea", 3), run) for run in runs]
    known = [(cell.value, cell.shown, _minea.label(run, runs)) for cell, run in cells if cell.value is not None]
    if not known:
        return NOT_MEASURED
    _, shown, name = max(known)
    return (
        f"Of {len(known)} compared models, {name} finds most needles (MINEA {shown})."
        if len(known) > 1
        else (f"One model was measured: {name}, with MINEA {shown}.")
    )


def triple_needles(inputs: TableInputs) -> str:
    runs = _minea.runs_of(inputs, "triple-needles")
    cells = [(_minea.cell(inputs, run, "all", "max", "minea", 3), run) for run in runs]
    found = [
        f"{labels.extractor(run.extractor, run.noise)}"
        + (f" ({labels.SETTINGS[run.training]})" if run.training in labels.SETTINGS else "")
        + f" {cell.shown}"
        for cell, run in cells
        if cell.value is not None
    ]
    return f"MINEA over all infused triples, as a share: {several(found)}." if found else NOT_MEASURED


ANSWERS = {
    "gre-sentence": ("What do generative extractors deliver from single sentences?", gre_level("sentence")),
    "gre-bag": ("What do generative extractors deliver from bags of sentences?", gre_level("bag")),
    "gre-document": ("What do generative extractors deliver from whole documents?", gre_level("document")),
    "gre-hard-matching": ("What does a given schema change, if triples must match the gold exactly?", hard_matching),
    "minea": ("How many entities of a document does a model find, measured by needles put into it?", minea),
    "needle-criteria": ("How much does the rule for “found” decide about the result?", criteria),
    "needle-example": ("What does a needle look like, and what was made of it?", needle_example),
    "lost-in-the-middle": ("Does a model lose what stands in the middle of a document?", middle),
    "iterations": ("What do follow-up calls add?", iterations),
    "llm-comparison": ("How do language models compare with one another?", comparison),
    "triple-needles": ("How many of the triples that were put into texts are found?", triple_needles),
}
