"""Training steps and predictions of the extractors on one GPU, and of the bare encoder's captured
as one graph.

Needs no network: the encoder is a folder (``TRIPLEAUDIT_BENCH_ENCODER``, else the fetched MiniLM).
Each extractor is measured in turn, until the time left is shorter than the longest measurement; all
is written after each of them.
"""

import argparse
import collections
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from torch import Tensor, nn

from tripleaudit.core.files import atomic_write
from tripleaudit.extractors.base import Extractor, ExtractorOutput, by_sentence
from tripleaudit.extractors.registry import resolve
from tripleaudit.training.data import Collator, TrainingSentences, batches
from tripleaudit.training.optimizer import Rates, make_optimizer
from tripleaudit.training.settings import TrainingSettings
from tripleaudit.training.step import CapturedStep, Packed, Step, captured_stream, pack, scalars
from tripleaudit.training.trainer import ExtractorTrainer

from . import speed

ROOT = Path(__file__).resolve().parents[1]
RELATIONS = 216
SIZES = (0, 64, 256)  # 0: as in the preset
BATCHES = 6  # of each size: those of the most frequent shape
ROUNDS = 5
LONGEST = 12  # kernels that are named
STEPS, LAST = 500, 120  # of the training loop, and how many of them are timed
SECONDS = 480.0  # in which all of it is to end
NO_TIME = "no time left"
DEVICE = torch.device("cuda", 0)
TRAIN_GOALS = {
    "casrel": 1.5, "tdeer": 1.5, "birte": 1.5, "zcc-binary": 1.5, "prgc": 2.0, "pfn": 2.0, "tplinker": 2.5,
    "onerel": 4.0, "grte": 6.0, "ptrnet": 6.0, "unirel": None,
}  # fmt: skip
PREDICT_GOALS = {
    "casrel": 2.0, "tdeer": 2.0, "birte": 2.0, "prgc": 2.0, "tplinker": 4.0, "onerel": 4.0, "grte": 4.0, "pfn": 4.0,
    "ptrnet": 4.0,
}  # fmt: skip
NAMES = tuple(TRAIN_GOALS)


@dataclass
class Row:
    """One extractor at one batch size; milliseconds of a batch.

    Attributes:
        extractor, batch, precision: what was measured; precision is ``bf16``, ``float32`` or
        ``tf32``.
        step_ms, encoder_ms: of the captured step, and of the bare encoder's captured on the same
        batches.
        eager_ms: the same formulation launched operator by operator.
        busy: share of the captured step's time in which kernels run.
        kernels: of one captured step.
        synchronisations: of one step launched operator by operator, as PyTorch's own check counts
            them.
        loop_ms, tight_ms: of a step in the training loop, batches prepared meanwhile, and of the
            same batches again, prepared before.
        capture_ms: making one graph.
        predict_ms, forward_ms: prediction of a batch to rows on the host, and the encoder's forward
        pass.
        peak_mb: most memory held.
        equal: captured and eager steps gave the same weights, bit by bit.
        fault: why something is missing.
    """

    extractor: str
    batch: int
    precision: str
    step_ms: float = 0.0
    encoder_ms: float = 0.0
    eager_ms: float = 0.0
    busy: float = 0.0
    kernels: int = 0
    synchronisations: int = 0
    loop_ms: float = 0.0
    tight_ms: float = 0.0
    capture_ms: float = 0.0
    predict_ms: float = 0.0
    forward_ms: float = 0.0
    peak_mb: float = 0.0
    equal: str = ""
    fault: str = ""

    @property
    def ratio(self) -> float:
        """The captured step by the encoder's."""
        return self.step_ms / self.encoder_ms if self.encoder_ms else 0.0


class Encoder(nn.Module):
    """An encoder as a model whose loss is the mean square of its output."""

    static, name = True, "encoder"

    def __init__(self, extractor: Extractor):
        super().__init__()
        extractor.encoder.pooler = None
        self.encoder, self.encode = extractor.encoder, extractor.encode
        self.step = 0

    @property
    def device(self) -> torch.device:
        return self.encoder.device

    def schedule(self, step: int) -> dict[str, float]:
        return {}

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> ExtractorOutput:
        return ExtractorOutput(loss=self.encode(input_ids, attention_mask).float().square().mean())


