"""Packed batches, threads that prepare them, and steps in the device's formulation."""

import contextlib
import sys

import pytest
import torch

from benchmarks.bench_operators import device_formulation
from support.captured import Replayed, ReplayedStep, pretend
from support.extractors import NAMES, built
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.testing import build_extractor, toy_sentences, training_batch
from tripleaudit.training import step as steps
from tripleaudit.training.optimizer import Rates, make_optimizer
from tripleaudit.training.settings import TrainingSettings
from tripleaudit.training.step import CapturedStep, Step, make_step, pack, scalars


def test_a_packed_batch_is_the_batch():
    batch = {
        "ids": torch.arange(6).view(2, 3),
        "valid": torch.tensor([True, False, True]),
        "rates": torch.tensor([0.5, 0.25]),
        "none": torch.zeros(0, 4, dtype=torch.int64),
        "wide": torch.arange(8).view(2, 4).T,
    }
    packed = pack(batch, pinned=False)
    views = packed.views(packed.buffer.clone())
    assert views.keys() == batch.keys()
    assert all(
        torch.equal(views[name], value) and views[name].dtype == value.dtype
        for name, value in batch.items()
    )
    assert (
        pack({name: value.clone() for name, value in batch.items()}, pinned=False).layout
        == packed.layout
    )
    assert pack(batch | {"ids": torch.arange(8).view(2, 4)}, pinned=False).layout != packed.layout


@pytest.fixture
def gpu(monkeypatch):
    """What a step asks of CUDA around a capture; returns the device's random numbers."""
    return pretend(monkeypatch)


class Refused(Replayed):
    """A graph that cannot be captured, but for the first one; its end says less than what went
    wrong inside.
    """

    begun = 0

    def capture_begin(self, **options):
        Refused.begun += 1
        super().capture_begin(**options)

    def capture_end(self):
        super().capture_end()
        if Refused.begun > 1:
            raise RuntimeError("operation failed due to a previous error during capture")


class RefusedStep(ReplayedStep):
    """A step that looks at a value, which no capture but the first one forgives."""

    def _run(self, batch, share, last):
        super()._run(batch, share, last)
        if Replayed.capturing is not None and Refused.begun > 1:
            torch.cuda.default_generators[0].usable = False
            raise RuntimeError("operation not permitted when stream is capturing\nmore")


def packed_batches(model, optimizer, settings):
    """Batches of two layouts, each several times, with their learning rates and scheduled
    numbers.
    """
    rates = Rates(optimizer, settings, 10, 5)
    for number in range(6 * settings.accumulation):
        model.step = number // settings.accumulation
        chosen = (toy_sentences() * 2)[number % 6 :][: 4 if number % 2 else 3]
        batch = training_batch(model, chosen, epoch=number % 6, static=4)
        batch |= {"unused": torch.zeros(number % 2 + 1)}  # makes the layouts differ for certain
        yield pack(batch | scalars(model, rates.at(model.step), model.step), pinned=False)


def trained(name, encoder, kind, accumulation=1, **options):
    """The weights after some steps in the device's formulation."""
    model = built(name, encoder).train()
    settings = TrainingSettings(
        encoder_learning_rate=1e-3,
        head_learning_rate=3e-3,
        schedule="linear",
        clip="global",
        accumulation=accumulation,
    )
    with device_formulation():
        optimizer = make_optimizer(model, settings)
        update = kind(model, optimizer, settings, False)
        torch.manual_seed(1)
        for number, batch in enumerate(packed_batches(model, optimizer, settings)):
            update(batch, accumulation, number % accumulation == accumulation - 1)
    return update, [value.detach() for value in model.parameters()]


@pytest.mark.parametrize("name", NAMES)
def test_replayed_and_eager_steps_give_equal_weights(tiny_encoder, monkeypatch, gpu, name):
    """Bit by bit: the buffers of a layout carry everything that differs from step to step."""
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Replayed)
    update, replayed = trained(name, tiny_encoder, ReplayedStep)
    assert (update.possible, update.graphs) == (True, 2)
    _, eager = trained(name, tiny_encoder, Step)
    assert all(torch.equal(own, other) for own, other in zip(replayed, eager, strict=True))


