"""Extras of the package that a study needs, by the parts of the study that need them."""

from collections.abc import Iterator

from tripleaudit.protocols.build import spec_of
from tripleaudit.study.study import Study

TRACKER_EXTRAS = {"trackio": "track", "wandb": "wandb"}


def extras(study: Study) -> dict[str, str]:
    """Return extra -> the first section of the study that needs it."""
    sections: dict[str, str] = {}
    for extra, section in _needed(study):
        sections.setdefault(extra, section)
    return sections


def _needed(study: Study) -> Iterator[tuple[str, str]]:
    if study.runs.trained:
        yield "train", "extractors" if study.runs.extractors else "zcc"
    for name in study.protocols:
        origins = [study.protocol_sets.origin(corpus, name) for corpus in study.corpora]
        if spec_of(name).name == "augmented" and not all(origins):
            yield "train", f"protocols/{name}"  # a masked language model fills in entities
    if study.collections:
        yield "train", "collections"
    if study.grescores.datasets:
        yield "grescores", "grescores"
    for name, server in study.language_models.config.endpoints.items():
        yield "serve" if server.serve is not None else "llm", f"generative/endpoints/{name}"
    if study.needles.models:
        yield "llm", "needles"
    if any("docbin" in study.data.formats(corpus, "test") for corpus in study.corpora):
        yield "spacy", "corpora"
    tracker = study.trainings.shared.get("report_to")
    if tracker in TRACKER_EXTRAS:
        yield TRACKER_EXTRAS[tracker], "training/report_to"
