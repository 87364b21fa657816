"""Time and memory of one extractor's training step and prediction, next to those of the bare
encoder.
"""

import contextlib
import csv
import dataclasses
import json
import os
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tripleaudit.core.files import atomic_write
from tripleaudit.core.randomness import generator
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.base import Extractor, by_sentence
from tripleaudit.extractors.registry import extractor_class
from tripleaudit.training.data import Collator, TrainingSentences, batches
from tripleaudit.training.optimizer import clip_gradients, make_optimizer
from tripleaudit.training.session import set_up
from tripleaudit.training.settings import TrainingSettings

SENTENCES = 1000  # synthetic, or the first of the file
LENGTHS = (21.0, 0.4, 6, 70)  # words: median, spread of the logarithm, least, most; as in WebNLG
TRIPLES = (
    0.36,
    0.21,
    0.17,
    0.13,
    0.08,
    0.03,
    0.02,
)  # share of sentences with 1, 2, … triples, as in WebNLG
ENTITY_WORDS = (0.45, 0.35, 0.15, 0.05)
PRIOR = 0.0025
LEARNING_RATES = (
    1e-4,
    1e-3,
)  # of encoder and heads: the model that predicts has learnt its sentences


@dataclasses.dataclass(frozen=True)
class Task:
    """What one process measures.

    Attributes:
        extractor: registry name. relations: R. encoder: folder of the encoder. data: file of WebNLG
        training sentences, or None for synthetic ones. training_batch, prediction_batch: sentences
        per batch. batches, rounds: batches of each phase and how often all of them are timed.
        warm_up: training steps before anything is timed. threads: CPU threads. gpu: measure on the
        first CUDA device, in bfloat16. goals: ratios of training and of prediction above which the
        profiler says what takes the time; None for none. model: settings of the extractor.
    """

    extractor: str
    relations: int
    encoder: str
    data: str | None
    training_batch: int
    prediction_batch: int
    batches: int
    rounds: int
    warm_up: int
    threads: int
    gpu: bool
    goals: tuple[float | None, float | None] = (None, None)
    model: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Measurement:
    """One line of the results.

    ``predicted`` and ``gold`` are triples per sentence, known for predictions; ``shares`` says,
    where a goal is missed, what takes the time, and ``calls`` how many operators a batch calls.
    """

    extractor: str
    relations: int
    phase: str
    batch: int
    ratio: float
    ratio_low: float
    ratio_high: float
    sentences_per_second: float
    peak_mb: float
    predicted: float | None = None
    gold: float | None = None
    shares: tuple[tuple[str, float], ...] = ()
    calls: int = 0


def run(task: Task) -> list[Measurement]:
    """Measure in a process of its own."""
    set_up(task.threads, level=30)
    return measure(task)


