"""Tables, plots and the report of a study: which there are, and what each is made from."""

import json
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from tripleaudit.core.descriptors import TABLES, TableSpec
from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.fields import Section, one_of
from tripleaudit.core.provenance import digest
from tripleaudit.scoring.matching import matching_names
from tripleaudit.study.grescores import SYSTEM, TRAINED
from tripleaudit.study.needles import LENGTH_TABLE
from tripleaudit.study.scored import Scored, browsed

if TYPE_CHECKING:
    from tripleaudit.study.study import Run, Study

DRAWN = {"f1-cost": "efficiency", "zcc-curves": "zcc"}  # plot -> its table
NO_ONE_RULE = (
    "zcc",
    "co-occurrence",
    "matching-rules",
)  # tables of scores that follow no matching rule, or all
ABOUT_TRAINING_SETS = ("co-occurrence",)  # tables of scores that say nothing without a training set


class Table(Section):
    """Options of one table; nothing after its name makes it with the defaults."""

    matching: Annotated[str, one_of(matching_names, "matching rule")] | None = None
    """Matching rule of the table."""
    digits: int | None = Field(None, ge=0, le=6)
    """Decimals shown."""
    caption: str | None = None
    """Caption instead of the default one."""
    style: Literal["paper"] | None = None
    """paper: the LaTeX form without intervals and differences."""