class Bench:
    """Measures one extractor.

    Args:
        name: registry name.
        encoder: folder.
        sentences: WebNLG's, or None for synthetic ones.
        precision: see :class:`Row`.
    """

    def __init__(self, name: str, encoder: Path, sentences: list | None, precision: str):
        self.name, self.folder, self.precision = name, encoder, precision
        self.bf16 = precision == "bf16"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = (
            precision != "float32"
        )
        self.kind, self.implied = resolve(name)
        self.relations = [f"relation{number}" for number in range(RELATIONS)]
        self.settings = speed.settings_of(self.kind).model_copy(update={"accumulation": 1})
        model = self.made()
        sentences = speed.synthetic_sentences(model) if sentences is None else sentences
        self.data = TrainingSentences(speed.renamed(sentences, self.relations), model)

    def made(self) -> Extractor:
        """The same untrained model every time."""
        torch.manual_seed(0)
        prior = speed.PRIOR if self.kind.settings.sparse_outputs else None
        return self.kind.from_encoder(self.folder, self.relations, prior=prior, **self.implied)

    def step_of(self, kind: type[Step], model: nn.Module) -> Step:
        """A fresh optimiser's step."""
        if isinstance(model, Encoder):
            on_gpu = DEVICE.type == "cuda"
            optimizer = torch.optim.AdamW(
                model.parameters(), lr=1e-5, fused=True, capturable=on_gpu
            )
            return kind(model, optimizer, TrainingSettings(), self.bf16)
        return kind(model, make_optimizer(model, self.settings), self.settings, self.bf16)

    def batches(self, model: Extractor, size: int) -> list[Packed]:
        """Packed training batches, those of the most frequent layout."""
        collator = Collator(self.kind, model.config, model.aligner.pad_id, seed=0, static=size)
        optimizer = make_optimizer(model, self.settings)
        rates = scalars(model, Rates(optimizer, self.settings, 1000, 100).at(10), 10)
        packed = []
        for epoch in range(BATCHES):
            for key in batches(self.data.lengths, size, 0, epoch):
                packed.append(pinned(collator([self.data[place] for place in key]) | rates))
                if len(packed) >= 20 * BATCHES:
                    break
        layouts = [each.layout for each in packed]
        frequent = max(layouts, key=layouts.count)
        chosen = [each for each in packed if each.layout == frequent]
        return (chosen * BATCHES)[:BATCHES]

    def row(self, size: int, *, full: bool = True) -> Row:
        """Measure everything at one batch size."""
        size = size or self.settings.batch_size
        row = Row(self.name, size, self.precision)
        device = DEVICE
        model = self.made().to(device).train()
        batches = self.batches(model, size)
        torch.cuda.reset_peak_memory_stats()
        with captured_stream(device):
            eager = self.step_of(Step, self.made().to(device).train())
            torch.manual_seed(1)
            for batch in batches[:4]:
                eager(batch)
            captured = self.step_of(CapturedStep, model)
            torch.manual_seed(1)
            captured(batches[0])
            torch.cuda.synchronize()
            began = time.perf_counter()
            captured(batches[1])
            torch.cuda.synchronize()
            row.capture_ms = 1000 * (time.perf_counter() - began)
            for batch in batches[2:4]:
                captured(batch)
            if captured.possible:
                differences = [
                    (own - other).abs().max().item()
                    for own, other in zip(model.parameters(), eager.model.parameters(), strict=True)
                ]
                row.equal = "bit by bit" if max(differences) == 0 else f"{max(differences):.1e}"
            else:
                row.fault = "cannot be captured"
            row.step_ms = timed(captured, batches)
            row.peak_mb = torch.cuda.max_memory_allocated() / 1e6
            if full:
                row.eager_ms = timed(eager, batches[:3], rounds=2)
                row.synchronisations = synchronisations(eager, batches[0])
            row.busy, row.kernels, self.longest = profiled(captured, batches)
            del eager
            bare = self.step_of(CapturedStep, Encoder(self.made()).to(device).train())
            alone = [alone_of(each) for each in batches]
            for batch in alone[:2] * 2:
                bare(batch)
            row.encoder_ms = timed(bare, alone)
            del bare
            if full and self.kind.kind == "extractor":
                row.predict_ms, row.forward_ms = self.prediction(model, batches)
        return row

    def prediction(self, model: Extractor, batches: Sequence[Packed]) -> tuple[float, float]:
        """Milliseconds of decoding a batch, and of the encoder alone."""
        inputs = speed.wanted_only(batches[0].views(batches[0].buffer))
        data = []
        for batch in batches:
            views = batch.views(batch.buffer.to(DEVICE))
            data.append({key: value for key, value in views.items() if key not in inputs})
        model.eval()
        bare = Encoder(self.made()).to(model.device).eval()

        def precision() -> torch.autocast:
            return torch.autocast(DEVICE.type, torch.bfloat16, enabled=self.bf16)

        def predict(batch: dict[str, Tensor]) -> None:
            with precision():
                by_sentence(*model.decoded(batch)[:2], batch["content_mask"].cpu())

        def forward(batch: dict[str, Tensor]) -> None:
            with torch.inference_mode(), precision():
                bare.encode(batch["input_ids"], batch["attention_mask"])

        return timed(predict, data, rounds=3), timed(forward, data, rounds=3)