def measure(task: Task) -> list[Measurement]:
    """Measure training and prediction of one extractor; peak memory takes a fresh process.

    Memory comes first, before the bare encoder and its optimiser exist: for prediction the peak
    over the batches, for training the peak over the warm-up. Then the encoder and the extractor are
    timed in turn, batch by batch.
    """
    device = torch.device("cuda" if task.gpu else "cpu")
    torch.manual_seed(0)
    kind = extractor_class(task.extractor)
    relations = [f"relation{number}" for number in range(task.relations)]
    prior = PRIOR if kind.settings.sparse_outputs else None
    model = kind.from_encoder(task.encoder, relations, prior=prior, **task.model).to(device)
    sentences = read_sentences(Path(task.data)) if task.data else synthetic_sentences(model)
    dataset = TrainingSentences(renamed(sentences, relations), model)
    collator = Collator(kind, model.config, model.aligner.pad_id, seed=0)

    def full(size: int) -> list[list]:
        size = min(size, len(dataset))
        keys = [key for key in batches(dataset.lengths, size, 0, 0) if len(key) == size][
            : task.batches
        ]
        return [[dataset[place] for place in key] for key in keys]

    training = [on_device(collator(each), device) for each in full(task.training_batch)]
    predicting = [on_device(collator(each), device) for each in full(task.prediction_batch)]
    gold = sum(len(each["triples"]) for each in predicting) / sum(
        len(each["input_ids"]) for each in predicting
    )
    predicting = [
        {key: value for key, value in each.items() if key not in wanted_only(each)}
        for each in predicting
    ]

    step = training_step(model, kind, device)
    reset_peak(device)
    for number in range(max(1, task.warm_up)):
        model.step = number
        step(training[number % len(training)])
    training_peak = peak_mb(device)
    predict = prediction(model, device)
    reset_peak(device)
    found = sum(sum(map(len, predict(each))) for each in predicting)
    prediction_peak = peak_mb(device)

    torch.manual_seed(0)
    bare = Bare(kind.from_encoder(task.encoder, relations).encoder).to(device)
    results = []
    for phase, data, peak, floor, own, goal in (
        ("train", training, training_peak, bare_step(bare, device), step, task.goals[0]),
        (
            "predict",
            predicting,
            prediction_peak,
            bare_forward(bare, device),
            predict,
            task.goals[1],
        ),
    ):
        seconds = in_turn(floor, own, data, task.rounds, device)
        ratios = [mine / bare_seconds for bare_seconds, mine in seconds]
        shares, calls = (), 0
        if goal is not None and statistics.median(ratios) > goal:
            shares, calls = shares_of_time(own, data[:2], device)
        count = sum(len(each["input_ids"]) for each in data)
        last = phase == "predict"
        results.append(
            Measurement(
                task.extractor,
                task.relations,
                phase,
                len(data[0]["input_ids"]),
                round(statistics.median(ratios), 3),
                round(min(ratios), 3),
                round(max(ratios), 3),
                round(count / statistics.median(mine for _, mine in seconds), 2),
                round(peak, 1),
                predicted=round(found / count, 2) if last else None,
                gold=round(gold, 2) if last else None,
                shares=shares,
                calls=calls,
            )
        )
    return results


