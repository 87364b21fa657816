"""Settings that all extractors share, and the official training settings that ship.

Importing this module imports no torch, so that studies, jobs and calls in Python validate settings
without a model. Each shipped extractor has a module of its own in ``specs``, so that a change of
its settings reruns its own trainings alone; its official training settings are in
``data/presets.yaml`` and are part of the digest of its spec.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from tripleaudit.core.errors import hint
from tripleaudit.core.fields import Count, Section, among
from tripleaudit.core.shipped import DATA
from tripleaudit.core.yaml_files import read_yaml
from tripleaudit.corpora.spans import OCCURRENCES
from tripleaudit.extractors.alignment import LAYOUTS, WORDS

SHIPPED: Final = read_yaml(DATA / "presets.yaml")
OFFICIAL: Final[dict[str, dict[str, Any]]] = SHIPPED["defaults"]


class ExtractorSettings(Section):
    """Base class of the settings of an extractor.

    The class of an extractor names its settings as ``settings``. An extractor outside the package
    derives its own from this class, or from those of the extractor that it extends. A study
    validates them without importing the extractor (and torch) if its spec names them:
    ``ExtractorSpec(name="mine", model="mine.py:Mine", settings=MineSettings)``.

    Attributes:
        training_defaults: Official training settings, keys of
            :class:`tripleaudit.training.settings.TrainingSettings`.
        sparse_outputs: Output layers for ``prior``: name of a Linear -> number of classes of a cell
            (1 for a logit; with more, class 0 is "none", and classes vary slowest among the
            outputs).
    """

    training_defaults: ClassVar[Mapping[str, Any]] = {}
    sparse_outputs: ClassVar[Mapping[str, int]] = {}

    max_length: Annotated[int, Field(ge=8)] = 128
    """Training sentences are cut to this many tokens (specials included, markers not counted)."""
    layout: Annotated[str, among(LAYOUTS)] = "subword"
    """`subword` or `marker` (see :mod:`tripleaudit.extractors.alignment`)."""
    marker: str | None = None
    """The word-end marker token of the `marker` layout; null looks for a spare one."""
    words: Annotated[str, among(("auto", *WORDS))] = "auto"
    """Where words end: at `blanks`, at blanks and `marks`, or `auto`, by the gold entities of
    the training set.
    """
    occurrence: Annotated[str, among(OCCURRENCES)] = "given"
    """Which mentions are gold in training: `given` (as the corpus has them), `first` or `all`."""
    drop_zero: bool = False
    """Leave sentences with zero triples out of training."""
    drop_above: Count = 0
    """Leave sentences with more triples than this out of training; 0 leaves out none."""
    prior: Any = None
    """Where the biases of the output layers start from: the probability of a positive label, or one for each output by
    name."""

    @field_validator("prior")
    @classmethod
    def _probabilities(cls, prior: Any) -> Any:
        for output, value in prior.items() if isinstance(prior, Mapping) else [("", prior)]:
            if output and output not in cls.sparse_outputs:
                known = {"output": output, "hint": hint(output, cls.sparse_outputs)}
                raise PydanticCustomError("output", "unknown output '{output}'{hint}", known)
            if (output or value is not None) and not (
                type(value) in (int, float) and 0 < value < 1
            ):
                found = {"of": f" for {output}" if output else "", "value": repr(value)}
                raise PydanticCustomError(
                    "prior", "expected a probability inside 0 to 1{of}, got {value}", found
                )
        return prior
