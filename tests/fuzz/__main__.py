"""Run bad inputs through the commands: ``python -m tests.fuzz --help``.

Every one of them must end with its exit status and one sentence; what is accepted must count as an independent count
does. Exit status 1 if one does not.
"""

import argparse
import importlib
import pkgutil
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

import tripleaudit  # noqa: E402
from tripleaudit import registries  # noqa: E402

from . import corpora, options, studies  # noqa: E402
from .running import run  # noqa: E402


def _preload() -> None:
    """Import what the commands import when they run, so that the processes of the cases need not do it again."""
    for info in pkgutil.walk_packages(tripleaudit.__path__, "tripleaudit."):
        if not info.name.endswith(("__main__", "inspect_task")):  # of an extra with its own environment
            importlib.import_module(info.name)
    for name in ("pyarrow.parquet", "sentence_transformers", "spacy", "datasets"):
        importlib.import_module(name)
    for registry in registries.REGISTRIES:
        len(registry)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th case")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name has this")
    parser.add_argument("--show", action="store_true", help="show what each case printed")
    args = parser.parse_args()
    random_ = random.Random(args.seed)
    found = [case for module in (corpora, options, studies) for case in module.cases(random_)]
    names = Counter(case.name for case in found)
    assert max(names.values()) == 1, names.most_common(3)
    chosen = [case for case in found[:: args.every] if args.only in case.name]
    _preload()
    wrong = 0
    with tempfile.TemporaryDirectory() as work:
        Path(work).chmod(0o755)
        studies.MODEL.append(studies.tiny_model(Path(work)))
        for number, case in enumerate(chosen):
            outcome = run(case, Path(work) / f"case{number}")
            if outcome.wrong:
                wrong += 1
                print(f"{case.name}\n    {outcome.wrong}", flush=True)
            elif args.show:
                shown = outcome.err.strip().splitlines() or [f"(status {outcome.status})"]
                print(f"{case.name}\n    {shown[-1][:300]}", flush=True)
    print(f"{len(chosen)} of {len(found)} cases (seed {args.seed}), {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
