"""One system on one test set: predictions as an extractor's, and costs."""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.core import storage
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences, load_set, save_sentences
from tripleaudit.systems.queries import Answered, Query, counts_of, query_system
from tripleaudit.systems.spec import SYSTEM_KINDS

logger = logging.getLogger(__name__)


def spread(sentences: list[Any], limit: int | None) -> list[Any]:
    """Return evenly spread sentences from first to last; all without a limit."""
    if limit is None or limit >= len(sentences):
        return sentences
    return [sentences[position * len(sentences) // limit] for position in range(limit)]


def named_relations(
    sentences: Iterable[Sentence], job: Mapping[str, Any], only: bool = False
) -> dict[str, str]:
    """Return relations of sentences and of the study, with descriptions.

    ``only`` selects those of the sentences.
    """
    names = sorted({triple.relation for each in sentences for triple in each.triples})
    described = {
        name: text for name, text in job.get("relations", {}).items() if not only or name in names
    }
    return {**dict.fromkeys(names, ""), **described}


def to_query(
    name: str,
    settings: Mapping[str, Any],
    test: str | Path,
    train: str | Path,
    job: Mapping[str, Any],
    schema_of_test: bool = False,
) -> tuple[Query, int]:
    """Return the query of a test set, and its size; arguments as :func:`predict_system`."""
    gold, seen = load_set(test), load_sentences(train) if train else []
    return make_query(name, settings, gold, seen, job, schema_of_test), len(gold)


def make_query(
    name: str,
    settings: Mapping[str, Any],
    gold: list[Sentence],
    seen: Sequence[Sentence],
    job: Mapping[str, Any],
    schema_of_test: bool = False,
) -> Query:
    """Return the query of a system about sentences.

    Args:
        gold: the test sentences, whose triples are not shown to the system.
        seen: the training sentences.
        name, settings, job, schema_of_test: as :func:`predict_system`.
    """
    sentences = spread([Sentence(each.id, each.text) for each in gold], settings.get("limit"))
    relations = named_relations(gold if schema_of_test else seen, job, only=schema_of_test)
    return Query(name, settings, sentences, relations, seen, job)


@dataclass(frozen=True)
class SystemFiles:
    """Files of one system on one test set.

    Attributes:
        test: sentences; their triples are not shown to the system. train: sentences that relations,
        and examples for language models, come from; empty for none. out, report: files to write.
        files: of stored predictions for this test set. model, server_log: file of the model that a
        language model's server runs on, and its output.
    """

    test: str | Path
    out: str | Path
    report: str | Path
    train: str | Path = ""
    files: Sequence[str] = ()
    model: Sequence[str] = ()
    server_log: str | None = None


def predict_system(
    name: str,
    settings: Mapping[str, Any],
    files: SystemFiles,
    job: Mapping[str, Any],
    attempt: int = 0,
    schema_of_test: bool = False,
) -> None:
    """Write a system's predictions and a report: counts, times, money, or its failure.

    A system that cannot answer all sentences ends here with an empty prediction file and a report
    that says why; nothing else of the study is touched by it.

    Args:
        settings: its entry under ``systems``, without what only the scheduler needs; one key names
            its kind (:data:`~tripleaudit.systems.spec.SYSTEM_KINDS`).
        job: what decides no result: threads, the section ``generative``, the name of the study.
        attempt: number of this try after tries that failed.
        schema_of_test: the relations that there are are those of the test set, and not those of
            training.
    """
    (kind,) = (key for key in settings if key in SYSTEM_KINDS)
    train = str(files.train) if files.train else None
    given = {**job, "train": train, "files": files.files}
    given |= {"model": files.model, "server_log": files.server_log}
    query, of = to_query(name, settings, files.test, files.train, given, schema_of_test)
    start, failed, answered = time.monotonic(), None, Answered(())
    try:
        answered = query_system(SYSTEM_KINDS[kind], query)
    except UserError as error:
        failed = str(error)
        logger.error("%s: %s", name, failed)
    except MemoryError:  # the job is tried again with more
        raise
    except (
        Exception
    ) as error:  # of a reader, a plugin or a library: it costs the row, not the study
        if storage.sentence(error):
            raise
        failed = f"{type(error).__name__}: {' '.join(str(error).split())}"
        logger.exception("%s: %s", name, failed)
    seconds = time.monotonic() - start
    counts = counts_of(answered.sentences)
    logger.info("%d sentences, %d triples, %.1f s", counts["sentences"], counts["triples"], seconds)
    facts: dict[str, Any] = {
        "system": name,
        "kind": kind,
        "device": "cpu",
        "failed": failed,
        "attempt": attempt,
    }
    write_json(
        files.report,
        {
            **facts,
            "seconds": round(seconds, 3),
            **counts,
            **answered.facts,
            "queried": len(query.sentences),
            "of": of,
        },
    )
    save_sentences(files.out, answered.sentences)
