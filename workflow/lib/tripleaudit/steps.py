"""Steps that only rules call: functions whose options follow from their signatures.

Each parameter is an option ``--name VALUE``. A sequence takes several values, a mapping JSON, and a
boolean is a switch. A parameter that is a dataclass has an option for each of its fields.
"""

import argparse
import dataclasses
import importlib
import inspect
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from tripleaudit.core.arguments import Real, Whole, json_given

LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"


class Step(NamedTuple):
    """A step: its function as ``module:function`` within the package, and its description."""

    function: str
    help: str


STEPS = {
    "audit-protocol": Step(
        "tables.audits:write_study_audit", "triple types, strata and sizes of a protocol's sets"
    ),
    "build-protocol": Step(
        "protocols.study_sets:write_sets", "the sets of a protocol from those of a corpus"
    ),
    "extract-needles": Step(
        "needles.extracting:write_extraction", "entities that a model finds in documents"
    ),
    "generate": Step(
        "generative.generate:generate", "extract triples from texts with a language model"
    ),
    "gre-judge": Step(
        "grescores.judging:write_judged", "judge extracted triples with a language model"
    ),
    "gre-systems": Step(
        "grescores.system_scores:write_dataset_scores", "GREScores of all systems of a data set"
    ),
    "make-needles": Step("needles.making:write_corpus", "needles in documents"),
    "merge-scores": Step("scoring.scores:merge_scores", "join scores files into one"),
    "original-split": Step(
        "protocols.cardinality:write_setting", "a split in one cardinality setting"
    ),
    "plots": Step("tables.plots:make_plots", "plots as SVG and as Vega-Lite specifications"),
    "predict-baseline": Step(
        "scoring.baselines:write_predictions", "what a baseline says of one test set"
    ),
    "predict-system": Step(
        "systems.test_set:predict_system", "what a system without training says of one test set"
    ),
    "rate-needles": Step(
        "needles.minea:rate_matches", "which needles were found, by thresholds of keywords"
    ),
    "score-classifier": Step(
        "scoring.rows:score_classifier", "scores of a zero-cardinality classifier"
    ),
    "score-needles": Step(
        "needles.score_rows:write_model_scores", "scores of one model in a MINEA study"
    ),
    "score-run": Step(
        "scoring.rows:score_run", "scores of one prediction file, alone or behind a classifier"
    ),
    "select-texts": Step(
        "generative.extraction:write_texts", "the texts of a data set for language models"
    ),
    "tables": Step("tables.building:make_tables", "tables as CSV, Markdown, LaTeX, HTML and JSON"),
    "study-frames": Step(
        "tables.frames:write_frames", "scores, counts, cells and contrasts as data frames"
    ),
    "system-facts": Step(
        "systems.facts:write_system_facts", "what systems took, and which of them failed"
    ),
    "training-facts": Step(
        "systems.facts:write_training_facts", "times and outcomes of all trainings"
    ),
    "write-report": Step(
        "report.make:write_study_report", "the HTML report from files that the rule names"
    ),
}
"""Command -> step."""


def add_step(parser: argparse.ArgumentParser, reference: str) -> None:
    """Give a parser the options of a step's function, ``module:function``, and run it."""
    module, _, name = reference.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    parameters = _parameters(function)
    for parameter in parameters.values():
        fields = _parameters(parameter.annotation)
        for option in fields.values() if fields else [parameter]:
            _add_option(parser, option)

    def run(args: argparse.Namespace) -> None:
        logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)
        values = {}
        for name, parameter in parameters.items():
            fields = _parameters(parameter.annotation)
            if fields:
                values[name] = parameter.annotation(**{key: getattr(args, key) for key in fields})
            else:
                values[name] = getattr(args, name)
        function(**values)

    parser.set_defaults(run=run)


def _parameters(annotation: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or a dataclass, nothing for any other type."""
    is_dataclass = isinstance(annotation, type) and dataclasses.is_dataclass(annotation)
    if inspect.isfunction(annotation) or is_dataclass:
        return inspect.signature(annotation).parameters
    return {}


def _add_option(parser: argparse.ArgumentParser, parameter: inspect.Parameter) -> None:
    """Add the option of a parameter; its form follows from the annotation."""
    name = f"--{parameter.name.replace('_', '-')}"
    annotation = str(parameter.annotation)
    if parameter.annotation is bool:
        parser.add_argument(name, action="store_true")
        return
    option: dict[str, Any] = {"required": parameter.default is parameter.empty}
    if not option["required"]:
        option["default"] = parameter.default
    if "Mapping" in annotation:
        form = list if "Sequence" in annotation else dict
        option |= {"type": partial(json_given, name, form=form), "metavar": "JSON"}
    elif "Sequence" in annotation:
        option |= {"nargs": "*", "type": float if "float" in annotation else str}
    elif parameter.annotation is int:
        option["type"] = Whole()
    elif parameter.annotation is float:
        option["type"] = Real()
    parser.add_argument(name, **option)
