"""The configuration section ``collections``: which models read what, and what cannot work; free of heavy imports."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.shipped import shipped

DECIDING = ("threshold", "max_chars", "write", "on_error")
SPEED = ("batch_size", "window")


def settings_json(section: Mapping[str, Any], names: Sequence[str] = DECIDING + SPEED) -> str:
    """Return the settings of a collection besides texts and models, or some of them, as canonical JSON."""
    return json.dumps({name: section[name] for name in names}, sort_keys=True)


def model_run(section: Mapping[str, Any], corpora: Sequence[str], seeds: Sequence[int]) -> str | None:
    """Return the path of the run whose model extracts (:attr:`tripleaudit.plan.study.Run.path`), None for a folder."""
    if is_folder(section["extractor"]):
        return None
    corpus, seed = section["corpus"] or _only(corpora), _seed(section, seeds)
    return f"{corpus}/{section['trainset']}/{section['extractor']}/{section['noise']}/seed{seed}"


def gate_run(section: Mapping[str, Any], corpora: Sequence[str], seeds: Sequence[int]) -> str | None:
    """Return the path of the run whose classifier is the gate, None for a folder or no gate."""
    if section["gate"] is None or is_folder(section["gate"]):
        return None
    return f"{section['corpus'] or _only(corpora)}/original-wz/{section['gate']}/none/seed{_seed(section, seeds)}"


def is_folder(model: str) -> bool:
    """Whether a model is given as a folder: a path with a slash, or a folder that is there."""
    return "/" in model or Path(shipped(model)).is_dir()


def problems(
    name: str,
    section: Mapping[str, Any],
    runs: Sequence[str],
    classifier_runs: Sequence[str],
    corpora: Sequence[str],
    seeds: Sequence[int],
) -> Iterator[str]:
    """Yield one sentence for each model of a collection that the study neither trains nor finds.

    Args:
        name: of the collection.
        runs, classifier_runs: paths of all trainings of the study.
        corpora, seeds: of the study.
    """
    if not section["corpus"] and len(corpora) != 1 and not is_folder(section["extractor"]):
        known = ", ".join(corpora) or "none"
        yield f"collections/{name}/corpus: expected the corpus whose extractor reads the collection; known are {known}"
        return
    for key, run, known in (
        ("extractor", model_run(section, corpora, seeds), runs),
        ("gate", gate_run(section, corpora, seeds), classifier_runs),
    ):
        if run is not None and run not in known:
            yield (
                f"collections/{name}/{key}: the study has no training {run}; expected one of its trainings "
                f"({_some(known)}) or the folder of a trained model"
            )
        elif run is None and section[key] is not None:
            try:
                saved_extractor_name(shipped(section[key]))
            except UserError as error:
                yield f"collections/{name}/{key}: {error}"


def _seed(section: Mapping[str, Any], seeds: Sequence[int]) -> int:
    return seeds[0] if section["seed"] is None else section["seed"]


def _only(corpora: Sequence[str]) -> str:
    return corpora[0] if corpora else ""


def _some(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "it has none") + more
