"""``tripleaudit validate``: report all problems of a study, or its contents if there are none.

Problems are found in two steps: ``Study.read`` refuses a configuration with all problems that
``study/checks`` finds in it; ``study/own_files.py`` then checks the content of the user's corpora
and stored predictions.
"""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tripleaudit.core.wording import counted

if TYPE_CHECKING:
    from tripleaudit.study.study import Study

HELP = (
    "check a study file: list its problems or, if there are none, what it trains, queries and shows"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="STUDY.yaml",
        help="study files, or names of included studies (tripleaudit list studies); later ones override "
        "keys of earlier ones",
    )
    parser.add_argument(
        "--raw-root", metavar="DIR", help="folder with raw files, instead of the study's raw_root"
    )
    parser.add_argument(
        "--downloads",
        default="resources/downloads",
        metavar="DIR",
        help="fetched files (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    from tripleaudit.core.shipped import study_file
    from tripleaudit.study import own_files
    from tripleaudit.study.study import Study
    from tripleaudit.study.validate import refused

    study = Study.read(
        *map(study_file, args.files), raw_root=args.raw_root, downloads=args.downloads
    )
    problems = list(own_files.problems(study))
    if problems:
        raise refused(problems)
    print("\n".join(summary(study)))
    return 0


def summary(study: "Study") -> Iterator[str]:
    """Yield a few lines about a study that can run."""
    from tripleaudit.study import own_files, variables
    from tripleaudit.study.checks.corpora import notes_on_corpora
    from tripleaudit.tables.spec import TABLES

    yield f"{study.name}: this study can run; results go to {study.paths.study}"
    parts = {
        "corpora": study.corpora,
        "protocols": study.protocols if study.corpora else [],
        "extractors": study.extractors,
        "classifiers": study.classifiers,
        "seeds": list(map(str, study.seeds)) if study.runs.extractors else [],
    }
    for name, names in parts.items():
        if names:
            yield f"{name}: {', '.join(names)}"
    trained = len(study.runs.trained)
    if trained:
        scores = len(study.runs.score_files())
        yield f"{counted(trained, 'training{s}')}, {counted(scores, 'score{s}')}"
    if study.language_models.extractions:
        yield counted(len(study.language_models.extractions), "extraction{s} by language models")
    if study.grescores.datasets:
        judged = sum(len(study.grescores.to_judge(dataset)) for dataset in study.grescores.datasets)
        scored = counted(len(study.grescores.datasets), "data set{s}")
        yield f"{scored} with GREScores, {counted(judged, 'system{s}')} judged"
    if study.needles.models:
        yield f"needles for {counted(len(study.needles.files()), 'model{s}')}"
    if study.collections:
        yield counted(len(list(study.collections)), "text collection{s}")
    tables = [name for name in TABLES if name in study.tables]
    yield f"{counted(len(tables), 'table{s}')}: {', '.join(tables) or 'none'}"
    yield f"{counted(len(study.report.plots), 'plot{s}')}: {', '.join(study.report.plots) or 'none'}"
    unset_variables = variables.to_set(study)
    if unset_variables:
        yield unset_variables
    for note in [*notes_on_corpora(study.data, study.paths), *own_files.notes(study)]:
        yield f"note: {note}"
