"""What the language models among a study's systems are asked: test sets, and hidden halves. Sends nothing."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.files import read_json
from tripleaudit.generative.extraction import Task
from tripleaudit.llm.endpoint import Request
from tripleaudit.plan.systems import INFUSED, Systems
from tripleaudit.systems.completion import completion_task, to_complete
from tripleaudit.systems.language_model import task_of
from tripleaudit.systems.test_set import to_ask


@dataclass(frozen=True)
class Question:
    """All that a system is asked by one job.

    Attributes:
        corpus, system, about: of the job; ``about`` is a test set, or hidden halves.
        report: on the answers, with ``failed``.
        files: that the job reads.
        make: ``(*files) -> (sentences, Task)``, what it asks.
    """

    corpus: str
    system: str
    about: str
    report: str
    files: Sequence[str]
    make: Callable[..., tuple[Sequence[Sentence], Task]]

    @property
    def possible(self) -> bool:
        """Whether its files are there."""
        return all(map(os.path.isfile, self.files))

    @property
    def answered(self) -> bool:
        """Whether there is an outcome that is none of a failure."""
        return os.path.isfile(self.report) and not read_json(self.report).get("failed")

    def requests(self) -> list[Request]:
        """Return what is sent first; what follows an unreadable answer is not known."""
        sentences, task = self.make(*self.files)
        return [request for _, _, request in task.requests(sentences)]


def questions(systems: Systems) -> Iterator[Question]:
    """Yield what the language models among the systems are asked."""
    needles = systems.study.needles
    corpus = needles.triples.corpus if needles.triples else ""
    infused = [(corpus, "original-nz", name, INFUSED) for name in needles.triple_systems]
    for corpus, trainset, name, testset in [*systems.predicted, *infused]:
        if systems.kinds[name].name == "endpoint":
            wildcards = SimpleNamespace(corpus=corpus, trainset=trainset, extractor=name, testset=testset)
            given, job = systems.inputs(wildcards), json.loads(systems.job(corpus, name, 1, trainset))
            make = partial(_about_test_set, name, systems.settings(name), job=job, tell=systems.tells(wildcards))
            about = {"test": trainset.rpartition("-")[0], INFUSED: "triple needles"}.get(testset, testset)
            report = f"{systems.path(corpus, trainset, name, testset)}.report.json"
            yield Question(corpus, name, about, report, (given["test"], given["train"]), make)
    for corpus, name in systems.probe.runs:
        given = systems.probe.inputs(SimpleNamespace(corpus=corpus, extractor=name))
        make = partial(_about_halves, name, systems.settings(name), job=json.loads(systems.job(corpus, name, 1)))
        files = (given["test"], given["augmented"], given["train"])
        yield Question(corpus, name, "hidden halves", systems.probe.path(corpus, name), files, make)


def _about_test_set(*given: Any, **more: Any) -> tuple[Sequence[Sentence], Task]:
    asked, _ = to_ask(*given, **more)
    return asked.sentences, task_of(asked)


def _about_halves(*given: Any, **more: Any) -> tuple[Sequence[Sentence], Task]:
    _, _, asked = to_complete(*given, **more)
    return asked.sentences, completion_task(asked)
