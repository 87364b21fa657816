"""A real SLURM on this machine for as long as a test needs it: one node, two partitions, two
pretended GPUs.

It needs root and the Debian packages that ``make test-all`` installs where it may. Everything it
starts ends with it, and the configuration that it writes is removed.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from support.processes import wait_for

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "munged", "setpriv")
# at the default place, because a job step of the executor plugin drops SLURM_CONF
CONFIGURATION = Path("/etc/slurm/slurm.conf")
GRES = CONFIGURATION.with_name("gres.conf")
MUNGE_SOCKET = Path("/run/munge/munge.socket.2")
MUNGE_KEY = Path("/etc/munge/munge.key")
MARK = "# written by the tests of tripleaudit, which remove it"
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

SLURM_CONF = """{mark}
ClusterName=onebox
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={state}/controller
SlurmdSpoolDir={state}/daemon
SlurmctldPidFile={state}/slurmctld.pid
SlurmdPidFile={state}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0,batch_sched_delay=0
MinJobAge=43200
KillWait=3
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 \
RealMemory=64000 Gres=gpu:2 State=UNKNOWN
PartitionName=cpu Nodes={host} Default=YES MaxTime=1440 State=UP
PartitionName=gpu Nodes={host} MaxTime=1440 State=UP
"""
# a GPU without a file is ignored; these two files exist everywhere
GRES_CONF = f"{MARK}\nName=gpu File=/dev/null\nName=gpu File=/dev/zero\n"


class NoSlurm(Exception):
    """The daemons do not work on this machine."""


def obstacle() -> str | None:
    """Why SLURM cannot be started here, or None."""
    if os.geteuid() != 0:
        return "a SLURM of one's own needs root"
    if missing := [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]:
        return f"not installed: {', '.join(missing)} (Debian packages slurmctld slurmd slurm-client munge)"
    if CONFIGURATION.exists() and not CONFIGURATION.read_text(encoding="utf-8").startswith(MARK):
        return f"this machine has a SLURM of its own ({CONFIGURATION})"
    try:
        socket.gethostbyname(_host())
    except OSError:
        return f"this machine does not know its own name {_host()}"
    return None


@contextlib.contextmanager
def slurm_box(cpus: int = 4) -> Iterator[Path]:
    """Start the daemons, wait until the node is idle, yield the folder of their logs, stop them
    again.
    """
    with contextlib.ExitStack() as stack:
        # one at a time on a machine, because of the one place of the configuration
        lock = stack.enter_context(
            open(Path(tempfile.gettempdir()) / "tripleaudit-slurm.lock", "w")
        )
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True)
            )
        )
        for name in ("controller", "daemon"):
            (state / name).mkdir()
        _configure(stack, state, cpus)
        if not _munge_answers():
            _start_munge(stack, state)
        _start(stack, state, "slurmctld", "-D", "-c")
        # the node's daemon first has to reach the controller, and tries again only after a while
        _wait_for(lambda: _run("scontrol", "ping").returncode == 0, state, "the controller answers")
        _start(stack, state, "slurmd", "-D")
        stack.callback(_cancel_all)
        _wait_for(
            lambda: _run("sinfo", "-h", "-o", "%T").stdout.split() == ["idle"],
            state,
            "the node is idle",
        )
        yield state


def accounts(*fields: str) -> list[dict[str, str]]:
    """What the controller knows about every job, finished ones too: the given fields of
    ``scontrol show job``.
    """
    records = _run("scontrol", "--oneliner", "show", "job").stdout.splitlines()
    found = [
        dict(part.partition("=")[::2] for part in line.split() if "=" in part) for line in records
    ]
    return [
        {field: record.get(field, "") for field in fields} for record in found if "JobId" in record
    ]


def _host() -> str:
    return socket.gethostname().split(".")[0]


def _configure(stack: contextlib.ExitStack, state: Path, cpus: int) -> None:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        ports = {"controller": one.getsockname()[1], "daemon": other.getsockname()[1]}
    text = SLURM_CONF.format(mark=MARK, host=_host(), state=state, cpus=cpus, **ports)
    CONFIGURATION.parent.mkdir(exist_ok=True)
    for path, content in ((CONFIGURATION, text), (GRES, GRES_CONF)):
        path.write_text(content, encoding="utf-8")
        stack.callback(path.unlink, missing_ok=True)


def _start_munge(stack: contextlib.ExitStack, state: Path) -> None:
    if not MUNGE_KEY.exists():
        _run("mungekey", "--create")
        shutil.chown(MUNGE_KEY, "munge", "munge")
    MUNGE_SOCKET.parent.mkdir(exist_ok=True)
    shutil.chown(MUNGE_SOCKET.parent, "munge", "munge")
    stack.callback(MUNGE_SOCKET.unlink, missing_ok=True)
    _start(stack, state, "munged", "--foreground", user="munge")
    _wait_for(_munge_answers, state, "munge answers")


def _munge_answers() -> bool:
    return _run("munge", "--no-input").returncode == 0


def _start(
    stack: contextlib.ExitStack, state: Path, *command: str, user: str | None = None
) -> None:
    """Start a daemon with a log, to be stopped when the stack ends, and also should this process
    be killed.
    """
    log = stack.enter_context((state / f"{command[0]}.log").open("wb"))
    command = ["setpriv", "--pdeathsig", "TERM", *command]
    streams = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL}
    who = {"user": user, "group": user, "extra_groups": [] if user else None}
    process = subprocess.Popen(
        command, env=_environment(), start_new_session=True, **streams, **who
    )
    stack.callback(_stop, process)


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def _cancel_all() -> None:
    """Cancel what still runs, so that no job outlives its daemon."""
    deadline = time.monotonic() + 20
    while (
        _run("squeue", "-h", "-t", "PENDING,RUNNING,COMPLETING").stdout.strip()
        and time.monotonic() < deadline
    ):
        _run("scancel", "--full", "--user=root")
        time.sleep(0.5)


def _wait_for(condition, state: Path, what: str) -> None:
    if not wait_for(condition, 40):
        logs = "\n".join(
            f"{log.name}:\n{log.read_text()[-1500:]}" for log in sorted(state.glob("*.log"))
        )
        raise NoSlurm(f"waited in vain until {what}\n{logs}")


def _run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, env=_environment(), timeout=30)


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": PATH}
