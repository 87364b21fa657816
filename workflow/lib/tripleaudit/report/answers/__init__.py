"""What each table was asked and what its numbers answer, in sentences made from the values.

A module of this package has ``ANSWERS``: table -> (question, function from :class:`TableInputs` to the answer). An
answer is plain text; it says that nothing was measured rather than guess.
"""

from dataclasses import dataclass, field, replace

from tripleaudit.report.answers import cardinality, data, generalisation, generative
from tripleaudit.report.inputs import ReportFiles, StudyFacts
from tripleaudit.tables.inputs import TableInputs, load_inputs

# results first, then what they rest on: the order of the report
ANSWERS = {**generalisation.ANSWERS, **cardinality.ANSWERS, **generative.ANSWERS, **data.ANSWERS}
UNKNOWN = "What does this table show?"


@dataclass
class Evidence:
    """The values behind all tables of a study, by the kind of scores file that they come from.

    Attributes:
        extraction: scores of extractors, audits and facts of trainings.
        gre, needles: GREScores, scores about needles.
        facts: of the study; its table options are applied.
    """

    extraction: TableInputs = field(default_factory=TableInputs)
    gre: TableInputs = field(default_factory=TableInputs)
    needles: TableInputs = field(default_factory=TableInputs)
    facts: StudyFacts = field(default_factory=lambda: StudyFacts(""))

    def answer(self, table: str) -> tuple[str, str]:
        """Return the question and the answer of a table; the answer is empty for a table that is not known."""
        if table not in ANSWERS:
            return UNKNOWN, ""
        question, answer = ANSWERS[table]
        inputs = self.extraction
        if table in generative.ANSWERS:
            inputs = self.gre if table.startswith("gre-") else self.needles
        options = dict(self.facts.table_options.get(table) or {})
        return question, answer(replace(inputs, options=options))


def load_evidence(files: ReportFiles, facts: StudyFacts) -> Evidence:
    """Read scores, audits and facts of trainings.

    Raises:
        UserError: a file is bad.
    """
    return Evidence(
        load_inputs(scores=files.scores, counts=files.counts, audits=files.audits, runs=files.runs),
        load_inputs(scores=files.gre),
        load_inputs(scores=files.needles),
        facts,
    )
