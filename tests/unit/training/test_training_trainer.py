"""Whole training runs on a tiny encoder: resuming, early stopping, equal seeds, noise in every
epoch.
"""

import contextlib
import errno
import functools
import json
import math
import os
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml
from safetensors.torch import load_file

from support.versions import forget
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import sha256
from tripleaudit.core.locks import folder_lock
from tripleaudit.core.plugins import use_plugins
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import save_sentences
from tripleaudit.extractors import base
from tripleaudit.extractors.alignment import Aligner
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.protocols.noising import NoiseSettings
from tripleaudit.testing import build_extractor, exact_f1, save_tiny_encoder
from tripleaudit.testing import toy_sentences as all_toy_sentences
from tripleaudit.training import checkpoints, trainer
from tripleaudit.training import run as training_run
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.run import train_to
from tripleaudit.training.settings import TrainingSettings
from tripleaudit.training.step import Step
from tripleaudit.training.trainer import ExtractorTrainer, Progress, train_extractor


def toy_sentences() -> list[Sentence]:
    """The toy sentences without the chain, which takes more steps to fit."""
    return all_toy_sentences()[1:]


SETTINGS = {
    "epochs": 4, "batch_size": 4, "encoder_learning_rate": 1e-3, "head_learning_rate": 3e-3, "schedule": "linear",
    "noising": {"probability": 0.5}, "save_every": 3, "patience": 0,
}  # fmt: skip


def sentences(copies: int = 4):
    return [
        replace(each, id=f"{copy}-{each.id}") for copy in range(copies) for each in toy_sentences()
    ]


def score(expected, found):
    return {"f1": exact_f1(expected, found)}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """An encoder with dropout, so that its random numbers matter, and training sentences."""
    folder = tmp_path_factory.mktemp("training")
    save_tiny_encoder(folder / "encoder", dropout=0.1)
    save_sentences(folder / "train.jsonl", sentences())
    return folder


def run(
    home: Path, out: Path, seed: int = 5, scorer=score, on=None, name: str = "casrel", **changes
):
    options = {} if on is None else {"on": on}
    options |= {
        "settings": TrainingSettings.checked({**SETTINGS, **changes}, "training"),
        "inputs": {"train": home / "train.jsonl"},
        "seed": seed,
    }
    corpora = {"train": sentences(), "valid": sentences()[:7]}
    return train_to(out, name=name, encoder=home / "encoder", score=scorer, **corpora, **options)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def same(left: dict, right: dict) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[key], right[key]) for key in left)


@pytest.fixture(scope="module")
def reference(home):
    """An uninterrupted run."""
    result = run(home, home / "reference")
    return result, weights(home / "reference")


def test_a_run_leaves_a_model_its_history_and_its_provenance(home, reference):
    result, _ = reference
    folder = home / "reference"
    assert not (folder / "checkpoints").exists()
    assert load_extractor(folder).config.relations == ["C", "F", "L", "W"]
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    losses = [row for row in history if "loss" in row]
    validations = [row for row in history if "f1" in row]
    assert len(validations) == 4
    assert all({"step", "epoch", "learning_rate", "seconds"} <= row.keys() for row in losses)
    assert [row["step"] for row in losses] == list(range(1, 29))
    assert sum(row["loss"] for row in losses[-7:]) < sum(row["loss"] for row in losses[:7])
    record = json.loads((folder / "provenance.json").read_text())
    assert record["weights_sha256"] == sha256(folder / "model.safetensors")
    assert record["seed"] == 5
    assert record["device"] == "cpu"
    training, seconds = record["training"], result.progress.training_seconds
    assert training["steps"] == result.step == 28
    assert training["best_f1"] == max(row["f1"] for row in validations)
    assert training["counts"]["noise_noised"] > training["counts"]["noise_nested"] == 0
    assert (training["seconds"], training["seconds_per_epoch"]) == (
        round(seconds, 3),
        round(seconds / 4, 3),
    )
    assert training["validation_seconds"] == round(result.progress.validation_seconds, 3)
    assert (training["epochs"], training["best_step"]) == (4, result.progress.best_step)
    assert len(record["inputs"]["train"]["sha256"]) == 64
    assert record["settings"] == SETTINGS
    assert record["encoder"]["name"] == "encoder"
    assert record["encoder"]["layers"] == result.model.encoder.config.num_hidden_layers
    assert record["encoder"]["parameters"] > 0
    assert record["training"]["layout"] == result.model.config.layout
    assert record["training"]["words"] == result.model.config.words == "blanks"
    assert (
        record["training"]["counts"]["triples"]
        > record["training"]["counts"]["unwritable_triples"]
        == 0
    )
    head, _, card = (folder / "README.md").read_text().removeprefix("---\n").partition("\n---\n")
    assert yaml.safe_load(head)["tags"][-1] == "casrel" and "`C`, `F`, `L`, `W`" in card
    assert record["inputs"]["train"]["sha256"] in card and str(home) not in card
    (settings,) = re.findall(r"```json\n(.*?)```", card, re.DOTALL)
    assert json.loads(settings) == {
        name: value for name, value in record["settings"].items() if name != "module"
    }
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    used = {}
    exec(code.replace("FOLDER", str(folder)), used)
    assert type(used["model"]).__name__ == "CasRel"


