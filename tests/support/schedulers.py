"""Pretended schedulers for the tests of profiles: commands named as the real ones that run each job here at once."""

import sys
from pathlib import Path

QSUB = """#!/bin/sh
# keeps its arguments, runs the job script in the background, prints an id as PBS does
cd "$BOX"
number=$(($(ls | grep -c 'arguments$') + 1))
echo "$@" > "$number.arguments"
for script; do :; done
(cd "$OLDPWD" && sh "$script" > "$BOX/$number.output" 2>&1; echo $? > "$BOX/$number.exit") > /dev/null 2>&1 &
echo "$number.box"
"""
QSTAT = """#!/bin/sh
for id; do :; done
number=${id%.box}
[ -e "$BOX/$number.arguments" ] || { echo "qstat: Unknown Job Id $id" >&2; exit 153; }
echo "Job Id: $id"
if [ -e "$BOX/$number.exit" ]; then
    printf '    job_state = F\\n    Exit_status = %s\\n' "$(cat "$BOX/$number.exit")"
else
    echo "    job_state = R"
fi
"""
KUBECTL = """#!{python}
import os, subprocess, sys
from pathlib import Path
import yaml

box = Path(os.environ["BOX"])
verb, *rest = sys.argv[1:]
if verb == "create":
    manifest = sys.stdin.read()
    job = yaml.safe_load(manifest)
    number = len(list(box.glob("*.yaml"))) + 1
    name = job["metadata"]["generateName"] + str(number)
    (box / f"{{number}}.yaml").write_text(manifest)
    container = job["spec"]["template"]["spec"]["containers"][0]
    given = {{item["name"]: item["value"] for item in container["env"]}}
    inside = {{key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "BOX", "OMP_NUM_THREADS")}}
    exit_file = box / f"{{name}}.exit"
    command = ["sh", "-c", '"$@"; echo $? > "$0"', str(exit_file), *container["command"]]
    output = (box / f"{{number}}.output").open("w")
    subprocess.Popen(command, cwd=container["workingDir"], env={{**inside, **given}}, stdout=output, stderr=output)
    print(f"job.batch/{{name}}")
elif verb == "get":
    exit_file = box / (rest[0].removeprefix("job.batch/") + ".exit")
    if exit_file.exists():
        print("Complete" if exit_file.read_text().strip() == "0" else "FailureTarget Failed", end="")
"""


def write_commands(folder: Path) -> Path:
    """Write ``qsub``, ``qstat`` and ``kubectl`` into ``folder/bin``; they keep their records in ``$BOX``."""
    commands = folder / "bin"
    commands.mkdir()
    for name, text in {"qsub": QSUB, "qstat": QSTAT, "kubectl": KUBECTL.format(python=sys.executable)}.items():
        (commands / name).write_text(text, encoding="utf-8")
        (commands / name).chmod(0o755)
    return commands