def test_replayed_steps_of_several_batches_give_the_weights_of_eager_ones(
    tiny_encoder, monkeypatch, gpu
):
    """Each place in a step has its graph, and all of them add to one gradient; three batches are
    one step.
    """
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Replayed)
    update, replayed = trained("casrel", tiny_encoder, ReplayedStep, accumulation=3)
    assert (update.possible, update.graphs) == (True, 4)
    # the sums that all graphs add to are still there, and empty
    assert not any(each.grad.any() for each in update.model.parameters())
    _, eager = trained("casrel", tiny_encoder, Step, accumulation=3)
    assert all(torch.equal(own, other) for own, other in zip(replayed, eager, strict=True))


def test_the_first_batch_of_a_layout_warms_up_and_later_ones_are_replayed(
    tiny_encoder, monkeypatch, gpu
):
    """Of six batches of two layouts each layout's first is launched eagerly; beyond the most
    graphs all are.
    """
    eager, run = [], Step._run
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Replayed)
    monkeypatch.setattr(Replayed, "replay", lambda self: eager.append("replayed"), raising=False)

    class Noted(CapturedStep):
        def _run(self, batch, share, last):
            if Replayed.capturing is None:
                eager.append("eager")
                run(self, batch, share, last)

    trained("casrel", tiny_encoder, Noted)
    assert eager == ["eager"] * 2 + ["replayed"] * 4
    eager.clear()
    monkeypatch.setattr(steps, "MOST_GRAPHS", 1)
    trained("casrel", tiny_encoder, Noted)
    assert eager == ["eager"] * 2 + ["replayed", "eager"] * 2


