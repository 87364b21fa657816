"""Whether trainings on this processor compute the encoder in bfloat16."""

import logging
import time
from pathlib import Path

import torch
from torch import Tensor

logger = logging.getLogger(__name__)

CPU_INFO = Path("/proc/cpuinfo")
BF16_FLAGS = frozenset(("amx_bf16", "avx512_bf16", "bf16"))
"""Flags of processors with instructions for products of bfloat16 numbers (x86 and ARM)."""
PROBE_SECONDS = 1.0
MIN_SPEEDUP = 1.1
DTYPES = (torch.float32, torch.bfloat16)
TOKENS, WIDTH, INNER_WIDTH = 512, 384, 1536
"""Sizes of the product that the probe measures: a feed-forward layer of MiniLM."""


def use_cpu_bf16(device: torch.device) -> bool:
    """Return whether bfloat16 pays on this processor, and log the reason if it does not."""
    if device.type != "cpu":
        return False
    if not has_bf16_instructions():
        logger.warning(
            "precision: this processor has no instructions for bfloat16; training uses float32"
        )
        return False
    speedup = measure_bf16_speedup()
    if speedup < MIN_SPEEDUP:
        logger.warning(
            "precision: bfloat16 is only %.2f times as fast as float32 on this processor; "
            "training uses float32",
            speedup,
        )
        return False
    logger.info("precision: bfloat16 is %.2f times as fast as float32", speedup)
    return True


def has_bf16_instructions() -> bool:
    """Return whether this processor has instructions for products of bfloat16 numbers."""
    try:
        flags = CPU_INFO.read_text(encoding="utf-8").split()
    except OSError:  # no Linux
        return False
    return not BF16_FLAGS.isdisjoint(flags)


def measure_bf16_speedup(seconds: float = PROBE_SECONDS) -> float:
    """Return how many times as fast as in float32 a product is in bfloat16.

    Args:
        seconds: Duration of the measurement.
    """
    draws = torch.Generator().manual_seed(0)
    values = torch.randn(TOKENS, WIDTH, generator=draws)
    weights = torch.randn(INNER_WIDTH, WIDTH, generator=draws)
    operands = {dtype: (values.to(dtype), weights.to(dtype)) for dtype in DTYPES}
    shortest = dict.fromkeys(DTYPES, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or max(shortest.values()) == float("inf"):
        for dtype, factors in operands.items():
            shortest[dtype] = min(shortest[dtype], _seconds_of_product(*factors))
    return shortest[torch.float32] / shortest[torch.bfloat16]


def _seconds_of_product(values: Tensor, weights: Tensor) -> float:
    start = time.perf_counter()
    torch.nn.functional.linear(values, weights)
    return time.perf_counter() - start
