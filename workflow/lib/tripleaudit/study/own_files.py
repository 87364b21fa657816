"""Checks of the content of the user's own files, before a study runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.variants import variants_of
from tripleaudit.study.config.corpora import Corpus
from tripleaudit.study.corpora import SPLITS
from tripleaudit.study.local_sets import MAX_BYTES, local_split
from tripleaudit.study.study import Study
from tripleaudit.systems.queries import Query
from tripleaudit.systems.stored import answer


def problems(study: Study) -> Iterator[str]:
    """Yield a sentence for everything in a study's own files that would make a job fail."""
    for name, corpus in study.data.sections.items():
        splits: dict[str, list[Sentence]] = {}
        for split in SPLITS if corpus.has_training else ("test",):
            try:
                sentences = local_split(corpus, split)
            except UserError as error:
                # validation sentences without files of their own are divided from the training files
                key = "train" if corpus.files and not getattr(corpus.files, split) else split
                yield f"corpora/{name}/files/{key}: {error}"
                continue
            if sentences is not None:
                splits[split] = sentences
        yield from _problems_of_training(study, name, splits.get("train"))
        test = splits.get("test")
        if test is not None and not any(sentence.triples for sentence in test):
            yield f"corpora/{name}/files/test: no sentence has a triple; nothing can be scored"
        elif test is not None and ("train" in splits or not corpus.has_training):
            yield from _problems_of_relations(study, name, splits.get("train", []), test)
        if test is not None:
            yield from _problems_of_predictions(study, name, test)
            yield from _problems_of_variants(name, corpus, test)


def _problems_of_variants(name: str, corpus: Corpus, test: list[Sentence]) -> Iterator[str]:
    """Yield a sentence for a file of augmented sentences that does not fit the test set."""
    try:
        augmented = local_split(corpus, "augmented")
        if augmented is not None:
            variants_of([sentence.id for sentence in test], [one.id for one in augmented], "ids")
    except UserError as error:
        yield f"corpora/{name}/files/augmented: {error}"


def _problems_of_training(study: Study, corpus: str, train: list[Sentence] | None) -> Iterator[str]:
    """Yield a sentence if a study trains on sentences that its models can learn nothing from."""
    if train is None:
        return
    with_triples = sum(bool(sentence.triples) for sentence in train)
    if with_triples == len(train) and study.classifiers:
        yield (
            f"corpora/{corpus}/files/train: every sentence has a triple, so that {', '.join(study.classifiers)} can "
            "learn nothing; name a file that also has sentences without triples"
        )
    trained = [*study.extractors, *study.classifiers]
    if not with_triples and trained:
        yield (
            f"corpora/{corpus}/files/train: no sentence has a triple, so that {', '.join(trained)} can learn "
            "nothing; name a file with triples"
        )


def _problems_of_predictions(study: Study, corpus: str, test: list[Sentence]) -> Iterator[str]:
    """Yield a sentence for stored predictions that do not cover the test set of a corpus.

    The test sets of other protocols are not known before the study runs.
    """
    if "wz" not in study.settings:
        test = [sentence for sentence in test if sentence.triples]
    for name, kind in study.systems.kinds.items():
        if kind.name != "predictions":
            continue
        stored = study.systems.stored(name).get(corpus, {}).get("original", [])
        files = [str(study.paths.file(path)) for path in stored]
        sizes = [Path(path).stat().st_size for path in files if Path(path).is_file()]
        if not files or len(sizes) < len(files) or sum(sizes) > MAX_BYTES:
            continue
        settings = study.systems.settings(name)
        try:  # for its errors; the study itself reads the predictions again
            answer(Query(name, settings, test, job={"files": files}))
        except UserError as error:
            yield f"systems/{name}/predictions: {error}"


def _problems_of_relations(
    study: Study, corpus: str, train: list[Sentence], test: list[Sentence]
) -> Iterator[str]:
    """Yield a sentence for each system that is to be given relations where none are known."""
    if study.data.sections[corpus].relations or any(sentence.triples for sentence in train):
        return
    names = sorted({triple.relation for sentence in test for triple in sentence.triples})
    offered = ", ".join(f"{name}: ''" for name in names)
    for name, kind in study.systems.kinds.items():
        settings: dict[str, Any] = study.systems.settings(name)
        if kind.name == "endpoint" and settings["setting"] != "open":
            yield (
                f"systems/{name}: the setting {settings['setting']} needs relations, and corpus {corpus} has no "
                f"training triples to take them from; list them under corpora/{corpus}/relations, such as "
                f"{{{offered}}}, or use setting: open"
            )


def notes(study: Study) -> Iterator[str]:
    """Yield a sentence about sentences that the study leaves out, or that its corpora lack."""
    for name, corpus in study.data.sections.items():
        try:
            test = local_split(corpus, "test") or []
            train = local_split(corpus, "train") or []
        except UserError:
            continue
        tests_both = {"nz", "wz"} <= set(study.settings)
        if test and tests_both and all(one.triples for one in [*train, *test]):
            yield (
                f"corpora/{name}: no sentence is without triples, so that the setting wz trains and tests on the "
                "sentences of nz"
            )
        empty = sum(not sentence.triples for sentence in test)
        if empty and "wz" not in study.settings:
            yield (
                f"corpora/{name}: {empty} of {len(test)} test sentences have no triples and are left out by the "
                "setting nz; settings: [nz, wz] tests on them, too"
            )