@pytest.mark.parametrize("accumulation", [1, 2])
def test_a_step_that_cannot_be_captured_goes_on_operator_by_operator(
    tiny_encoder, monkeypatch, gpu, caplog, accumulation
):
    """With the weights that eager steps give: no random number, graph or sum of gradients of
    before is in its way.
    """
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Refused)
    monkeypatch.setattr(Refused, "begun", 0)
    update, fallen = trained("casrel", tiny_encoder, RefusedStep, accumulation=accumulation)
    assert Refused.begun == 2
    assert gpu.usable
    assert not update.possible
    assert [bucket.graph for bucket in update.buckets.values()] == [None] * len(update.buckets)
    (record,) = (each for each in caplog.records if each.levelname == "WARNING")
    assert record.message.endswith(
        "launched one by one: operation not permitted when stream is capturing"
    )
    _, eager = trained("casrel", tiny_encoder, Step, accumulation=accumulation)
    assert all(torch.equal(own, other) for own, other in zip(fallen, eager, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_every_batch_has_a_gradient_of_the_same_parameters(tiny_encoder, name):
    """Else the optimiser would make its moments inside a graph, which would clear them at each
    replay.
    """
    model = built(name, tiny_encoder).train()
    without = [each for each in toy_sentences() if not each.triples]
    reached = []
    with device_formulation():
        for chosen in (toy_sentences(), without):
            batch = training_batch(model, chosen, static=len(toy_sentences()))
            schedule = {key: torch.tensor(value) for key, value in model.schedule(0).items()}
            model.zero_grad(set_to_none=True)
            model(**batch, **schedule).loss.backward()
            reached.append(
                [own for own, parameter in model.named_parameters() if parameter.grad is not None]
            )
    assert reached[0] == reached[1]
    assert reached[0] == [own for own, _ in model.named_parameters()]


def test_equal_batches_of_one_step_make_the_step_of_one_batch(tiny_encoder):
    """With plain gradient descent: Adam and clipping would hide a loss that is not divided."""
    results = []
    for share in (1, 2, 3):
        model = build_extractor(CasRel, tiny_encoder).eval()
        batch = training_batch(model, toy_sentences()[:4])
        update = Step(
            model, torch.optim.SGD(model.parameters(), lr=1e-3), TrainingSettings(), bf16=False
        )
        before = torch.cat([value.detach().flatten() for value in model.parameters()])
        for number in range(share):
            update(batch, share, number == share - 1)
        after = torch.cat([value.detach().flatten() for value in model.parameters()])
        results.append((update.total, after - before))
        assert all(
            parameter.grad is None for parameter in model.parameters()
        )  # zeros would still move moments
    assert results[0][1].abs().max() > 1e-4
    for several in results[1:]:
        for one, other in zip(results[0], several, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


def test_the_gradients_of_all_parameters_are_clipped_together(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder).eval()
    settings = TrainingSettings(clip="global", clip_norm=1e-3)
    optimizer, norms = make_optimizer(model, settings), []

    def record_norm(*_):
        gradients = [parameter.grad for parameter in model.parameters()]
        norms.append(torch.nn.utils.get_total_norm(gradients).item())

    optimizer.register_step_pre_hook(record_norm)
    update = Step(model, optimizer, settings, bf16=False)
    update(training_batch(model, toy_sentences()[:4]))
    assert update.norm > 0.1
    assert norms == [pytest.approx(settings.clip_norm, rel=1e-4)]


def test_what_is_read_between_steps_stays_in_its_place(tiny_encoder):
    """A graph writes the sum of losses and the norm of gradients to where they were when it was
    captured.
    """
    model = build_extractor(CasRel, tiny_encoder).train()
    settings = TrainingSettings(clip="global", clip_norm=1e-3)
    with device_formulation():
        optimizer = make_optimizer(model, settings)
        update = Step(model, optimizer, settings, bf16=False)
        places, norms = [], []
        for batch in packed_batches(model, optimizer, settings):
            update(batch)
            places.append((update.total.data_ptr(), update.norm.data_ptr()))
            norms.append(update.norm.item())
    assert len(set(places)) == 1
    assert len(set(norms)) == len(norms)  # each step writes its own, that before clipping
    assert min(norms) > settings.clip_norm


@pytest.mark.parametrize("bf16", [False, True])
def test_a_step_computes_in_the_precision_that_it_is_given(tiny_encoder, bf16):
    model = build_extractor(CasRel, tiny_encoder).train()
    seen, forward = [], model.forward

    def watched(**batch):
        seen.append(
            torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is torch.bfloat16
        )
        return forward(**batch)

    model.forward = watched
    update = Step(model, make_optimizer(model, TrainingSettings()), TrainingSettings(), bf16)
    update(training_batch(model, toy_sentences()[:2]))
    assert seen == [bf16]
    assert all(each.dtype == torch.float32 for each in model.parameters())


def test_on_a_gpu_static_steps_are_captured_and_the_log_says_of_others_why_not(monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr(steps, "CapturedStep", lambda *_: "captured")
    monkeypatch.setattr(steps, "Step", lambda *_: "one by one")

    def made(static: bool, device: str) -> str:
        kind = type("Model", (), {"static": static, "name": "slow", "device": torch.device(device)})
        return make_step(kind(), None, TrainingSettings(), True)

    assert (made(True, "cuda"), made(True, "cpu"), made(False, "cpu")) == (
        "captured",
        "one by one",
        "one by one",
    )
    assert not caplog.messages
    assert made(False, "cuda") == "one by one"
    assert caplog.messages == ["slow has no static formulation: operators are launched one by one"]


def test_a_step_on_a_gpu_runs_in_a_stream_of_its_own_and_threads_are_switched_more_often(
    monkeypatch,
):
    order, before = [], sys.getswitchinterval()

    class Stream:
        def __init__(self, name):
            self.name = name

        def wait_stream(self, other):
            order.append((self.name, other.name))

    default = Stream("default")
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: Stream("own"))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: default)
    monkeypatch.setattr(
        torch.cuda, "stream", lambda stream: contextlib.nullcontext(order.append(stream.name))
    )
    with steps.captured_stream(torch.device("cuda", 0)):
        order.append("step")
        assert sys.getswitchinterval() < before
    assert order == [("own", "default"), "own", "step", ("default", "own")]
    assert sys.getswitchinterval() == before
    with steps.captured_stream(torch.device("cpu")):
        assert sys.getswitchinterval() == before
