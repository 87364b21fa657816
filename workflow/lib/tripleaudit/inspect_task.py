"""Extraction as a task of Inspect, by any of its providers, scored as everywhere here.

    inspect eval tripleaudit/extraction --model PROVIDER/MODEL -T test=test.jsonl -T
    train=train.jsonl --limit 100

The relations of the corpus are given, as in the setting ``closed`` of a study's ``systems``.
Inspect finds it by the entry point of the extra ``inspect``.
"""

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.model import Sentence, sentence_from_json
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.verbaliser import Verbaliser
from tripleaudit.generative.extraction import Call, Extraction
from tripleaudit.generative.extraction import Task as Question
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.reading import parse_triples
from tripleaudit.scoring.bootstrap import METRICS
from tripleaudit.scoring.matching import check_matching, sentence_counts
from tripleaudit.scoring.metrics import micro

DEMO = "resources/demo/{}.jsonl"
MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
COUNTS = ("correct", "predicted", "gold")


@task
def extraction(
    test: str = DEMO.format("test"),
    train: str = DEMO.format("train"),
    prompt: str = "closed-list",
    matching: str = "exact-string",
) -> Task:
    """Ask a model for the triples of each sentence of a test set.

    Args:
        test: any corpus format; the demo's by default.
        train: the same, for the names of the relations.
        prompt: of ``data/prompts`` by its name, or the path of your own.
        matching: when a triple is correct.
    """
    known, sentences = (read_corpus(shipped(path)).sentences for path in (train, test))
    relations = Verbaliser(
        sorted({triple.relation for sentence in known for triple in sentence.triples})
    )
    question = Question("semi-open", load_prompt(prompt), relations)
    samples = [
        Sample(
            input=[
                MESSAGES[turn["role"]](content=turn["content"])
                for turn in question.request(sentence).messages
            ],
            target=[" | ".join(triple.strings) for triple in sentence.triples],
            id=sentence.id,
            metadata={"sentence": sentence.to_json()},
        )
        for sentence in sentences
    ]
    return Task(
        MemoryDataset(samples),
        solver=generate(),
        scorer=triples(list(relations.names), check_matching(matching)),
    )


def predicted(answer: str, sentence: Sentence, relations: Verbaliser) -> Sentence:
    """Return a sentence with the triples of an answer, those of the given relations."""
    found = Extraction(sentence, (Call(None, parse_triples(answer)),)).prediction(relations)
    kept = tuple(triple for triple in found.triples if triple.relation in relations.names)
    return Sentence(sentence.id, sentence.text, kept)


def _total(name: str) -> Metric:
    """Return a micro score over all sentences, as Inspect computes it from those of each."""

    @metric(name=name)
    def of_all() -> Metric:
        def compute(scores: list[SampleScore]) -> float:
            counts = np.array(
                [[each.score.metadata[count] for count in COUNTS] for each in scores],
                dtype=np.int64,
            )
            return getattr(micro(counts.reshape(-1, 3)), name)

        return compute

    return of_all()


@scorer(metrics=[_total(name) for name in METRICS])
def triples(relations: list[str], matching: str = "exact-string") -> Scorer:
    """Count correct, predicted and gold triples of a sentence; its value is its own F1."""
    plain = Verbaliser(relations)

    async def score(state: TaskState, target: Target) -> Score:
        gold = sentence_from_json(state.metadata["sentence"], str(state.sample_id))
        guess = predicted(state.output.completion, gold, plain)
        counts = sentence_counts([gold], [guess], matching)
        said = [" | ".join(triple.strings) for triple in guess.triples]
        numbers = dict(zip(COUNTS, map(int, counts[0]), strict=True))
        return Score(value=micro(counts).f1, answer="\n".join(said), metadata=numbers)

    return score
