"""What the Snakefile needs of the package besides the study plan; free of heavy imports and of Snakemake itself."""

import functools
import hashlib
import os
import re
import sys
from pathlib import Path

from tripleaudit.extractors.registry import base_name
from tripleaudit.shipped import PACKAGE

# Files of the package that decide the result of an expensive step. A change in one of them reruns the step; a change
# elsewhere (a plot, a table) does not. "{extractor}" stands for the module of the extractor at hand.
CODE = {
    "prepare": ["corpora/*.py", "corpora/readers/*.py", "sources/registry*.py", "commands/prepare.py"],
    "train": [
        "extractors/base.py",
        "extractors/alignment.py",
        "extractors/batches.py",
        "extractors/losses.py",
        "extractors/{extractor}.py",
        "randomness.py",
        "protocols/noising.py",
        "training/checkpoints.py",
        "training/data.py",
        "training/optimizer.py",
        "training/run.py",
        "training/settings.py",
        "training/trainer.py",
        "commands/train.py",
    ],
    "predict": [
        "extractors/base.py",
        "extractors/alignment.py",
        "extractors/batches.py",
        "extractors/decoding.py",
        "extractors/{extractor}.py",
        "training/predict.py",
    ],
    "collection": [
        "extractors/base.py",
        "extractors/alignment.py",
        "extractors/batches.py",
        "extractors/decoding.py",
        "extractors/{extractor}.py",
        "extractors/zcc.py",
        "training/stream.py",
        "collection/reading.py",
        "collection/extract.py",
    ],
    "collection-index": ["collection/index.py"],
    "protocol": ["protocols/*.py", "protocols/augmented/*.py"],
    "generate": ["generative/extraction.py", "llm/answers.py", "llm/lenient.py", "llm/prompts.py"],
    "gre-scores": ["grescores/*.py", "commands/gre_systems.py"],
    "gre-topics": ["grescores/topics.py", "grescores/tokens.py", "commands/gre_lda.py"],
    "needles": [
        *(f"needles/{name}.py" for name in ("dialogues", "entities", "generation", "haystack", "identification")),
        *(f"needles/{name}.py" for name in ("needle", "plan", "schema", "stages", "templates", "triples")),
        *(f"llm/{name}.py" for name in ("answers", "conversation", "lenient", "splitting")),
    ],
    "needle-scores": ["needles/*.py", "llm/splitting.py"],
    "gre-judge": ["grescores/judging.py", "grescores/judgements.py"],
}


def export_environment(library: Path | None, gpu: str | int, offline: bool = False) -> None:
    """Let every job, on this machine or a cluster node, find this interpreter, this package and the study's device.

    ``library`` is the folder that the package is imported from, None where it is installed.
    Where a job runs does not decide what it computes, so the device is no parameter that would rerun it. With
    ``offline``, libraries that would ask the model hub for something do not try, and fail at once instead of waiting.
    """
    places = {"PATH": Path(sys.executable).parent} | ({"PYTHONPATH": library} if library else {})
    for name, first in ((name, str(folder)) for name, folder in places.items()):
        known = os.environ.get(name, "").split(os.pathsep)
        if known[0] != first:
            os.environ[name] = os.pathsep.join(filter(None, [first, *known]))
    os.environ["TRIPLEAUDIT_GPU"] = str(gpu)
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"


@functools.cache
def code_version(step: str, extractor: str = "", own: str = "") -> dict[str, str]:
    """Return ``{file: first 8 digits of its SHA-256}`` of the files that decide the result of ``step``.

    Used as a rule parameter, it makes Snakemake rerun the step when one of them changes, and name the file.
    ``own`` is the ``file.py:Class`` of an extractor from outside the project, whose file counts too.
    """
    module = base_name(extractor).replace("-", "_")
    files = [
        path
        for pattern in CODE[step]
        for path in sorted(PACKAGE.glob(pattern.format(extractor=module)))
        if path.is_file()
    ]
    own_module = PACKAGE / "extractors" / f"{module}.py"
    files += _neighbours(own_module) if own_module in files else []
    named = {str(path.relative_to(PACKAGE)): path for path in files}
    if own:
        file = own.rpartition(":")[0]
        named[file] = Path(file)
    return {name: hashlib.sha256(path.read_bytes()).hexdigest()[:8] for name, path in named.items()}


def _neighbours(module: Path) -> list[Path]:
    """Return the modules beside an extractor's that it or they import, such as pairs: they decide too."""
    found: list[Path] = []
    queue = [module]
    while queue:
        text = queue.pop().read_text(encoding="utf-8")
        for names in re.findall(r"^from tripleaudit\.extractors(?:\.(\w+) import|\s+import (\w+))", text, re.MULTILINE):
            path = module.with_name("".join(names) + ".py")
            if path.is_file() and path.stem not in ("base", "registry") and path not in found:
                found.append(path)
                queue.append(path)
    return found
