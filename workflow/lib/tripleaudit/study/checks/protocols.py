"""Checks of protocols and cardinality settings against what is trained and queried."""

from collections.abc import Iterator

from tripleaudit.study.problems import LeftOut
from tripleaudit.study.protocols import Protocols
from tripleaudit.study.systems import Systems
from tripleaudit.study.trainings import Trainings, takes_schema


class ProtocolChecks:
    """Checks of protocols and settings that no training or system fits.

    Args:
        protocols: the protocols of the study.
        systems: the systems without training.
        trainings: the trained extractors and classifiers.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(
        self,
        protocols: Protocols,
        systems: Systems,
        trainings: Trainings,
        left_out: LeftOut,
    ):
        self.protocols, self.systems, self.trainings = protocols, systems, trainings
        self.left_out = left_out

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each protocol and setting that cannot be used."""
        for protocol in filter(self.protocols.gives_schema, self.protocols.names):
            if not self._takes_schema():
                yield (
                    f"protocols/{protocol}: nothing in the study can be asked for relations that training lacks; "
                    "expected the extractor unirel, an endpoint under systems, or a system with relations: true"
                )
        if not self.protocols.options("original").get("train", True):
            tested = [f"protocol '{name}'" for name in self.protocols.tests_only]
            if "wz" in self.protocols.settings:
                tested.append("setting 'wz'")
            for name in tested:
                yield f"protocols/original/train: false, but the {name} is tested by trainings on the original split"
        has_wz = "wz" in self.protocols.settings or self.left_out.includes("settings")
        if self.trainings.classifiers and not has_wz:
            yield "zcc: a zero-cardinality classifier needs sentences without triples; add wz to settings"

    def _takes_schema(self) -> bool:
        """Return whether a system or extractor, or one that was left out, can take relations."""
        return (
            any(self.systems.takes_schema(name) for name in self.systems.kinds)
            or any(takes_schema(name) for name in self.trainings.extractors)
            or self.left_out.includes_entry_of("systems")
            or self.left_out.includes_entry_of("extractors")
        )
