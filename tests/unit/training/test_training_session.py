"""What a job may take of a GPU that it shares; CUDA is made up."""

import pytest
import torch

from tripleaudit.errors import UserError
from tripleaudit.machine.devices import SHARE
from tripleaudit.training import session


@pytest.fixture
def one_gpu(monkeypatch):
    """A machine with a GPU; returns what was asked of it."""
    asked, zeros = [], torch.zeros
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda part, device: asked.append((part, str(device)))
    )
    monkeypatch.setattr(torch, "zeros", lambda *size, device, **kind: asked.append(size) or zeros(1, **kind))
    return asked


@pytest.mark.parametrize(("share", "part"), [("", 1.0), ("3", 1 / 3), ("12", 1 / 12)])
def test_a_job_takes_its_share_of_the_memory_before_anything_else(one_gpu, monkeypatch, share, part):
    monkeypatch.setenv(SHARE, share)
    assert session.device("auto") == torch.device("cuda", 0)
    assert one_gpu == [(part, "cuda:0"), (session.WORKSPACE,)]


def test_a_job_on_the_processor_asks_a_gpu_for_nothing(one_gpu, monkeypatch):
    assert session.device("0") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert session.device("auto") == torch.device("cpu")
    with pytest.raises(
        UserError, match="a GPU was asked for, but PyTorch sees none; expected a CUDA device, or --gpu 0"
    ):
        session.device("1")
    assert one_gpu == []
