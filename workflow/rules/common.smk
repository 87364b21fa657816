# Helpers shared by all rules: the package on the path, the validated configuration and the study's plan.
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

LIB = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent / "lib"
sys.path.insert(0, str(LIB))

from tripleaudit.configuration import validated
from tripleaudit.errors import UserError
from tripleaudit.study import Study
from tripleaudit.workflow import code_version, export_pythonpath, shipped

export_pythonpath(LIB)
PYTHON = sys.executable  # `python` on the PATH may be another one

try:
    config = validated(config)
    STUDY = Study(config)
except UserError as error:
    raise WorkflowError(str(error))


wildcard_constraints:
    corpus="|".join(map(re.escape, STUDY.corpora)),
    protocol="|".join(map(re.escape, STUDY.protocols)),
    setting="nz|wz",
    testing="nz|wz",
    split="train|valid|test",
    trainset="|".join(map(re.escape, STUDY.trainsets)),
    extractor="|".join(map(re.escape, [*STUDY.extractors, *STUDY.classifiers]))
    or "none",
    noise="none|noising",
    testset="test|augmented",
    seed=r"\d+",
