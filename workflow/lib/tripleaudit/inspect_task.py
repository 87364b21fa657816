"""Triple extraction as a task of Inspect, with the scores of ``tripleaudit score``.

    inspect eval tripleaudit/extraction --model PROVIDER/MODEL -T test=test.jsonl -T
    train=train.jsonl --limit 100

The model may come from any provider of Inspect. It is given the relations of the training set, as in
the setting ``closed`` of a study's ``systems``, and triples with other relations are dropped.
Inspect finds the task by the entry point ``inspect_ai`` of the package.
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
from tripleaudit.generative.extraction import Task as ExtractionTask
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.reading import parse_triples
from tripleaudit.scoring.bootstrap import METRICS
from tripleaudit.scoring.matching import check_matching, sentence_counts
from tripleaudit.scoring.metrics import micro

DEMO = "resources/demo/{}.jsonl"
MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
COUNTS = ("correct", "predicted", "gold")
"""Names of the counts of a sentence, in the order of :func:`sentence_counts`."""


@task
def extraction(
    test: str = DEMO.format("test"),
    train: str = DEMO.format("train"),
    prompt: str = "closed-list",
    matching: str = "exact-string",
) -> Task:
    """Ask a model for the triples of each sentence of a test set.

    Args:
        test: path of the test set, in any corpus format; the demo's by default.
        train: path of the training set, which only provides the names of the relations.
        prompt: name of a prompt of ``data/prompts``, or the path of a prompt file.
        matching: name of the rule that decides whether a triple is correct.
    """
    training_sentences = read_corpus(shipped(train)).sentences
    test_sentences = read_corpus(shipped(test)).sentences
    names = {triple.relation for sentence in training_sentences for triple in sentence.triples}
    relations = Verbaliser(sorted(names))
    # ``closed`` of GenRES would give the model the gold entity pairs as well; ``semi-open`` does not
    extraction_task = ExtractionTask("semi-open", load_prompt(prompt), relations)
    samples = [_sample(sentence, extraction_task) for sentence in test_sentences]
    return Task(
        MemoryDataset(samples),
        solver=generate(),
        scorer=triples(list(relations.names), check_matching(matching)),
    )


def _sample(sentence: Sentence, extraction_task: ExtractionTask) -> Sample:
    """Return the messages about a sentence and its gold triples as a sample of Inspect."""
    request = extraction_task.request(sentence)
    messages = [MESSAGES[turn["role"]](content=turn["content"]) for turn in request.messages]
    return Sample(
        input=messages,
        target=_lines(sentence),
        id=sentence.id,
        metadata={"sentence": sentence.to_json()},
    )


def _lines(sentence: Sentence) -> list[str]:
    """Return each triple of a sentence as one line of text."""
    return [" | ".join(triple.strings) for triple in sentence.triples]


def read_prediction(answer: str, sentence: Sentence, relations: Verbaliser) -> Sentence:
    """Return a sentence with the triples of a model's answer; other relations are dropped."""
    call = Call(answer=None, parsed=parse_triples(answer))  # only the parsed triples are used
    prediction = Extraction(sentence, (call,)).prediction(relations)
    triples = [triple for triple in prediction.triples if triple.relation in relations.names]
    return Sentence(sentence.id, sentence.text, tuple(triples))


def _micro_metric(name: str) -> Metric:
    """Return a metric of Inspect: a micro score over all sentences.

    Args:
        name: precision, recall or f1.
    """

    @metric(name=name)
    def micro_metric() -> Metric:
        def compute(scores: list[SampleScore]) -> float:
            rows = []
            for sample_score in scores:
                counts = sample_score.score.metadata
                rows.append([counts[key] for key in COUNTS])
            total = micro(np.array(rows, dtype=np.int64).reshape(-1, len(COUNTS)))
            return getattr(total, name)

        return compute

    return micro_metric()


@scorer(metrics=[_micro_metric(name) for name in METRICS])
def triples(relations: list[str], matching: str = "exact-string") -> Scorer:
    """Score a sentence by its F1, and keep its counts for the micro scores of all sentences."""
    verbaliser = Verbaliser(relations)

    async def score(state: TaskState, target: Target) -> Score:
        gold = sentence_from_json(state.metadata["sentence"], str(state.sample_id))
        prediction = read_prediction(state.output.completion, gold, verbaliser)
        counts = sentence_counts([gold], [prediction], matching)
        named_counts = dict(zip(COUNTS, map(int, counts[0]), strict=True))
        return Score(
            value=micro(counts).f1,
            answer="\n".join(_lines(prediction)),
            metadata=named_counts,
        )

    return score