@pytest.mark.parametrize("precision", ["bf16", "float32"])
def test_a_model_trains_validates_and_predicts_in_one_precision(
    home, tmp_path, monkeypatch, precision
):
    asked = {"trains": [], "predicts": []}

    def noted(what):
        return lambda device, wanted: asked[what].append(wanted) or False

    monkeypatch.setattr(trainer, "half_precision", noted("trains"))
    monkeypatch.setattr(base, "half_precision", noted("predicts"))
    run(home, tmp_path / "model", epochs=1, precision=precision)
    bf16 = precision == "bf16"
    assert asked == {"trains": [bf16], "predicts": [bf16]}  # one validation
    model = load_extractor(tmp_path / "model")
    assert model.config.bf16 is bf16
    model.extract(["london"])
    assert asked["predicts"] == [bf16] * 2


@pytest.mark.parametrize("formulation", ["", "device"])
def test_every_step_has_the_learning_rate_of_its_number(home, tmp_path, monkeypatch, formulation):
    """The first of a warm-up has none; a static batch brings its rate, another finds it set. The
    model knows it.
    """
    monkeypatch.setenv("TRIPLEAUDIT_FORMULATION", formulation)
    rates, steps, take_step = [], [], Step.__call__

    def recorded(self, batch, share=1, last=True):
        take_step(self, batch, share, last)
        if last:
            rates.append([float(group["lr"]) for group in self.optimizer.param_groups])
            steps.append(self.model.step)

    monkeypatch.setattr(Step, "__call__", recorded)
    run(home, tmp_path / "model", epochs=2, accumulation=2, warmup=0.5, noising=None)
    assert len(rates) == 8 and (formulation or steps == list(range(8)))
    factors = [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25]
    for peak in (SETTINGS["encoder_learning_rate"], SETTINGS["head_learning_rate"]):
        assert any([own[group] for own in rates] == pytest.approx([peak * factor for factor in factors])
                   for group in range(len(rates[0])))  # fmt: skip


def test_random_numbers_of_a_gpu_go_on_too(tmp_path, monkeypatch):
    """Dropout draws from them; CUDA is made up."""
    gpu, given = torch.device("cuda", 1), []
    monkeypatch.setattr(
        torch.cuda,
        "get_rng_state",
        lambda device: torch.full((16,), device.index, dtype=torch.uint8),
    )
    monkeypatch.setattr(
        torch.cuda, "set_rng_state", lambda state, device: given.append((state.tolist(), device))
    )
    model = SimpleNamespace(
        parameters=lambda: iter([SimpleNamespace(device=gpu)]), state_dict=dict, load_state_dict=len
    )
    optimizer = SimpleNamespace(state_dict=lambda: {"state": {}}, load_state_dict=len)
    checkpoints.save(tmp_path, model, optimizer, None, {"step": 3})
    before, load = torch.rand(3), torch.load
    monkeypatch.setattr(torch, "load", lambda path, map_location, **options: load(path, **options))
    assert checkpoints.load(tmp_path / "checkpoint-3.pt", model, optimizer) == ({"step": 3}, None)
    assert torch.equal(torch.rand(3), before) and given == [([1] * 16, gpu)]