def alone_of(batch: Packed) -> Packed:
    """What the encoder reads of a batch."""
    views = batch.views(batch.buffer)
    return pinned({key: views[key] for key in ("input_ids", "attention_mask")})


def pinned(batch: dict[str, Tensor]) -> Packed:
    """A batch as the training loop hands it to a GPU."""
    return pack(batch, pinned=DEVICE.type == "cuda")


def timed(function: Callable, batches: Sequence, rounds: int = ROUNDS) -> float:
    """Milliseconds of a batch: the median of the rounds over all batches."""
    function(batches[0])
    seconds = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for batch in batches:
            function(batch)
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - began) / len(batches))
    return 1000 * statistics.median(seconds)


def profiled(function: Callable, batches: Sequence) -> tuple[float, int, list[str]]:
    """Share of the time in which kernels run, kernels of one step, and those that take the
    longest.
    """
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        began = time.perf_counter()
        for batch in batches:
            function(batch)
        torch.cuda.synchronize()
        wall = time.perf_counter() - began
    events = [
        each for each in profiler.events() if each.device_type == torch.autograd.DeviceType.CUDA
    ]
    busy = sum(each.device_time_total for each in events) / 1e6
    names: dict[str, list[float]] = {}
    for each in events:
        names.setdefault(each.name, []).append(each.device_time_total)
    longest = sorted(names.items(), key=lambda item: -sum(item[1]))[:LONGEST]
    lines = [f"{sum(times) / len(batches):.0f} µs, {len(times) / len(batches):g} times: {name[:110]}"
             for name, times in longest]  # fmt: skip
    return min(1.0, busy / wall), round(len(events) / len(batches)), lines


def synchronisations(function: Callable, batch: Packed) -> int:
    """How often PyTorch waits for the device in one step."""
    import warnings

    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(batch)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(each.message) for each in caught)


def loop_milliseconds(bench: Bench, size: int) -> tuple[float, float]:
    """Milliseconds of a step in the training loop after captures, and of the same batches
    prepared before.
    """
    other = {
        "batch_size": size, "max_steps": STEPS, "save_minutes": 0.0, "encoder_learning_rate": 1e-5,
        "head_learning_rate": 1e-5, "precision": "bf16" if bench.bf16 else "float32",
    }  # fmt: skip
    settings = bench.settings.model_copy(update=other)
    with tempfile.TemporaryDirectory() as folder, captured_stream(DEVICE):
        model = bench.made().to(DEVICE)
        trainer = ExtractorTrainer(
            model, bench.data, settings, seed=0, folder=Path(folder), validate=None
        )
        # no more batches are kept than are timed, so that page-locked memory is used again
        update, times, batches = trainer.update, [], collections.deque(maxlen=LAST)

        def noted(batch: Packed, share: int, last: bool) -> None:
            update(batch, share, last)
            times.append(time.perf_counter())
            batches.append(batch)

        trainer.update = Noted(update, noted)
        trainer.train()
        torch.cuda.synchronize()
        windows = [times[at] - times[at - 10] for at in range(len(times) - LAST, len(times), 10)]
        return 100 * statistics.median(windows), timed(update, list(batches), rounds=2)


class Noted:
    """A step that also notes when it was called; everything else is the step's own."""

    def __init__(self, step: Step, call: Callable):
        self.step, self.call = step, call

    def __call__(self, batch: Packed, share: int, last: bool) -> None:
        self.call(batch, share, last)

    def __getattr__(self, name: str):
        return getattr(self.step, name)


