"""Several processes that train one extractor together, one a GPU, started by PyTorch's launcher (torchrun).

Every rank holds the whole model and computes its share of each batch; gradients are averaged. Only rank 0 validates,
keeps the best weights and writes. All functions also work in a process that trains alone.
"""

import datetime
import os
import sys
from collections.abc import Sequence
from typing import TypeVar

import torch
import torch.distributed as dist

PATIENCE = datetime.timedelta(days=2)  # the other ranks wait while rank 0 validates and writes

Value = TypeVar("Value")


def launch(count: int, arguments: Sequence[str]) -> int:
    """Run ``tripleaudit <arguments>`` in ``count`` processes of this machine and return the exit status.

    The first failure ends all of them.
    """
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=count,
        run_id=f"tripleaudit-{os.getpid()}",
        rdzv_backend="c10d",
        rdzv_endpoint="127.0.0.1:0",
        local_addr="127.0.0.1",
        max_restarts=0,
        monitor_interval=0.5,
    )
    try:
        elastic_launch(config, sys.executable)("-m", "tripleaudit", *arguments)
    except ChildFailedError:  # the process itself has said why
        return 1
    return 0


def launched() -> bool:
    """Whether this process was started by :func:`launch` (or by torchrun)."""
    return "LOCAL_RANK" in os.environ and "WORLD_SIZE" in os.environ


def join(device: torch.device) -> torch.device:
    """Meet the other processes; does nothing in a process that was not launched.

    Returns:
        this rank's device, where ``device`` is the first of its kind.
    """
    if not launched() or dist.is_initialized():
        return device
    gpu = device.type == "cuda"
    if gpu:
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo", timeout=PATIENCE)
    return device


def leave() -> None:
    """Part from the other processes."""
    if dist.is_initialized():
        dist.destroy_process_group()


def rank() -> int:
    """Return this process's number, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """Return how many processes train together."""
    return dist.get_world_size() if dist.is_initialized() else 1


def broadcast(value: Value) -> Value:
    """Return rank 0's value in all of them."""
    if world_size() == 1:
        return value
    box = [value]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def gather(value: Value) -> list[Value]:
    """Return the values of all ranks, in all of them."""
    if world_size() == 1:
        return [value]
    values: list = [None] * world_size()
    dist.all_gather_object(values, value)
    return values


def barrier() -> None:
    """Wait until all processes are here."""
    if world_size() > 1:
        dist.barrier()