def test_checkpoints_belong_to_all_that_decides_a_result_and_to_nothing_else(
    home, tmp_path, monkeypatch
):
    class Known(Exception):
        pass

    def reported(*_, fingerprint, **options):
        raise Known(fingerprint)

    def fingerprint(where=home, **changes):
        with pytest.raises(Known) as caught:
            run(where, tmp_path / "model", **changes)
        return caught.value.args[0]

    monkeypatch.setattr(training_run, "train_extractor", reported)
    first = fingerprint()
    assert fingerprint(save_every=9, save_minutes=1.0) == first
    for place, seed, texts in (("encoder", 1, sentences()), ("texts", 0, sentences()[1:])):
        save_tiny_encoder(tmp_path / place / "encoder", dropout=0.1, seed=seed)
        save_sentences(tmp_path / place / "train.jsonl", texts)
    others = [fingerprint(seed=6), fingerprint(epochs=5), fingerprint(noising={"probability": 0.4})]
    others += [fingerprint(tmp_path / "encoder"), fingerprint(tmp_path / "texts")]
    plugin = tmp_path / "plugin.py"
    for reduced in ("span.text", "span.text.lower()"):
        rule = f"MatchingRule(name='folded', reduce=lambda span: {reduced})"
        plugin.write_text(
            f"from tripleaudit.scoring.spec import MatchingRule\nRULE = {rule}\n",
            encoding="utf-8",
        )
        forget()  # as in another process
        use_plugins([str(plugin)])
        others.append(fingerprint(matching="folded"))
    assert others[-1] != others[-2]
    monkeypatch.setattr(training_run.code, "digest_of", lambda *_, **__: "other code")
    others.append(fingerprint())
    assert first not in others


def test_equal_seeds_give_equal_weights(home, reference, tmp_path):
    run(home, tmp_path / "again")
    assert same(weights(tmp_path / "again"), reference[1])
    run(home, tmp_path / "other", seed=6)
    assert not same(weights(tmp_path / "other"), reference[1])


def test_a_second_training_in_the_same_folder_is_refused(home, tmp_path, monkeypatch):
    monkeypatch.setattr(training_run, "folder_lock", functools.partial(folder_lock, patience=0))
    with (
        folder_lock(tmp_path / "m"),
        pytest.raises(UserError, match="m: another process is at work in this folder"),
    ):
        run(home, tmp_path / "m")
    assert list((tmp_path / "m").iterdir()) == []


def interrupt_at(monkeypatch, number: int) -> None:
    """End runs once the checkpoint of this step is complete."""
    save = checkpoints.save

    def interrupted(*arguments):
        save(*arguments)
        if arguments[-1]["step"] == number:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints, "save", interrupted)