class Report:
    """What the study's results are shown as.

    Args:
        chosen: section ``tables``; None for all that the study can fill.
    """

    def __init__(self, study: "Study", chosen: dict[str, Table] | None):
        self.study = study
        self.chosen: dict[str, dict[str, Any]] | None = None
        if chosen is not None:
            given = {name: table.given().items() for name, table in chosen.items()}
            self.chosen = {
                name: {key: value for key, value in said if value is not None}
                for name, said in given.items()
            }

    def problems(self) -> Iterator[str]:
        """Yield a sentence for each table that the study cannot fill."""
        if isinstance(self.study.typed.double, str):
            yield from self.study.paths.problems_of_file("double", self.study.typed.double)
        possible = self.possible
        if self.chosen == {}:
            yield "tables: names none, so that there is no report; expected one at least, or null for all"
        for name, options in (self.chosen or {}).items():
            if name not in TABLES:
                yield f"tables: unknown table '{name}'{hint(name, TABLES)}"
            elif name not in possible:
                yield f"tables: this study cannot fill {name}; it can fill {', '.join(possible) or 'none'}"
            elif "matching" in options and (TABLES[name].needs != "scores" or name in NO_ONE_RULE):
                yield f"tables/{name}/matching: has no meaning, the table follows no one matching rule"

    @cached_property
    def possible(self) -> list[str]:
        """Names of the tables that the study's parts can fill, in the report's order."""
        return [name for name, table in TABLES.items() if self._can_fill(table)]

    def _can_fill(self, table: TableSpec) -> bool:
        training_sets = [
            corpus for corpus in self.study.corpora if self.study.data.has_training(corpus)
        ]
        if (
            self.study.corpora
            and not training_sets
            and (table.needs == "audits" or table.name in ABOUT_TRAINING_SETS)
        ):
            return False
        try:
            return bool(table.possible(self.study))
        except Exception as error:
            if not table.file:
                raise
            said = f"{type(error).__name__}: {error}"
            raise UserError(
                f"{table.file}: table {table.name} cannot tell whether a study can fill it ({said})"
            ) from error

    def tables(self, *needs: str) -> dict[str, dict[str, Any]]:
        """Return the tables to make, with their options; with ``needs``, those that are made
        from such files.
        """
        chosen = dict.fromkeys(self.possible, {}) if self.chosen is None else self.chosen
        return {name: of for name, of in chosen.items() if not needs or TABLES[name].needs in needs}

    def options(self, *names: str) -> str:
        """Return tables with their options as canonical JSON."""
        options = {name: (self.chosen or {}).get(name, {}) for name in names}
        return json.dumps(options, sort_keys=True)

    def plot_options(self) -> str:
        """Return the plots as canonical JSON, each with the matching rule of the table that it
        draws.
        """
        options = {}
        for plot in self.plots:
            table = (self.chosen or {}).get(DRAWN.get(plot, plot), {})
            options[plot] = {key: value for key, value in table.items() if key == "matching"}
        return json.dumps(options)

    def table_inputs(self, *names: str) -> dict[str, list[str]]:
        """Return what tables are made from, by the command's options; tables about data need no
        training.
        """
        study, folder = self.study, self.study.paths.study
        needs = {TABLES[name].needs for name in names}
        classifiers = self._of(study.classifier_runs, "scores/{}/curve.json")
        doubled = [f"{folder}/counts/{path}.csv" for path in study.doubled_scored]
        files = {
            "scores": [f"{folder}/scores.csv"] if "scores" in needs else [],
            "gre_scores": [f"{folder}/gre/scores.csv"] if "gre" in needs else [],
            "needle_scores": [f"{folder}/needles/scores.csv"] if "needles" in needs else [],
            "counts": study.score_files("counts")
            if "scores" in needs or "leakage" in names
            else [],
            "doubled": doubled if "contrasts" in names else [],
            "audits": self.audits() if "audits" in needs else [],
            "runs": self.runs() if needs & {"scores", "runs"} else [],
            "gre_runs": self._facts_of_gre() if "gre" in needs else [],
            "criteria": study.needles.criteria() if "needles" in needs else [],
            "collection": study.collections.files() if "collection" in needs else [],
            "curves": classifiers if "classifiers" in needs else [],
        }
        return {kind: paths for kind, paths in files.items() if paths}

    def frame_inputs(self, wildcards: Any = None) -> dict[str, list[str]]:
        """Return what the data frames of the study are made from, by the command's options."""
        study, folder = self.study, self.study.paths.study
        scored = {"": study.scored, "gre/": self.tables("gre"), "needles/": self.tables("needles")}
        found = {
            "scores": [
                f"{folder}/{part}scores.csv" for part, is_scored in scored.items() if is_scored
            ],
            "counts": study.score_files("counts"),
            "doubled": [f"{folder}/counts/{path}.csv" for path in study.doubled_scored],
            "runs": self.runs(),
        }
        return {kind: paths for kind, paths in found.items() if paths}

    def _facts_of_gre(self) -> list[str]:
        """Return the facts of systems and of trainings, where data sets with GREScores have some
        of them.
        """
        planned = [
            each for systems in self.study.grescores.planned.values() for each in systems.values()
        ]
        settings = {each.keys["setting"] for each in planned}
        folder, found = self.study.paths.study, []
        if self.trainings and settings & {SYSTEM, TRAINED}:
            found.append(f"{folder}/trainings.json")
        return found + ([f"{folder}/systems.json"] if SYSTEM in settings else [])

    def runs(self) -> list[str]:
        """Return the facts of trainings, and of systems that need none."""
        folder, study = self.study.paths.study, self.study
        trained = [f"{folder}/trainings.json"] if self.trainings else []
        return trained + ([f"{folder}/systems.json"] if study.compared else [])

    @cached_property
    def trainings(self) -> list[str]:
        """Provenances of all trainings: those of the study, and those behind stored predictions."""
        own = [*self.study.runs, *self.study.classifier_runs]
        stored = [path for path, _ in self.study.systems.trainings()]
        return [
            f"{self.study.paths.study}/models/{run.path}/provenance.json" for run in own
        ] + stored

    @cached_property
    def training_keys(self) -> list[dict[str, Any]]:
        """The keys of each of :attr:`trainings` as the scores file names them."""
        own = [*self.study.runs, *self.study.classifier_runs]
        return [
            *map(self.study.run_keys, own),
            *(keys for _, keys in self.study.systems.trainings()),
        ]

    @cached_property
    def doubles(self) -> list[str]:
        """Provenances of the trainings of twice the epochs."""
        return self._of(self.study.doubled_runs, "doubled/{}/provenance.json")

    @property
    def gain_files(self) -> dict[str, list[str]]:
        """The files behind what twice the epochs gained: validation sets and both predictions of
        each.
        """
        runs = self.study.doubled_runs
        return {
            "validation": [self.study.validation_file(run) for run in runs],
            "single_predictions": self._of(runs, "predictions/{}/valid.jsonl"),
            "double_predictions": self._of(runs, "doubled/{}/valid.jsonl"),
        }

    @cached_property
    def earlier(self) -> list[str]:
        """The facts of trainings of an earlier study that has doubled them."""
        double = self.study.typed.double
        return [self.study.paths.file(double)] if isinstance(double, str) else []

    def audits(self) -> list[str]:
        """Return one audit of each corpus and protocol."""
        return [
            f"{self.study.paths.study}/audits/{corpus}/{protocol}.json"
            for corpus in self.study.corpora
            if self.study.data.has_training(corpus)
            for protocol in self.study.protocols
        ]

    # plots

    @cached_property
    def plots(self) -> list[str]:
        """Names of the plots that the study can fill, in the order of the report."""
        study, names = self.study, []
        if study.compared:
            names.append("f1-cost")
        if study.classifiers:
            names.append("zcc-curves")
        if study.runs:
            names.append("training-curves")
        if study.runs or study.classifier_runs:
            names.append("time-memory")
        if LENGTH_TABLE in self.tables("needles"):
            names.append(LENGTH_TABLE)
        return names

    def plot_inputs(self, wildcards: Any = None) -> dict[str, list[str]]:
        """Return what the plots are made from, by the command's options."""
        study, plots, folder = self.study, self.plots, self.study.paths.study
        runs = [*study.runs, *study.classifier_runs]
        curves = self._of(study.classifier_runs, "scores/{}/curve.json")
        files = {
            "scores": [f"{folder}/scores.csv"] if "f1-cost" in plots else [],
            "needle_scores": [f"{folder}/needles/scores.csv"] if LENGTH_TABLE in plots else [],
            "counts": study.score_files("counts") if "f1-cost" in plots else [],
            "runs": self.runs() if {"f1-cost", "zcc-curves"} & {*plots} else [],
            "curves": curves,
            "history": self._of(study.runs, "models/{}/history.jsonl"),
            # the benchmark files next to these are read where they exist: a lost one must not train
            # anything again
            "predictions": self._of(runs, "predictions/{}/test.jsonl"),
        }
        return {kind: paths for kind, paths in files.items() if paths}

    def _of(self, runs: "Iterable[Run]", pattern: str) -> list[str]:
        return [f"{self.study.paths.study}/{pattern.format(run.path)}" for run in runs]

    # the report

    @cached_property
    def browsed(self) -> list[Scored]:
        """What the report shows by sentence."""
        return browsed([*self.study.scored.values()], next(iter(self.study.seeds), ""))

    def files(self) -> list[str]:
        """Return all tables of the study, as the report embeds them."""
        return [f"{self.study.paths.study}/tables/{name}.json" for name in self.tables()]

    def inputs(self, wildcards: Any = None) -> dict[str, list[str]]:
        """Return the files of :class:`tripleaudit.report.study_files.ReportFiles`."""
        study, folder = self.study, self.study.paths.study
        every = [*study.runs, *study.classifier_runs]
        extractions = [
            f"{folder}/generative/{texts}/{run}" for texts, run in study.language_models.extractions
        ]
        return {
            "tables": self.files(),
            "plots": [f"{folder}/plots/{name}.json" for name in self.plots],
            "rows": [f"{folder}/counts/{row.path}.csv" for row in self.browsed],
            "answers": [f"{extraction}/answers.jsonl" for extraction in extractions],
            "verdicts": study.grescores.verdicts(),
            "entities": [
                f"{folder}/needles/models/{model}/entities.jsonl" for model in study.needles.models
            ],
            "contrasts": [f"{folder}/contrasts.parquet"] if study.scored else [],
            "provenance": [
                *self._of(every, "models/{}/provenance.json"),
                *([f"{folder}/scores.provenance.json"] if study.scored else []),
            ],
        }

    def sentence_files(self) -> list[str]:
        """Return what the report finds by these files: sentences and predictions of rows and of
        answers.
        """
        folder, extractions = (
            f"{self.study.paths.study}/generative",
            self.study.language_models.extractions,
        )
        rows = [
            f"{self.study.paths.study}/scores/{row.path}.provenance.json" for row in self.browsed
        ]
        rows += [
            path
            for row in self.browsed
            for path in (row.predictions, row.gold, row.decisions)
            if path
        ]
        said = [f"{folder}/{texts}/{run}/predictions.jsonl" for texts, run in extractions]
        said += [
            path.replace("factualness.json", "granularity.json")
            for path in self.study.grescores.verdicts()
        ]
        return list(
            dict.fromkeys(
                rows + said + [f"{folder}/{texts}/reference.jsonl" for texts, _ in extractions]
            )
        )

    def facts(self, configfiles: Iterable[Any] = ()) -> dict[str, Any]:
        """Return what the report says about the study itself."""
        return {
            "name": self.study.name,
            "description": self.study.config["description"],
            "config_sha256": digest(self.study.config),
            "configfiles": [os.path.relpath(path) for path in configfiles],
            "seeds": self.study.seeds,
            "settings": self.study.settings,
        }

    def deciding_facts(self, configfiles: Iterable[Any] = ()) -> dict[str, Any]:
        """Return those of the facts that the report is rewritten for: not the digest of the
        whole configuration.
        """
        return {
            name: fact for name, fact in self.facts(configfiles).items() if name != "config_sha256"
        }