def markdown(rows: Sequence[Row], about: str) -> str:
    """The table with its goals."""
    heads = [
        "extractor", "batch", "precision", "captured step ms", "encoder's", "ratio", "goal", "eager ms", "in the loop",
        "busy", "kernels", "waits", "capture ms", "predict ms", "encoder's", "ratio", "goal", "peak MB",
        "captured = eager",
    ]  # fmt: skip
    cells = []
    for row in rows:
        predict = f"{row.predict_ms / row.forward_ms:.2f}" if row.forward_ms else ""
        loop = f"{row.loop_ms:.2f} (+{row.loop_ms / row.tight_ms - 1:.0%})" if row.tight_ms else ""
        cells.append([
            row.extractor, row.batch, row.precision, f"{row.step_ms:.2f}", f"{row.encoder_ms:.2f}", f"{row.ratio:.2f}",
            TRAIN_GOALS[row.extractor] or "", f"{row.eager_ms:.1f}", loop, f"{row.busy:.0%}", row.kernels,
            row.synchronisations, f"{row.capture_ms:.0f}", f"{row.predict_ms:.2f}", f"{row.forward_ms:.2f}", predict,
            PREDICT_GOALS.get(row.extractor, ""), f"{row.peak_mb:.0f}", row.fault or row.equal,
        ])  # fmt: skip
    return "\n".join(["# Extractors on a GPU", "", about, "", *speed.table(heads, cells)]) + "\n"


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and write ``gpu.csv`` and ``gpu.md``; 1 if an extractor failed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_gpu", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--extractor", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument(
        "--precision", nargs="+", choices=("bf16", "float32", "tf32"), default=["bf16"]
    )
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=list(SIZES), help="0: as in the preset"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--out", type=Path, default=speed.results_folder())
    options = parser.parse_args(list(arguments))
    if not torch.cuda.is_available():
        print("no GPU here: nothing is measured")
        return 0
    began = time.monotonic()
    file = speed_data()
    sentences = speed.read_sentences(file) if file else None
    data = "WebNLG" if file else "synthetic sentences"
    about = f"{torch.cuda.get_device_name()}; PyTorch {torch.__version__}; {data}; {RELATIONS} relations."
    rows, failed, kernels, longest = [], [], [], 0.0
    for name, precision, size in itertools.product(
        options.extractor, options.precision, options.sizes
    ):
        start = time.monotonic()
        if start - began + longest > options.seconds:
            row = Row(name, size, precision, fault=NO_TIME)
        else:
            row, kinds = measured(name, precision, size, sentences)
            longest = max(longest, time.monotonic() - start)
            kernels += kinds
        failed += [name] if row.fault not in ("", NO_TIME) else []
        rows.append(row)
        print(row, flush=True)
        with atomic_write(options.out / "gpu-kernels.txt") as file:
            file.write("\n".join(kernels))
        write(rows, about, options.out)
    print(markdown(rows, about))
    return int(bool(failed))


def measured(name: str, precision: str, size: int, sentences: list | None) -> tuple[Row, list[str]]:
    """One row and the kernels that take its time; what fails becomes the row's fault, and the
    others are measured.
    """
    row, kernels = Row(name, size, precision), []
    try:
        bench = Bench(name, encoder_folder(), sentences, precision)
        row = bench.row(size)
        kernels.append("\n".join([f"{name}, {row.batch}, {precision}", *bench.longest, ""]))
        if not size:
            row.loop_ms, row.tight_ms = loop_milliseconds(bench, row.batch)
    except Exception as error:
        row.fault = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        print(f"{name}, {size}, {precision}: {row.fault}", file=sys.stderr, flush=True)
        torch.cuda.empty_cache()
    return row, kernels


def write(rows: Sequence[Row], about: str, out: Path) -> None:
    """Write both files."""
    speed.write_results(
        out / "gpu", [field.name for field in fields(Row)], rows, markdown(rows, about)
    )


def encoder_folder() -> Path:
    """The encoder to measure with."""
    from .__main__ import minilm

    return minilm()


def speed_data() -> Path | None:
    """WebNLG's training sentences, where they are at hand."""
    from .__main__ import webnlg

    return webnlg()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
