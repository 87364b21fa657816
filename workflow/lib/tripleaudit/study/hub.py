"""Corpora of a study that are data sets of the Hugging Face hub."""

import re
from collections.abc import Mapping

from tripleaudit.study.config.corpora import Corpus, Files, HubSplits


def data_set_folder(corpus: Corpus) -> str:
    """Return the name of the folder that the splits of a corpus's data set are fetched to."""
    parts = [corpus.hub or "", corpus.hub_subset or ""]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(filter(None, parts))).strip("-.")


def hub_files(corpus: Corpus, downloads: str) -> Files:
    """Return the files that the splits of a corpus's data set are fetched to.

    Args:
        corpus: A corpus with ``hub``.
        downloads: Folder of fetched files.
    """
    folder = f"{downloads}/datasets/{data_set_folder(corpus)}"
    names = (corpus.hub_splits or HubSplits()).model_dump()
    paths = {split: [f"{folder}/{name}.parquet"] for split, name in names.items() if name}
    return Files(**paths)


def locate_hub_corpora(corpora: Mapping[str, Corpus], downloads: str) -> dict[str, Corpus]:
    """Return the corpora, those with ``hub`` with the files that their splits are fetched to.

    Files that a study names together with ``hub`` are a problem of the study, and stay.
    """
    located = dict(corpora)
    for name, corpus in corpora.items():
        if corpus.hub is not None and corpus.files is None:
            located[name] = corpus.model_copy(update={"files": hub_files(corpus, downloads)})
    return located
