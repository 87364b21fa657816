"""What a job may take of a GPU that it shares; CUDA is made up."""

import logging
import warnings

import pytest
import torch

from tripleaudit.core.devices import SHARE
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.training import session


@pytest.fixture
def one_gpu(monkeypatch):
    """A machine with a GPU; returns what was asked of it."""
    asked, zeros = [], torch.zeros
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda,
        "set_per_process_memory_fraction",
        lambda part, device: asked.append((part, str(device))),
    )
    monkeypatch.setattr(
        torch, "zeros", lambda *size, device, **kind: asked.append(size) or zeros(1, **kind)
    )
    return asked


@pytest.mark.parametrize(("share", "part"), [("", 1.0), ("3", 1 / 3)])
def test_a_job_takes_its_share_of_the_memory_before_anything_else(
    one_gpu, monkeypatch, share, part
):
    monkeypatch.setenv(SHARE, share)
    assert session.device("auto") == torch.device("cuda", 0)
    assert one_gpu == [(part, "cuda:0"), (session.WORKSPACE,)]


def test_a_job_on_the_processor_asks_a_gpu_for_nothing(one_gpu, monkeypatch):
    assert session.device("0") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert session.device("auto") == torch.device("cpu")
    with pytest.raises(
        UserError,
        match="a GPU was asked for, but PyTorch sees none; expected a CUDA device, or --gpu 0",
    ):
        session.device("1")
    assert one_gpu == []


@pytest.mark.parametrize(("threads", "set_to"), [(0, []), (1, [1]), (3, [3])])
def test_a_process_sets_its_threads_and_its_log_up(monkeypatch, logging_as_it_was, threads, set_to):
    asked = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    monkeypatch.setattr(session, "keep_freed_memory", lambda: None)
    before = logging.StreamHandler()
    logging.getLogger().addHandler(before)
    session.set_up(threads, logging.DEBUG)
    assert asked == set_to
    assert before not in logging.getLogger().handlers  # another library's lines would come twice
    assert logging.getLogger("tripleaudit").level == logging.DEBUG
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.set_up()
        warnings.warn(
            "RNN module weights are not part of single contiguous chunk of memory. More",
            stacklevel=1,
        )
    assert asked == set_to and logging.getLogger("tripleaudit").level == logging.INFO


@pytest.mark.parametrize(
    ("count", "listed"), [(5, "r0, r1, r2, r3, r4)"), (6, "r0, r1, r2, r3, r4, …)")]
)
def test_relations_that_a_model_cannot_predict_are_named(caplog, count, listed):
    span = Span(0, 1, "a")
    names = ["known", *(f"r{number}" for number in range(count)), "r0"]
    rows = [Sentence(name, "a", (Triple(span, name, span),)) for name in names]
    session.report_unknown_relations(rows, ["known"], "test")
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{count + 1} test triples have a relation that was not in training ({listed}; they count as misses"
    )
    caplog.clear()
    session.report_unknown_relations(rows[:1], ["known"], "test")
    assert not caplog.records