class Bare(torch.nn.Module):
    """An encoder alone."""

    def __init__(self, encoder: torch.nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the last hidden states."""
        return self.encoder(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).last_hidden_state


# What is timed


def precision(device: torch.device) -> contextlib.AbstractContextManager:
    """bfloat16 autocast on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def settings_of(kind: type[Extractor]) -> TrainingSettings:
    """The official settings of an extractor with learning rates that it learns a few batches
    with.
    """
    encoder_rate, head_rate = LEARNING_RATES
    rates = {"encoder_learning_rate": encoder_rate, "head_learning_rate": head_rate}
    return TrainingSettings(**(kind.settings.training_defaults | rates))


def training_step(
    model: Extractor, kind: type[Extractor], device: torch.device
) -> Callable[[dict], None]:
    """A training step as the trainer does it, with the extractor's official optimiser and
    clipping.
    """
    settings = settings_of(kind)
    optimizer = make_optimizer(model, settings)

    def step(batch: dict[str, Tensor]) -> None:
        model.train()
        with precision(device):
            loss = model(**batch).loss
        loss.backward()
        clip_gradients(model.parameters(), settings)
        optimizer.step()
        optimizer.zero_grad()

    return step


def prediction(model: Extractor, device: torch.device) -> Callable[[dict], list]:
    """Scores and decoding of a padded batch, to rows on the host."""

    def predict(batch: dict[str, Tensor]) -> list:
        model.eval()
        with precision(device):
            return by_sentence(*model.decoded(batch)[:2], batch["content_mask"].cpu())

    return predict


def bare_step(bare: Bare, device: torch.device) -> Callable[[dict], None]:
    """The encoder's own step: forward, backward from the mean of its squared output, fused
    AdamW.
    """
    optimizer = torch.optim.AdamW(bare.parameters(), lr=1e-5, fused=True)

    def step(batch: dict[str, Tensor]) -> None:
        bare.train()
        with precision(device):
            loss = bare(batch).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def bare_forward(bare: Bare, device: torch.device) -> Callable[[dict], None]:
    """The encoder's own forward pass."""

    def forward(batch: dict[str, Tensor]) -> None:
        bare.eval()
        with torch.inference_mode(), precision(device):
            bare(batch)

    return forward


def in_turn(
    floor: Callable, own: Callable, batches: Sequence[dict], rounds: int, device: torch.device
) -> list[tuple[float, float]]:
    """Time two functions on all batches, one after the other on each batch; seconds of both,
    summed, for each round.
    """

    def seconds(function: Callable, batch: dict) -> float:
        synchronise(device)
        began = time.perf_counter()
        function(batch)
        synchronise(device)
        return time.perf_counter() - began

    for function in (floor, own):
        function(batches[0])  # what is done once is not timed
    return [
        tuple(
            np.sum(
                [(seconds(floor, batch), seconds(own, batch)) for batch in batches], axis=0
            ).tolist()
        )
        for _ in range(rounds)
    ]


def synchronise(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize()


# What takes the time

KINDS = (  # of operators, by name; the first that fits counts
    (
        "matrix products",
        r"(add|b|badd|_int_)?mm_?$|addmv|mv$|dot$|gemm|cutlass|flash|attention|linear",
    ),
    ("optimiser", r"_fused_adam"),
    ("sorting and searching", r"sort|unique|searchsorted|nonzero|topk"),
    ("maxima, sums and norms", r"max|min|sum|norm|softmax|mean|any$|all$"),
    (
        "moving numbers",
        r"copy|cat$|stack|index|gather|scatter|select|fill|zero|embedding|flip|Memcpy|Memset",
    ),
    ("random numbers", r"bernoulli|dropout|random|uniform"),
    ("waiting for the device", r"Synchronize|_local_scalar_dense|^aten::item"),
)


def shares_of_time(
    function: Callable, batches: Sequence[dict], device: torch.device
) -> tuple[tuple[tuple[str, float], ...], int]:
    """Shares of the time of PyTorch's operators by kind, largest first, and calls of operators
    for each batch.
    """
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.type == "cuda" else [])
    with profile(activities=activities) as profiler:
        for batch in batches:
            function(batch)
        synchronise(device)
    seconds: dict[str, float] = {}
    calls = 0
    for event in profiler.key_averages():
        own = event.self_device_time_total if device.type == "cuda" else event.self_cpu_time_total
        kind = next(
            (kind for kind, names in KINDS if re.search(names, event.key)),
            "elementwise and other operators",
        )
        seconds[kind] = seconds.get(kind, 0.0) + own
        calls += event.count * event.key.startswith("aten::")
    total = sum(seconds.values())
    shares = sorted(
        ((kind, value / total) for kind, value in seconds.items()), key=lambda each: -each[1]
    )
    return tuple(shares), round(calls / len(batches))


# Results


def table(heads: Sequence[str], rows: Iterable[Sequence]) -> list[str]:
    """The lines of a Markdown table."""
    return [f"| {' | '.join(map(str, cells))} |" for cells in (heads, ["---"] * len(heads), *rows)]


def results_folder() -> Path:
    """Return the folder for results: ``BENCHMARKS_OUT``, by default one outside the checkout."""
    return Path(
        os.environ.get("BENCHMARKS_OUT") or Path(tempfile.gettempdir(), "tripleaudit-benchmarks")
    )


def write_results(stem: Path, columns: Sequence[str], rows: Iterable[object], text: str) -> None:
    """Write ``<stem>.csv``, these attributes of every row, and ``<stem>.md``."""
    with atomic_write(stem.with_suffix(".csv")) as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows([getattr(row, column) for column in columns] for row in rows)
    with atomic_write(stem.with_suffix(".md")) as file:
        file.write(text)


# Memory


def reset_peak(device: torch.device) -> None:
    """Begin a new peak, where the system allows it."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    else:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")


def peak_mb(device: torch.device) -> float:
    """Megabytes: the most that PyTorch held on a GPU; on a CPU the most that was resident of the
    whole process.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 1e6
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


# Sentences


def read_sentences(file: Path) -> list[Sentence]:
    """Read the first sentences of a ``triple_list`` file; entities at their first occurrence
    between blanks.
    """
    sentences = []
    for number, row in enumerate(json.loads(file.read_text(encoding="utf-8"))[:SENTENCES]):
        triples = [
            Triple(span_of(row["text"], subject), relation, span_of(row["text"], object_))
            for subject, relation, object_ in row["triple_list"]
        ]
        sentences.append(Sentence(str(number), row["text"], tuple(triples)))
    return sentences


def span_of(text: str, entity: str) -> Span:
    """The first occurrence of an entity between blanks."""
    match = re.search(rf"(?<!\S){re.escape(entity)}(?!\S)", text)
    return Span(match.start(), match.end(), entity) if match else Span(None, None, entity)


def synthetic_sentences(model: Extractor, count: int = SENTENCES) -> list[Sentence]:
    """Return random sentences with WebNLG's lengths, entity lengths and numbers of triples;
    entities do not overlap.
    """
    draw = random.Random(0)
    pieces = [piece for piece in model.tokenizer.get_vocab() if piece.removeprefix("##").isalnum()]
    initial = sorted(piece for piece in pieces if not piece.startswith("##"))
    rest = sorted(piece[2:] for piece in pieces if piece.startswith("##"))
    median, spread, least, most = LENGTHS
    sentences = []
    for number in range(count):
        wanted = draw.choices(range(1, len(TRIPLES) + 1), TRIPLES)[0]
        size = max(least, 4 * wanted, min(most, round(median * draw.lognormvariate(0, spread))))
        words = [
            draw.choice(initial) + (draw.choice(rest) if draw.random() < 0.25 else "")
            for _ in range(size)
        ]
        starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
        text = " ".join(words)
        entities, place = [], 0
        while place < size and len(entities) <= wanted:
            last = min(size, place + draw.choices(range(1, len(ENTITY_WORDS) + 1), ENTITY_WORDS)[0])
            start, end = starts[place], starts[last] - 1
            entities.append(Span(start, end, text[start:end]))
            place = last + draw.randint(0, 2)
        pairs = [draw.sample(entities, 2) for _ in range(wanted)]
        triples = {Triple(s, str(draw.randrange(10**6)), o) for s, o in pairs}
        sentences.append(Sentence(str(number), text, tuple(sorted(triples, key=str))))
    return sentences


def renamed(sentences: Sequence[Sentence], relations: Sequence[str]) -> list[Sentence]:
    """Give the triples relations of this number of relations, fixed by their own names."""
    fresh: dict[str, str] = {}

    def relation(name: str) -> str:
        if name not in fresh:
            fresh[name] = relations[int(generator(0, name).integers(len(relations)))]
        return fresh[name]

    return [
        dataclasses.replace(
            each,
            triples=tuple(
                dataclasses.replace(triple, relation=relation(triple.relation))
                for triple in each.triples
            ),
        )
        for each in sentences
    ]


def on_device(batch: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """Move a batch."""
    return {key: value.to(device) for key, value in batch.items()}


def wanted_only(batch: dict[str, Tensor]) -> set[str]:
    """The tensors of a training batch that prediction has not."""
    return set(batch) - {
        "input_ids",
        "attention_mask",
        "content_mask",
        "word_ids",
        "word_first",
        "word_last",
    }


def threads_at_hand(most: int = 2) -> int:
    """CPU threads to measure with."""
    return max(
        1,
        min(
            most,
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1,
        ),
    )
