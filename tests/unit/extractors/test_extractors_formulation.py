"""Which formulation runs where, how large its tables are, and in which precision; CUDA is made
up.
"""

import contextlib
from types import SimpleNamespace

import pytest
import torch

from tripleaudit.extractors import formulation
from tripleaudit.extractors.formulation import (
    at_once,
    cells_at_once,
    half_precision,
    on_device,
    products,
)

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")


def test_the_variable_decides_on_a_cpu_alone(monkeypatch):
    monkeypatch.delenv(formulation.VARIABLE, raising=False)
    assert [on_device(where) for where in (GPU, CPU, torch.zeros(1))] == [True, False, False]
    monkeypatch.setenv(formulation.VARIABLE, "device")
    assert [on_device(where) for where in (GPU, CPU, torch.zeros(1))] == [True, True, True]
    monkeypatch.setenv(formulation.VARIABLE, "gpu")
    with pytest.raises(
        ValueError, match="TRIPLEAUDIT_FORMULATION is 'gpu', expected 'device' or nothing"
    ):
        on_device(CPU)


@pytest.mark.parametrize(("available", "part"), [(True, 1.0), (True, 0.25), (False, 1.0)])
def test_a_table_takes_a_sixteenth_of_what_a_job_has_of_the_memory_in_numbers_of_four_bytes(
    monkeypatch, available, part
):
    """Of all the memory where nothing says what share the job has."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda device: part)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=2**36)
    )
    assert cells_at_once(GPU) == part * 2**36 // 16 // 4
    assert cells_at_once(CPU) == formulation.CPU_CELLS


@pytest.mark.parametrize(
    ("device", "able", "wanted", "bf16", "tf32"),
    [
        (GPU, True, True, True, True),
        (
            GPU,
            True,
            False,
            False,
            False,
        ),  # a study that wants float32 gets no other products, either
        (GPU, False, True, False, False),
        (CPU, True, True, False, "before"),
    ],
)
def test_precision(monkeypatch, device, able, wanted, bf16, tf32):
    matmul = SimpleNamespace(allow_tf32="before")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: able)
    monkeypatch.setattr(torch.backends.cuda, "matmul", matmul)
    assert half_precision(device, wanted) is bf16
    assert matmul.allow_tf32 == "before"  # a question changes nothing
    with contextlib.suppress(KeyError), products(device, bf16):
        assert matmul.allow_tf32 is tf32
        raise KeyError
    assert matmul.allow_tf32 == "before"


def test_a_cpu_scores_as_many_candidates_at_once_as_its_caches_like_and_a_gpu_as_fit(monkeypatch):
    monkeypatch.delenv(formulation.VARIABLE, raising=False)
    assert [at_once(CPU, each, 100) for each in (7, 200, 0)] == [14, 1, 100]
    monkeypatch.setenv(formulation.VARIABLE, "device")
    assert at_once(CPU, 2**10, 100) == formulation.CPU_CELLS // 2**10
