"""The spec of a table, and the registry of tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tripleaudit.core.plugins import Registry, Spec


@dataclass(frozen=True)
class OverviewColumn:
    """A column of the report's matrix of systems and questions.

    Attributes:
        label: Heading of the column.
        cell_keys: Keys of the table's cells that the column shows, such as
            ``{"stratum": "unseen"}``; ``column`` is the label of the table's column. The first of
            several matching cells of a system is shown.
    """

    label: str
    cell_keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TableSpec(Spec):
    """A table that answers one question.

    Attributes:
        build: ``(TableInputs) -> Table``.
        needs: Kind of files that the table is made from: ``audits`` (of the data), ``scores`` (of
            extractors), ``runs`` (facts of trainings), ``classifiers`` (their curves), ``gre``
            (GREScores), ``needles`` or ``collection``.
        possible: ``(study) -> bool``, whether a study can fill the table.
        takes_by: Whether the option ``by`` adds columns of further scores.
        question: Heading of the table's section in the report.
        overview: Columns of the report's matrix; by default the first column that measures
            systems, None for a table that does not compare systems.
    """

    build: Callable[[Any], Any]
    needs: Literal["audits", "scores", "runs", "classifiers", "gre", "needles", "collection"] = (
        "scores"
    )
    possible: Callable[[Any], bool] = lambda study: True
    takes_by: bool = False
    question: str = "What does this table show?"
    overview: tuple[OverviewColumn, ...] | None = ()


TABLES: Final = Registry(
    TableSpec,
    "table",
    shipped=[
        "tripleaudit.tables.builders.augmented_example",
        "tripleaudit.tables.builders.cardinality_sizes",
        "tripleaudit.tables.builders.clue_words",
        "tripleaudit.tables.builders.co_occurrence",
        "tripleaudit.tables.builders.collection",
        "tripleaudit.tables.builders.contamination",
        "tripleaudit.tables.builders.contrasts",
        "tripleaudit.tables.builders.efficiency",
        "tripleaudit.tables.builders.end_to_end",
        "tripleaudit.tables.builders.generalisation",
        "tripleaudit.tables.builders.gre",
        "tripleaudit.tables.builders.gre_correlations",
        "tripleaudit.tables.builders.leakage",
        "tripleaudit.tables.builders.matching_rules",
        "tripleaudit.tables.builders.minea",
        "tripleaudit.tables.builders.repeated_calls",
        "tripleaudit.tables.builders.split_sizes",
        "tripleaudit.tables.builders.strata_sizes",
        "tripleaudit.tables.builders.training_time",
        "tripleaudit.tables.builders.trainings",
        "tripleaudit.tables.builders.triple_types",
        "tripleaudit.tables.builders.two_steps",
        "tripleaudit.tables.builders.type_f1",
        "tripleaudit.tables.builders.unseen_relations",
    ],
)