@pytest.mark.parametrize("formulation", ["", pytest.param("device", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("step", "steps", "changes"),
    [
        (15, 28, {}),
        (7, 28, {"save_every": 7}),  # the end of an epoch
        (3, 28, {"epochs": 1, "batch_size": 1, "noising": None}),  # between two lines of the log
        (
            4,
            9,
            {"accumulation": 3, "epochs": 3, "save_every": 4},
        ),  # seven batches: two steps of three and one of one
    ],
)
def test_an_interrupted_run_ends_with_the_same_weights_and_history(
    home, tmp_path, monkeypatch, formulation, step, steps, changes
):
    monkeypatch.setenv("TRIPLEAUDIT_FORMULATION", formulation)
    whole = run(home, tmp_path / "whole", **changes)
    assert whole.step == steps
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, step)
        run(home, tmp_path / "resumed", **changes)
    assert [path.name for path in checkpoints.checkpoints(tmp_path / "resumed/checkpoints")] == [
        f"checkpoint-{step}.pt"
    ]
    seen, read = Counter(), TrainingSentences.__getitem__
    monkeypatch.setattr(
        TrainingSentences, "__getitem__", lambda self, key: seen.update(key[:1]) or read(self, key)
    )
    resumed = run(home, tmp_path / "resumed", **changes)
    assert min(seen) == step // (whole.step / whole.epoch)  # no epoch is repeated
    assert same(weights(tmp_path / "resumed"), weights(tmp_path / "whole"))
    assert [row.get("loss") for row in resumed.history] == [
        row.get("loss") for row in whole.history
    ]


def test_a_resumed_run_keeps_what_was_best_before_and_its_patience(home, tmp_path, monkeypatch):
    scores, changes = [0.5, 0.4, 0.3, 0.2], {"epochs": 6, "patience": 3, "schedule": "constant"}
    whole = run(home, tmp_path / "whole", scorer=iter_scores(scores), **changes)
    assert (whole.step, whole.progress.best_step, whole.progress.stopped) == (28, 7, True)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, 15)
        run(home, tmp_path / "resumed", scorer=iter_scores(scores[:2]), **changes)
    resumed = run(home, tmp_path / "resumed", scorer=iter_scores(scores[2:]), **changes)
    assert (resumed.step, resumed.progress.best_step, resumed.best_f1) == (28, 7, 0.5)
    assert same(weights(tmp_path / "resumed"), weights(tmp_path / "whole"))


def test_early_stopping_keeps_the_best_weights(home, tmp_path):
    scorer = iter_scores([0.2, 0.5, 0.4, 0.45])  # no further one is asked for
    result = run(home, tmp_path / "model", scorer=scorer, epochs=6, patience=2, schedule="constant")
    assert result.epoch == 4
    assert (result.progress.best_f1, result.progress.best_step) == (0.5, 14)
    kept = run(
        home,
        tmp_path / "two",
        scorer=iter_scores([0.2]),
        epochs=2,
        evaluate_from=2,
        schedule="constant",
    )
    assert kept.progress.best_step == 14
    assert same(weights(tmp_path / "model"), weights(tmp_path / "two"))


def iter_scores(values):
    values = iter(values)
    return lambda expected, found: {"f1": next(values)}


def test_patience_is_of_evaluations_in_a_row_once_there_is_any_skill():
    settings, progress, stale = TrainingSettings(patience=2, min_delta=0.1), Progress(), []
    for step, f1_ in enumerate((0.0, 0.0, 0.0, 0.3, 0.35, 0.6, 0.65, 0.5, 0.9)):
        progress.observe(f1_, step, 1.0, settings)
        stale.append((progress.stale, progress.stopped))
    assert stale == [(0, False)] * 4 + [(1, False), (0, False), (1, False), (2, True), (0, False)]


def test_without_sentences_nothing_is_trained(home, tmp_path):
    model = build_extractor(CasRel, home / "encoder")
    nothing = TrainingSentences([each for each in toy_sentences() if not each.triples][:0], model)
    with pytest.raises(UserError, match="no training sentence is left"):
        train_extractor(model, nothing, TrainingSettings(), seed=1, folder=tmp_path / "d")


@pytest.mark.parametrize("bf16", [False, True])
def test_divergence_is_one_clear_sentence(home, tmp_path, monkeypatch, bf16):
    """Which names the precision where that can be the cause."""
    forward = CasRel.forward

    def diverging(self, *arguments, **inputs):
        result = forward(self, *arguments, **inputs)
        if result.loss is not None:
            result.loss = result.loss * math.inf
        return result

    monkeypatch.setattr(CasRel, "forward", diverging)
    monkeypatch.setattr(trainer, "half_precision", lambda device, wanted: bf16)
    with pytest.raises(
        UserError, match="training diverged; expected settings with a lower learning rate"
    ) as caught:
        run(home, tmp_path / "model")
    assert str(caught.value).endswith(", or precision: float32") == bf16


