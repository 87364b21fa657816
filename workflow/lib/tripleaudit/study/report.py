"""Tables, plots and the report of a study: which ones, and their input files."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.provenance import digest
from tripleaudit.study.collections import Collections
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.facts import Facts
from tripleaudit.study.grescores import SYSTEM, TRAINED, GreScores
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.needles import LENGTH_TABLE, NeedleStudies
from tripleaudit.study.paths import StudyPaths
from tripleaudit.study.protocols import Protocols
from tripleaudit.study.runs import Runs, Scored, browsed_rows
from tripleaudit.tables.spec import TABLES, TableSpec

TABLE_OF_PLOT = {"f1-cost": "efficiency", "zcc-curves": "zcc"}
TABLES_WITHOUT_MATCHING = ("zcc", "co-occurrence", "matching-rules")
"""Tables of scores that follow no matching rule, or all of them."""
TABLES_OF_TRAINING_SETS = ("co-occurrence",)
"""Tables of scores that need a training set."""


def chosen_tables(config: StudyConfig) -> dict[str, dict[str, Any]] | None:
    """Return the tables that the user names, with the options given; None for all possible ones."""
    if config.tables is None:
        return None
    return {
        name: {key: value for key, value in table.given().items() if value is not None}
        for name, table in config.tables.items()
    }


def possible_tables(study: Any, config: StudyConfig) -> list[str]:
    """Return the names of the tables that a study can fill, in the order of the report.

    Tables of a corpus's training set are left out if no corpus of the study has one.

    Args:
        study: the argument of :attr:`tripleaudit.tables.spec.TableSpec.possible`.
        config: the configuration of the study.
    """
    has_training = any(corpus.has_training for corpus in config.corpora.values())
    lacks_training = bool(config.corpora) and not has_training
    return [name for name, table in TABLES.items() if _can_fill(table, study, lacks_training)]


def _can_fill(table: TableSpec, study: Any, lacks_training: bool) -> bool:
    needs_training = table.needs == "audits" or table.name in TABLES_OF_TRAINING_SETS
    if lacks_training and needs_training:
        return False
    try:
        return bool(table.possible(study))
    except Exception as error:
        if not table.file:
            raise
        raise UserError(
            f"{table.file}: table {table.name} cannot tell whether a study can fill it "
            f"({type(error).__name__}: {error})"
        ) from error


class Report:
    """The tables, plots and the report of a study.

    Args:
        config: the configuration of the study.
        possible: names of the tables that the study can fill.
        settings: the cardinality settings of the study.
        protocols: the training and test sets.
        runs: the trainings and scores.
        facts: the facts of trainings and systems.
        language_models: the extractions by language models.
        grescores: the data sets with GREScores.
        needles: MINEA.
        collections: the text collections.
        paths: the files of the study.
    """

    def __init__(
        self,
        config: StudyConfig,
        *,
        possible: Sequence[str],
        settings: Sequence[str],
        protocols: Protocols,
        runs: Runs,
        facts: Facts,
        language_models: LanguageModels,
        grescores: GreScores,
        needles: NeedleStudies,
        collections: Collections,
        paths: StudyPaths,
    ):
        self.config, self.possible, self.settings = config, list(possible), list(settings)
        self.protocols, self.runs, self.facts, self.paths = protocols, runs, facts, paths
        self.language_models, self.grescores = language_models, grescores
        self.needles, self.collections = needles, collections
        self.chosen = chosen_tables(config)

    def tables(self, *needs: str) -> dict[str, dict[str, Any]]:
        """Return the tables to make, with their options.

        Args:
            needs: kinds of files; returns only the tables that need such files.
        """
        chosen = dict.fromkeys(self.possible, {}) if self.chosen is None else self.chosen
        if not needs:
            return chosen
        return {name: options for name, options in chosen.items() if TABLES[name].needs in needs}

    def options(self, *names: str) -> str:
        """Return tables with their options as canonical JSON."""
        options = {name: (self.chosen or {}).get(name, {}) for name in names}
        return json.dumps(options, sort_keys=True)

    def plot_options(self) -> str:
        """Return the plots as canonical JSON, each with the matching rule of its table."""
        options = {}
        for plot in self.plots:
            table = (self.chosen or {}).get(TABLE_OF_PLOT.get(plot, plot), {})
            options[plot] = {key: value for key, value in table.items() if key == "matching"}
        return json.dumps(options)

    def table_inputs(self, *names: str) -> dict[str, list[str]]:
        """Return the input files of tables by the options of ``tripleaudit tables``.

        The ``needs`` of a table's spec say which files it reads. Two tables read more: leakage the
        counts of all scores, contrasts the counts of trainings with twice the epochs.
        """
        merged_scores = self.paths.results.merged_scores
        needs = {TABLES[name].needs for name in names}
        needs_counts = "scores" in needs or "leakage" in names
        files = {
            "scores": [merged_scores.format(part="")] if "scores" in needs else [],
            "gre_scores": [merged_scores.format(part="gre/")] if "gre" in needs else [],
            "needle_scores": [merged_scores.format(part="needles/")] if "needles" in needs else [],
            "counts": self.runs.count_files() if needs_counts else [],
            "doubled": self.runs.doubled_count_files() if "contrasts" in names else [],
            "audits": self.audits() if "audits" in needs else [],
            "runs": self.run_facts() if needs & {"scores", "runs"} else [],
            "gre_runs": self._facts_of_gre() if "gre" in needs else [],
            "criteria": self.needles.criteria() if "needles" in needs else [],
            "collection": self.collections.files() if "collection" in needs else [],
            "curves": self.curves() if "classifiers" in needs else [],
        }
        return {kind: paths for kind, paths in files.items() if paths}

    def scores_of(self, wildcards: Any) -> list[str]:
        """Return the files that are merged into one scores file.

        The wildcard ``part`` is ``gre/`` for GREScores, ``needles/`` for needles, else empty.
        """
        if wildcards.part == "gre/":
            return self.grescores.files()
        if wildcards.part == "needles/":
            return self.needles.files()
        return self.runs.score_files()

    def frame_inputs(self, wildcards: Any = None) -> dict[str, list[str]]:
        """Return the input files of the data frames by the options of ``study-frames``."""
        contents = {
            "": self.runs.scores,
            "gre/": self.tables("gre"),
            "needles/": self.tables("needles"),
        }
        parts = [part for part, content in contents.items() if content]
        files = {
            "scores": [self.paths.results.merged_scores.format(part=part) for part in parts],
            "counts": self.runs.count_files(),
            "doubled": self.runs.doubled_count_files(),
            "runs": self.run_facts(),
        }
        return {kind: paths for kind, paths in files.items() if paths}

    def _facts_of_gre(self) -> list[str]:
        """Return the facts of the systems and trainings that are scored with the GREScores.

        These are the study's own extractors (setting ``TRAINED``) and its systems without training
        (``SYSTEM``), whose stored predictions may have a training behind them.
        """
        settings = set()
        for systems in self.grescores.planned.values():
            settings |= {system.keys["setting"] for system in systems.values()}
        facts = []
        if self.facts.trainings and settings & {SYSTEM, TRAINED}:
            facts.append(self.paths.results.training_facts)
        if SYSTEM in settings:
            facts.append(self.paths.results.system_facts)
        return facts

    def run_facts(self) -> list[str]:
        """Return the facts of trainings, and of systems that need none."""
        facts = []
        if self.facts.trainings:
            facts.append(self.paths.results.training_facts)
        if self.runs.compared:
            facts.append(self.paths.results.system_facts)
        return facts

    def curves(self) -> list[str]:
        """Return the precision-recall curves of all classifiers."""
        return [
            self.paths.results.curve.format(classifier_run=run.path)
            for run in self.runs.classifiers
        ]

    def audits(self) -> list[str]:
        """Return one audit of each corpus and protocol."""
        return [
            self.paths.results.audit.format(corpus=corpus, protocol=protocol)
            for corpus in self.config.corpora
            if self.config.corpora[corpus].has_training
            for protocol in self.protocols.names
        ]

    # plots

    @cached_property
    def plots(self) -> list[str]:
        """Names of the plots that the study can fill, in the order of the report."""
        names = []
        if self.runs.compared:
            names.append("f1-cost")
        if self.runs.classifiers:
            names.append("zcc-curves")
        if self.runs.extractors:
            names.append("training-curves")
        if self.runs.extractors or self.runs.classifiers:
            names.append("time-memory")
        if LENGTH_TABLE in self.tables("needles"):
            names.append(LENGTH_TABLE)
        return names

    def plot_inputs(self, wildcards: Any = None) -> dict[str, list[str]]:
        """Return the input files of the plots by the options of ``tripleaudit plots``."""
        plots, results = self.plots, self.paths.results
        scores = results.merged_scores.format(part="")
        needle_scores = results.merged_scores.format(part="needles/")
        histories = self.runs.files_of(
            self.runs.extractors, results.model_file, name="history.jsonl"
        )
        files = {
            "scores": [scores] if "f1-cost" in plots else [],
            "needle_scores": [needle_scores] if LENGTH_TABLE in plots else [],
            "counts": self.runs.count_files() if "f1-cost" in plots else [],
            "runs": self.run_facts() if {"f1-cost", "zcc-curves"} & {*plots} else [],
            "curves": self.curves(),
            "history": histories,
            # the benchmark files next to these are read where they exist: a lost one must not train
            # anything again
            "predictions": self.runs.files_of(
                self.runs.trained, results.predictions, testset="test"
            ),
        }
        return {kind: paths for kind, paths in files.items() if paths}

    # the report

    @cached_property
    def browsed(self) -> list[Scored]:
        """The rows of the scores file whose sentences the report shows."""
        first_seed = next(iter(self.config.seeds), "")
        return browsed_rows([*self.runs.scores.values()], first_seed)

    def files(self) -> list[str]:
        """Return all tables of the study, as the report embeds them."""
        return [self.paths.results.table.format(table=name, form="json") for name in self.tables()]

    def inputs(self, wildcards: Any = None) -> dict[str, list[str]]:
        """Return the files of :class:`tripleaudit.report.study_files.ReportFiles`."""
        results, extractions = self.paths.results, self.language_models.extractions
        provenance = self.runs.files_of(
            self.runs.trained, results.model_file, name="provenance.json"
        )
        contrasts = []
        if self.runs.scores:
            provenance.append(results.merged_provenance.format(part=""))
            contrasts.append(results.frame.format(frame="contrasts", form="parquet"))
        if self.facts.stored_trainings:
            provenance.append(results.training_facts)
        return {
            "tables": self.files(),
            "plots": [results.plot.format(plot=name, form="json") for name in self.plots],
            "rows": [results.counts.format(row=row.path) for row in self.browsed],
            "answers": [
                results.answers.format(dataset=dataset, system=system)
                for dataset, system in extractions
            ],
            "verdicts": self.grescores.verdicts(),
            "entities": [
                self.needles.file(model, "entities.jsonl") for model in self.needles.models
            ],
            "contrasts": contrasts,
            "provenance": provenance,
        }

    def sentence_files(self) -> list[str]:
        """Return further inputs of the report, such as sentences and answers.

        They are no options of the command: it finds their paths in the files of :meth:`inputs`.
        """
        results, extractions = self.paths.results, self.language_models.extractions
        files = [results.score_provenance.format(row=row.path) for row in self.browsed]
        for row in self.browsed:
            files += [path for path in (row.predictions, row.gold, row.decisions) if path]
        files += [
            results.extractions.format(dataset=dataset, system=system)
            for dataset, system in extractions
        ]
        files += self.grescores.verdicts("granularity")
        files += [results.reference.format(dataset=dataset) for dataset, _ in extractions]
        return list(dict.fromkeys(files))

    def study_facts(
        self, config: Mapping[str, Any], configfiles: Iterable[Any] = ()
    ) -> dict[str, Any]:
        """Return what the report states about the study itself.

        Snakemake does not compare these values with those of the last report, see
        :meth:`compared_facts`.

        Args:
            config: the configuration with its defaults.
            configfiles: files that it was read from.
        """
        return {**self.compared_facts(configfiles), "config_sha256": digest(config)}

    def compared_facts(self, configfiles: Iterable[Any] = ()) -> dict[str, Any]:
        """Return the facts that Snakemake compares: a change of them makes a new report.

        The digest of the configuration is left out: it also changes with settings that the report
        does not depend on.
        """
        return {
            "name": self.config.study,
            "description": self.config.description,
            "configfiles": [os.path.relpath(path) for path in configfiles],
            "seeds": self.config.seeds,
            "settings": self.settings,
        }
