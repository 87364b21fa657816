"""Running out of memory is answered with the settings to try; freed memory is kept, unless the
user has set how.
"""

import os
import platform
import resource
import subprocess
import sys

import pytest
import torch

from tripleaudit.core.errors import UserError
from tripleaudit.core.memory import is_out_of_memory, out_of_memory_advice, peak_mb
from tripleaudit.extractors.tplinker import TPLinker
from tripleaudit.testing import build_extractor, toy_sentences
from tripleaudit.training import session
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.settings import TrainingSettings
from tripleaudit.training.trainer import train_extractor

GPU = "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.10 GiB."
CPU = "[enforce fail at alloc.cpp:132] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."


@pytest.mark.parametrize(
    ("error", "size", "sentence"),
    [
        (
            torch.OutOfMemoryError(GPU),
            8,
            "GPU memory at batch_size: 8; try batch_size: 4 with accumulation: 2",
        ),
        (
            RuntimeError(CPU),
            5,
            "main memory at batch_size: 5; try batch_size: 1 with accumulation: 5",
        ),
        (
            MemoryError(),
            1,
            "main memory at batch_size: 1; try a smaller encoder, shorter sentences",
        ),
        # on a GPU predictions go down to one sentence at a time, whatever the batch size says
        (
            torch.OutOfMemoryError(GPU),
            None,
            "GPU memory even with a single sentence; try a smaller encoder, shorter",
        ),
    ],
)
def test_what_to_try_follows_from_the_batch_and_the_memory(error, size, sentence):
    message = f"training ran out of {sentence}"
    with (
        pytest.raises(UserError, match=message),
        out_of_memory_advice("training", "batch_size", size, keep=True),
    ):
        raise error


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError(GPU),
        torch.AcceleratorError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
)
def test_a_gpu_that_another_program_fills_is_named(monkeypatch, error):
    def full(*_):
        raise error

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", full)
    with pytest.raises(UserError, match="the GPU has no memory left: another program fills it"):
        session.device("1")


def test_other_errors_pass():
    with (
        pytest.raises(RuntimeError, match="shapes"),
        out_of_memory_advice("training", "batch_size", 8),
    ):
        raise RuntimeError("shapes do not fit")


@pytest.mark.parametrize("formulation", ["", "device"])
@pytest.mark.parametrize("error", [torch.OutOfMemoryError(GPU), RuntimeError(CPU)])
def test_a_training_and_a_validation_without_memory(
    tiny_encoder, tmp_path, monkeypatch, error, formulation
):
    monkeypatch.setenv("TRIPLEAUDIT_FORMULATION", formulation)
    model = build_extractor(TPLinker, tiny_encoder)
    dataset = TrainingSentences(toy_sentences(), model)
    settings = TrainingSettings(epochs=1, batch_size=4, evaluation_batch_size=6)
    forward = model.forward

    def fails(*arguments, **inputs):
        forward(*arguments, **inputs)
        raise error

    def validate(_):
        raise error

    advice = (
        "even with a single sentence.*; try a smaller encoder"
        if formulation
        else "try evaluation_batch_size: 3$"
    )
    with pytest.raises(UserError, match=f"validation ran out of .* memory .*{advice}"):
        train_extractor(model, dataset, settings, seed=1, folder=tmp_path / "a", validate=validate)
    model.forward = fails
    with pytest.raises(UserError) as caught:
        train_extractor(model, dataset, settings, seed=1, folder=tmp_path / "b")
    assert "try batch_size: 2 with accumulation: 2 (the same optimiser step)" in str(caught.value)
    settings = TrainingSettings(
        epochs=1, batch_size=10 * len(dataset)
    )  # half of that would still be all there is
    with pytest.raises(
        UserError,
        match=f"at batch_size: {len(dataset)}.*; try batch_size: {len(dataset) // 2} with",
    ):
        train_extractor(model, dataset, settings, seed=1, folder=tmp_path / "c")


def test_the_allocator_of_this_machine_is_understood():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**50)
    assert is_out_of_memory(caught.value), caught.value


def test_the_peak_is_in_megabytes():
    block = bytearray(200_000_000)
    block[::4096] = b"x" * len(block[::4096])  # every page
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    assert peak_mb() > 200 and peak_mb() == pytest.approx(used, rel=0.01)


CODE = """
import resource, numpy as np
from tripleaudit.core.memory import keep_freed_memory
kept = keep_freed_memory()
np.ones(2**23)  # 64 MiB, more than glibc ever keeps by default
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    np.ones(2**23)
print(int(kept), resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def kept_and_faults(**variables: str) -> tuple[int, int]:
    """What ``keep_freed_memory`` returned, and pages that the system cleared for five more large
    arrays.
    """
    clean = {
        key: value
        for key, value in os.environ.items()
        if key not in ("GLIBC_TUNABLES", "LD_PRELOAD")
    }
    clean = {key: value for key, value in clean.items() if not key.startswith("MALLOC_")}
    environment = {**clean, "OMP_NUM_THREADS": "1", "NUMPY_MADVISE_HUGEPAGE": "0", **variables}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    return tuple(map(int, done.stdout.split()))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be set so")
def test_large_arrays_use_the_memory_of_freed_ones():
    kept, faults = kept_and_faults()
    assert kept == 1
    assert faults < 1000
    kept, faults = kept_and_faults(MALLOC_TRIM_THRESHOLD_="131072")
    assert kept == 0
    assert faults > 50_000