def test_a_device_is_taken_when_all_is_aligned_and_given_back_before_the_model_is_saved(
    home, tmp_path, monkeypatch
):
    """Jobs that share a GPU must not hold it while they only use the processor."""
    order = []

    def noted(name, function):
        def call(*arguments, **options):
            order.append(name)
            return function(*arguments, **options)

        return call

    @contextlib.contextmanager
    def on():
        order.append("taken")
        yield torch.device("cpu")
        order.append("given back")

    monkeypatch.setattr(Aligner, "align", noted("aligned", Aligner.align))
    monkeypatch.setattr(
        training_run, "train_extractor", noted("trained", training_run.train_extractor)
    )
    monkeypatch.setattr(CasRel, "save_pretrained", noted("saved", CasRel.save_pretrained))
    run(home, tmp_path / "model", epochs=1, noising=None, on=on)
    assert order == [
        *["aligned"] * order.count("aligned"),
        "taken",
        "trained",
        "given back",
        "saved",
    ]
    assert "aligned" in order


@pytest.mark.parametrize(
    ("min_delta", "scores", "stale", "best_step"),
    [
        (0.0, (0.3, 0.3), 1, 0),  # a tie is no progress and keeps the earlier weights
        (0.25, (0.25, 0.5), 1, 1),  # better by min_delta itself: no progress, yet the best
        (0.25, (0.25, 0.75), 0, 1),
        (-1e-9, (0.3, 0.3), 0, 0),  # PtrNet's: a tie counts as progress
        (0.0, (0.5, 0.4, 0.45), 2, 0),  # the reference stays the best
        (0.0, (0.0001, 0.0001), 1, 0),  # that is some skill
        (0.0, (0.00005, 0.00005), 0, 1),  # and that is none: the newest weights
    ],
)
def test_what_counts_as_progress(min_delta, scores, stale, best_step):
    progress = Progress()
    for step, score in enumerate(scores):
        progress.observe(score, step, float(step), TrainingSettings(min_delta=min_delta))
    assert (progress.stale, progress.best_step, progress.best_epoch) == (
        stale,
        best_step,
        best_step,
    )
    assert (progress.best_f1, progress.reference) == (
        scores[best_step],
        max(scores),
    ) and not progress.stopped


