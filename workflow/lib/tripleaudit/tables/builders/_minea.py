"""What the tables of MINEA share: runs of one measurement, printed values, and notes."""

from collections.abc import Sequence

from tripleaudit.tables import reported
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Cell

CRITERIA_LABELS = {"n": "n", "ns": "ns", "llm": "llm"}
CRITERIA_NOTE = (
    "n: an extracted entity has the needle's name; ns: the name stands anywhere in the extraction; k(t): an entity has "
    "at least the share t of the needle's keywords; llm: a model points at the entity."
)
PRIVATE = "The paper's documents are private: its values show what to expect, they are no target."
WILSON = "[low, high] is the 95 % Wilson interval over needles."


def runs_of(inputs: TableInputs, protocol: str) -> list[RunKey]:
    """Return the runs of one measurement, models in the order of the options or of their names."""
    runs = [run for run in inputs.scores.runs if run.protocol == protocol]
    models = inputs.names("extractors", [run.extractor for run in runs])
    corpora = inputs.names("corpora", [run.corpus for run in runs])
    return [run for corpus in corpora for m in models for run in runs if (run.corpus, run.extractor) == (corpus, m)]


def label(run: RunKey, runs: Sequence[RunKey]) -> str:
    """The model's name, with the corpus where there are several."""
    return run.extractor if len({one.corpus for one in runs}) == 1 else f"{run.extractor}, {run.corpus}"


def cell(inputs: TableInputs, run: RunKey, stratum: str, matching: str, metric: str, digits: int) -> Cell:
    """Return one measured cell as a fraction or a count."""
    return inputs.scores.cell(run, metric, stratum=stratum, matching=matching, scale=1, digits=digits)


def strata(inputs: TableInputs, run: RunKey, matching: str, metric: str) -> list[str]:
    """Return the strata that a run has a value for, in their order in the scores file."""
    return [s for s, rule, name in inputs.scores.measured(run) if (rule, name) == (matching, metric)]


def printed(table: int, variant: str, metric: str, setting: str | None = None) -> str | None:
    """Return a value of the paper by its table, row, metric and, where the table has several, setting."""
    for key, value in reported.values("minea").items():
        if (key[0], key[4], key[5]) == (str(table), variant, metric) and setting in (None, key[2]):
            return value
    return None


def criterion_label(name: str) -> str:
    """``k0.5`` as ``k(0.5)``."""
    return CRITERIA_LABELS.get(name, f"k({name[1:]})" if name.startswith("k") else name)


def coverage_note(inputs: TableInputs, runs: Sequence[RunKey]) -> str:
    """Say what share of the calls brought a readable answer, by model."""
    parts = []
    for run in runs:
        calls = run._replace(protocol="calls")
        found = cell(inputs, calls, "all", "", "coverage", 3)
        if found.value is None:
            continue
        counts = {
            status: int(cell(inputs, calls, "all", "", f"status:{status}", 0).value or 0)
            for status in ("ok", "repaired", "truncated", "empty", "refused", "failed")
        }
        listed = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
        parts.append(f"{run.extractor} {100 * found.value:.1f} % ({listed})")
    return f"Coverage, the share of calls with a readable answer: {'; '.join(parts)}." if parts else ""


def note_list(*notes: str) -> tuple[str, ...]:
    return tuple(note for note in notes if note)
