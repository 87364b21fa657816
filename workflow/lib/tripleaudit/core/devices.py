"""GPUs of one machine, shared by the jobs of a study.

Snakemake limits how many jobs use a GPU at a time, but does not say which GPU a job may use.
Therefore each job locks its devices: trainings and predictions by
:func:`tripleaudit.training.session.taken`, other jobs by :func:`gpu_slot`. A lock is a file of the
user's own in the temporary folder; the system releases it when the process ends.
"""

import contextlib
import logging
import math
import os
import re
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from tripleaudit.core.errors import UserError

log = logging.getLogger(__name__)

VISIBLE = "CUDA_VISIBLE_DEVICES"
DEVICE_VARIABLES = (VISIBLE, "SLURM_STEP_GPUS", "SLURM_JOB_GPUS")
"""Variables by which a scheduler or the user says which devices this process may use."""
# Inside one job of a scheduler, device numbers may mean other devices than outside: each job has
# locks of its own.
JOB_VARIABLES = ("SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID")
SHARE = "TRIPLEAUDIT_GPU_SHARE"  # variable with the study's key `gpu_share`
PARTS = 12  # locks of one device; of N jobs that share it, each takes PARTS / N of them
SHARES = tuple(number for number in range(1, PARTS + 1) if PARTS % number == 0)
"""Allowed numbers of jobs that share one GPU."""
POLL = 1.0  # seconds between two looks at busy devices
LINE_EVERY = 30.0  # seconds between two log lines of a job that waits


@contextlib.contextmanager
def gpu_slot(wanted: str = "auto", count: int = 1) -> Iterator[list[str]]:
    """Take ``count`` GPUs that no other job of this user has, for as long as the block runs.

    Sets ``CUDA_VISIBLE_DEVICES`` for this process and its children, so it must be entered before
    anything asks CUDA for devices. Devices that a scheduler or the user named already are the only
    ones considered. Waits while all are busy. Where a study lets several jobs share a GPU
    (:func:`share`), a job takes that part of the device.

    Args:
        wanted: ``0`` hides all GPUs, so that everything runs on the CPU; ``auto`` takes GPUs where
            there are any; ``1`` insists on them.
        count: devices; 0 is the same as ``wanted="0"``.

    Yields:
        the devices taken, as ``CUDA_VISIBLE_DEVICES`` names them; empty on the CPU.

    Raises:
        UserError: GPUs are insisted on, or asked for in a number that the machine does not have.
    """
    known = [] if wanted == "0" or count == 0 else devices()
    # None: no GPU is known, and CUDA_VISIBLE_DEVICES is left as it is; []: the process must see none
    if not known:
        if wanted == "1" and count:
            raise UserError(
                "a GPU was asked for, but this job has none; expected a CUDA device, or gpu: 0"
            )
        with _visible([]) if known is not None else contextlib.nullcontext():
            yield []
        return
    if count > len(known):
        raise UserError(
            f"{count} GPUs were asked for, but only {len(known)} can be used here ({', '.join(known)}); "
            f"expected at most {len(known)}"
        )
    with _locked(known, count) as taken, _visible(taken):
        log.info("using GPU %s of %s", ", ".join(taken), ", ".join(known))
        yield taken


def choose_late() -> None:
    """Let PyTorch look for GPUs without initialising CUDA; call this before torch is imported.

    CUDA reads ``CUDA_VISIBLE_DEVICES`` once, when it is initialised, but :func:`gpu_slot` sets the
    variable later. With this setting, ``torch.cuda.is_available`` asks the driver instead.
    """
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")


def share() -> int:
    """Return how many jobs may use one GPU side by side, each with that part of its memory."""
    return int(os.environ.get(SHARE) or 1)


def policy(wanted: str, resource: int) -> str:
    """Return the argument ``wanted`` of :func:`gpu_slot` for the job of a rule.

    Args:
        wanted: the study's key ``gpu``.
        resource: the resource ``gpu`` of the job. With 0 the job runs on the CPU, unless a
            scheduler gave it devices in another way (such as ``--gres``).
    """
    in_scheduler_job = any(os.environ.get(name) for name in JOB_VARIABLES)
    has_devices = any(_named(os.environ.get(name, "")) for name in DEVICE_VARIABLES)
    return wanted if resource or (in_scheduler_job and has_devices) else "0"


