"""The spec of a protocol, and the registry of protocols."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tripleaudit.core.plugins import Registry, Spec


@dataclass(frozen=True, kw_only=True)
class ProtocolSpec(Spec):
    """A protocol, which makes other training, validation and test sets of a corpus.

    Attributes:
        build: ``(splits, *, option=…) -> (splits, details)``.
        options: Options of a study or command; by default the keyword-only parameters of ``build``.
        inputs: Keyword parameters of ``build`` that are files or data and no options:
            ``masked_lm``, ``vectors`` and ``encoder`` (folders and a file), ``raw`` (sentences of
            the raw corpus; for the command line only).
        pattern: Regular expression of further names of this protocol, such as ``sift-…``.
        defaults: Name -> options that the name implies.
        train: Whether extractors are trained on the protocol's own training set; otherwise those
            of the original split are tested.
        published: Whether a corpus may come with published sets, which ``source: published`` takes.
        gives_schema: Whether the test set has relations that the training set lacks: systems get
            the relations of the test set, and systems that take none are not run.
    """

    build: Callable[..., Any]
    options: tuple[str, ...] = ()
    pattern: str = ""
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    train: bool = True
    published: bool = False
    gives_schema: bool = False

    def __post_init__(self) -> None:
        if not self.options:
            object.__setattr__(self, "options", tuple(self._parameters()))

    @property
    def required(self) -> list[str]:
        """Options without a default."""
        parameters = self._parameters().items()
        return [name for name, parameter in parameters if parameter.default is parameter.empty]

    def means(self, name: str) -> bool:
        """Return whether a name of a study refers to this protocol."""
        return name == self.name or bool(self.pattern and re.fullmatch(self.pattern, name))

    def _parameters(self) -> dict[str, inspect.Parameter]:
        return {
            name: parameter
            for name, parameter in inspect.signature(self.build).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in self.inputs
        }


PROTOCOLS: Final = Registry(
    ProtocolSpec,
    "protocol",
    shipped=[
        "tripleaudit.protocols.build",
        "tripleaudit.protocols.cardinality",
        "tripleaudit.protocols.rearranged",
        "tripleaudit.protocols.sifted",
        "tripleaudit.protocols.unseen_relations",
    ],
)