class Clock:
    """A clock that moves when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def course(home, tmp_path, monkeypatch):
    """Train on 21 sentences one by one, and return the run and what it did after which step.

    A step takes 60 seconds of a clock that only steps and validations move.
    """
    clock = Clock()
    forward = CasRel.forward
    losses = []

    def timed_forward(self, *arguments, **inputs):
        clock.now += 60
        result = forward(self, *arguments, **inputs)
        losses.append(result.loss.item())
        return result

    def train(validate="constant", copies=3, **changes):
        events = []
        model = build_extractor(CasRel, home / "encoder")
        settings = {"batch_size": 1, "epochs": 1, "save_minutes": 0, "head_learning_rate": 1e-3}
        settings = TrainingSettings(**{**settings, **changes})

        def validate_in_3_seconds(model):
            clock.now += 3
            return validate()

        def report(row):
            events.append(("loss" if "loss" in row else "validation", row["step"]))

        def save(*arguments):
            events.append(("checkpoint", arguments[-1]["step"]))

        if validate == "constant":
            validate = lambda: {"f1": 0.5}  # noqa: E731
        with monkeypatch.context() as patch:
            patch.setattr(trainer, "time", clock)
            patch.setattr(checkpoints, "save", save)
            patch.setattr(CasRel, "forward", timed_forward)
            run = train_extractor(
                model,
                TrainingSentences(sentences(copies), model),
                settings,
                seed=1,
                folder=tmp_path,
                validate=validate and validate_in_3_seconds,
                report=report,
            )
        return SimpleNamespace(run=run, events=events, losses=losses)

    return train


def steps_with(kind: str, events: list[tuple[str, int]]) -> list[int]:
    """Return the steps after which something of a kind happened."""
    return [step for event, step in events if event == kind]


def test_losses_validations_and_checkpoints_follow_each_other(course):
    """Ten lines an epoch and one at its end; a checkpoint at its end follows the validation."""
    events = course(epochs=2, save_every=7).events
    even = list(range(2, 21, 2))
    assert steps_with("loss", events) == [*even, 21, *range(22, 43, 2)]
    assert steps_with("validation", events) == [21, 42]
    assert steps_with("checkpoint", events) == [7, 14, 21, 28, 35]  # none after the last step
    after_14 = [event for event, step in events if step == 14]
    after_21 = [event for event, step in events if step == 21]
    assert after_14 == ["loss", "checkpoint"]
    assert after_21 == ["loss", "validation", "checkpoint"]


@pytest.mark.parametrize(
    ("minutes", "expected"), [(0, []), (5, [5, 10, 15, 20]), (5.5, [6, 12, 18])]
)
def test_a_checkpoint_is_due_after_minutes(course, minutes, expected):
    assert steps_with("checkpoint", course(save_minutes=minutes).events) == expected


@pytest.mark.parametrize(
    ("settings", "validations", "saved"),
    [
        ({}, [1, 2, 3], [1, 2]),
        ({"evaluate_from": 2}, [2, 3], [1, 2]),
        ({"evaluate_every": 2}, [2, 3], [1, 2]),  # the end of the training is validated
        ({"validate": None}, [], [1, 2]),
        ({"patience": 1}, [1, 2], [1]),  # no checkpoint of a run that early stopping has ended
    ],
)
def test_what_follows_an_epoch_of_one_step(course, settings, validations, saved):
    changes = {"copies": 1, "batch_size": 7, "epochs": 3, "save_every": 1}
    events = course(**{**changes, **settings}).events
    assert steps_with("validation", events) == validations
    assert steps_with("checkpoint", events) == saved


@pytest.mark.parametrize("clip", ["none", "global"])
def test_a_line_has_the_mean_loss_since_the_line_before_and_the_rate_of_its_step(course, clip):
    rates = {"encoder_learning_rate": 1e-3, "head_learning_rate": 1e-3, "schedule": "linear"}
    trained = course(clip=clip, **rates)
    rows = [row for row in trained.run.history if "loss" in row]
    pairs = [trained.losses[at : at + 2] for at in range(0, 21, 2)]
    assert [row["loss"] for row in rows] == pytest.approx([sum(pair) / len(pair) for pair in pairs])
    expected = [1e-3 * (1 - (row["step"] - 1) / 21) for row in rows]
    assert [row["learning_rate"] for row in rows] == pytest.approx(expected)
    assert all(("grad_norm" in row) == (clip == "global") for row in rows)


@pytest.mark.parametrize(
    ("metrics", "chosen_by"),
    [({"f1": 0.5}, 0.5), ({"f1": 0.25, "entity_f1": 0.75}, 0.5), ({"f1": 0.5, "recall": 1}, 0.5)],
)
def test_the_best_epoch_is_chosen_by_triples_or_by_the_mean_with_entities(
    course, metrics, chosen_by
):
    run = course(validate=lambda: metrics, copies=1, batch_size=7).run
    times = {"seconds": 63.0, "epoch": 1.0, "step": 1}
    assert run.history[-1] == {**metrics, **times}
    progress = run.progress
    assert (progress.best_f1, progress.best_step, progress.best_epoch) == (chosen_by, 1, 1.0)
    assert (progress.training_seconds, progress.validation_seconds) == (60.0, 3.0)


@pytest.mark.parametrize(
    ("sentences", "settings", "steps_per_epoch", "steps", "log_every"),
    [
        (880, {}, 110, 1100, 11),  # ten lines an epoch
        (33, {}, 5, 50, 1),
        (880, {"accumulation": 3}, 37, 370, 3),
        (880, {"max_steps": 7}, 110, 7, 11),
    ],
)
def test_steps_of_an_epoch_and_of_a_run(
    home, tmp_path, monkeypatch, sentences, settings, steps_per_epoch, steps, log_every
):
    monkeypatch.setattr(trainer, "embedding_rows", lambda *_: None)
    dataset = SimpleNamespace(size=lambda unit: sentences)
    made = ExtractorTrainer(
        build_extractor(CasRel, home / "encoder"),
        dataset,
        TrainingSettings(**settings),
        seed=1,
        folder=tmp_path,
        validate=None,
    )
    assert (made.steps_per_epoch, made.steps, made.log_every) == (steps_per_epoch, steps, log_every)


def test_a_run_without_validation_and_checkpoints_has_neither(home, tmp_path, monkeypatch):
    """And where the clock stands still, no time."""
    monkeypatch.setattr(trainer, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    monkeypatch.setattr(
        checkpoints, "save", lambda *_: pytest.fail("nobody asked for a checkpoint")
    )
    model = build_extractor(CasRel, home / "encoder")
    data, settings = (
        TrainingSentences(sentences(1), model),
        TrainingSettings(epochs=1, batch_size=2),
    )
    result = train_extractor(model, data, settings, seed=1, folder=tmp_path)
    assert result.progress == Progress() and result.best_f1 is None
    assert (result.progress.best_f1, result.progress.best_step, result.progress.best_epoch) == (
        None,
        0,
        0,
    )
    assert (result.progress.training_seconds, result.progress.validation_seconds) == (0, 0)
    assert [(row["step"], row["epoch"], row["seconds"]) for row in result.history] == [
        (step, step / 4, 0) for step in range(1, 5)
    ]


def test_a_checkpoint_that_finds_no_space_is_one_sentence_and_leaves_the_one_before(
    home, tmp_path, monkeypatch
):
    fsync, written = os.fsync, []

    def full(file):
        written.append(file)
        if len(written) > 3:  # the fingerprint and two checkpoints
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(file)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"checkpoint-9\.pt: the disk is full"):
        run(home, tmp_path / "model")
    assert {path.name for path in (tmp_path / "model/checkpoints").iterdir()} == {
        "run.json",
        "checkpoint-6.pt",
    }


def test_a_run_that_would_end_before_its_first_validation_is_refused(home, tmp_path):
    """28 sentences in batches of 4, two batches a step: the second epoch is steps 5 to 8, and
    its end is validated.
    """
    changes = {"accumulation": 2, "evaluate_from": 2, "noising": None, "epochs": 3}
    with pytest.raises(UserError, match="would follow epoch 2, step 8, but max_steps is 4"):
        run(home, tmp_path / "short", max_steps=4, **changes)
    result = run(home, tmp_path / "long", max_steps=5, **changes)
    assert (result.step, result.progress.best_step) == (5, 5)


def test_entities_of_a_validation_count_once_a_sentence():
    """By hand: of the gold's tim, apple and london, and of the predicted tim and acme, tim is
    right.
    """

    def one(*triples):
        def span(text):
            return Span(None, None, text)

        return Sentence("s", "text", tuple(Triple(span(s), "r", span(o)) for s, o in triples))

    gold_, found = (
        [one(("tim", "apple"), ("tim", "london"))],
        [one(("tim", "acme"), ("acme", "tim"))],
    )
    assert training_run.entity_f1(gold_, found) == pytest.approx(2 * 1 / (3 + 2))
    assert training_run.entity_f1(gold_ * 2, [*found, *gold_]) == pytest.approx(2 * 4 / (6 + 5))
    assert training_run.entity_f1([one()], [one()]) == 0.0
    assert training_run.entity_f1([one(("a", "a"))], [one()]) == 0.0


@pytest.mark.parametrize(
    ("select_by", "measured"), [("f1", {"f1"}), ("f1+entities", {"f1", "entity_f1"})]
)
def test_entities_are_measured_where_the_best_epoch_is_chosen_by_them(
    home, tmp_path, select_by, measured
):
    result = run(home, tmp_path / "model", epochs=1, noising=None, select_by=select_by)
    (row,) = (row for row in result.history if "f1" in row)
    assert row.keys() - {"seconds", "epoch", "step"} == measured


def test_settings_of_a_training_have_the_defaults_of_its_extractor():
    settings = TrainingSettings(epochs=3, noising=NoiseSettings(probability=0.2))
    loop = training_run.loop_settings(settings, CasRel)
    assert loop.epochs == 3
    assert loop.batch_size == CasRel.settings.training_defaults["batch_size"]
    assert "noising" not in loop.full()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "--settings: not valid JSON"),
        ('{"encoder_layers": true}', "training/encoder_layers: expected a whole number, got True"),
        ('{"learning_rate": 1.0}', "training: unknown key 'learning_rate'"),
        (
            '{"noising": {"probabilty": 0.1}}',
            "unknown key 'probabilty', did you mean 'probability'",
        ),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_read(text, message, tmp_path, capsys):
    files = ["--train", "none.jsonl", "--valid", "none.jsonl", "--encoder", "none"]
    out = ["--out", str(tmp_path / "model"), "--extractor", "casrel"]
    assert main(["train", *files, *out, "--settings", text]) == 1
    assert message in capsys.readouterr().err


def test_weights_come_last_into_the_folder_of_a_model(home, tmp_path, monkeypatch):
    """Who sees them sees a whole model."""
    moved, replace_ = [], Path.replace
    monkeypatch.setattr(
        Path,
        "replace",
        lambda self, target: moved.append(Path(target).name) or replace_(self, target),
    )
    run(home, tmp_path / "model", epochs=1, noising=None)
    assert {"config.json", "history.jsonl", "provenance.json", "README.md"} <= set(moved)
    assert moved[-1] == "model.safetensors"


def test_a_classifier_is_validated_by_itself_and_learns_no_types(home, tmp_path, monkeypatch):
    monkeypatch.setattr(training_run, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    result = run(
        home, tmp_path / "zcc", name="zcc-binary", scorer=lambda *_: pytest.fail("that is for extractors"),
        epochs=1, noising=None,
    )  # fmt: skip
    record = json.loads((tmp_path / "zcc" / "provenance.json").read_text())
    assert result.best_f1 is not None and record["training"]["best_f1"] == result.best_f1
    assert (
        "entity_types" not in record["training"] and record["seconds"] == 0
    )  # the clock stood still


def test_twice_the_epochs_leave_a_history_and_no_model(home, tmp_path):
    """The same training goes on: until the single one ends, a constant rate makes both alike."""
    single = run(home, tmp_path / "single", epochs=2, schedule="constant")
    double = run(home, tmp_path / "double", epochs=2, schedule="constant", patience=1, double=True)
    assert {path.name for path in (tmp_path / "double").iterdir()} == {
        "history.jsonl",
        "provenance.json",
    }
    assert double.epoch == 4 and double.step == 2 * single.step
    losses = [[row["loss"] for row in each.history if "loss" in row] for each in (single, double)]
    assert losses[1][: len(losses[0])] == losses[0]
    record = json.loads((tmp_path / "double" / "provenance.json").read_text())
    assert record["settings"]["double"] is True
    assert (
        record["training"]["settings"]["epochs"],
        record["training"]["settings"]["patience"],
    ) == (4, 0)


def test_the_run_of_a_training_that_was_interrupted_begins_at_its_first_step(
    home, tmp_path, monkeypatch
):
    reported = []
    run_ = SimpleNamespace(log=lambda row, step: reported[-1].append(step), finish=lambda: None)
    monkeypatch.setitem(
        sys.modules, "trackio", SimpleNamespace(init=lambda **_: reported.append([]) or run_)
    )
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, 3)
        run(home, tmp_path / "model", epochs=1, report_to="trackio")
    run(home, tmp_path / "model", epochs=1, report_to="trackio")
    assert reported == [[1, 2, 3], [1, 2, 3, 4, 5, 6, 7, 7]]


def test_checkpoints_are_prepared_in_a_new_folder_and_what_was_cut_short_is_removed(tmp_path):
    folder = tmp_path / "new" / "checkpoints"
    assert checkpoints.prepare(folder, {"seed": 1}) is None and folder.is_dir()
    for name in ("checkpoint-2.pt", "checkpoint-10.pt", ".checkpoint-12.pt.abc"):
        (folder / name).write_bytes(b"")
    assert checkpoints.prepare(folder, {"seed": 1}) == folder / "checkpoint-10.pt"
    assert {path.name for path in folder.iterdir()} == {
        "run.json",
        "checkpoint-2.pt",
        "checkpoint-10.pt",
    }
    assert checkpoints.prepare(folder, {"seed": 2}) is None  # another run, which continues nothing
    assert [path.name for path in folder.iterdir()] == ["run.json"]