def devices() -> list[str] | None:
    """Return the usable GPUs as ``CUDA_VISIBLE_DEVICES`` names them, without importing torch.

    Returns:
        The devices; empty if the process must use none, as a job of SLURM that was given none of
        the GPUs that it can see; None if no GPU is known.
    """
    for name in DEVICE_VARIABLES:
        if name in os.environ:
            return _named(os.environ[name])
    if "SLURM_JOB_ID" in os.environ:
        return []
    return installed() or None


def installed() -> list[str]:
    """Return the NVIDIA GPUs of this machine: numbers, or identifiers of their slices (MIG)."""
    try:
        listed = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    # a process sees slices, where there are any, and no whole device
    return re.findall(r"\(UUID: (MIG-[^)]+)\)", listed) or re.findall(r"(?m)^GPU (\d+):", listed)


def _named(text: str) -> list[str]:
    """Read a list such as ``0,2`` or ``GPU-a,GPU-b``; like CUDA, stop at the first unknown name."""
    names = []
    for name in text.split(","):
        name = name.strip()
        if not re.fullmatch(r"\d+|(GPU|MIG)-[\w/.-]+", name):
            break
        names.append(name)
    return names


@contextlib.contextmanager
def _locked(known: Sequence[str], count: int) -> Iterator[list[str]]:
    """Lock ``count`` of the known devices for as long as the block runs."""
    folder = lock_folder()
    parts_needed = PARTS // share()
    silent_until = -math.inf
    while True:
        with contextlib.ExitStack() as locks:
            locked: list[str] = []
            for name in known:
                parts = _lock_parts(folder, name, parts_needed)
                if parts is not None:
                    locks.push(parts)
                    locked.append(name)
                if len(locked) == count:
                    yield locked
                    return
        # here all are released: two jobs that each keep some devices would wait for ever
        if time.monotonic() >= silent_until:
            log.info(
                "waiting for %d of %d GPUs: other jobs hold them (locks in %s)",
                count,
                len(known),
                folder,
            )
            silent_until = time.monotonic() + LINE_EVERY
        time.sleep(POLL)


def _lock_parts(folder: Path, name: str, count: int) -> contextlib.ExitStack | None:
    """Lock ``count`` parts of one device; return None, and lock nothing, if fewer are free."""
    with contextlib.ExitStack() as locks:
        for part in range(PARTS):
            lock = FileLock(folder / f"gpu-{name.replace('/', '_')}.{part}.lock", mode=0o600)
            with contextlib.suppress(Timeout):
                locks.enter_context(lock.acquire(blocking=False))
                count -= 1
            if not count:
                return locks.pop_all()
    return None


def lock_folder() -> Path:
    """Return the folder of locks, one for each user or scheduler job; create it if needed.

    Raises:
        UserError: it belongs to somebody else.
    """
    # not tempfile.gettempdir(): TMPDIR may differ between the jobs of one machine, which must meet
    # in one place
    root = Path(os.environ.get("TRIPLEAUDIT_LOCKS") or "/tmp") / f"tripleaudit-gpu-{os.getuid()}"
    folder = root / "-".join(
        re.sub(r"\W", "_", os.environ[name]) for name in JOB_VARIABLES if name in os.environ
    )
    try:
        root.mkdir(parents=True, mode=0o700, exist_ok=True)
        status = root.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            raise UserError(
                f"{root}: belongs to another user; expected a folder for locks of GPUs of one's own"
            )
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{root}: locks of GPUs cannot be kept here ({error.strerror}); set TRIPLEAUDIT_LOCKS to a writable folder "
            "of this machine"
        ) from error
    return folder


def _visible(names: Sequence[str]) -> contextlib.AbstractContextManager[None]:
    """Show only these devices to this process and its children until the block ends."""
    changed = {VISIBLE: ",".join(names)}
    if VISIBLE not in os.environ:  # the names are from nvidia-smi, which numbers by PCI bus
        order = os.environ.get("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
        changed["CUDA_DEVICE_ORDER"] = order
    return environment(changed)


@contextlib.contextmanager
def environment(changed: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process and its children until the block ends."""
    before = {name: os.environ[name] for name in changed if name in os.environ}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name in changed:
            os.environ.pop(name, None)
        os.environ.update(before)
