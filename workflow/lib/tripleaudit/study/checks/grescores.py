"""Checks of the section ``grescores``."""

from collections.abc import Iterator, Sequence

from tripleaudit.llm.prompts import load_prompt
from tripleaudit.study.config.grescores import GreDataset
from tripleaudit.study.grescores import GROUND_TRUTH, SOURCES, GreScores, stored
from tripleaudit.study.problems import LeftOut, refused


class GreChecks:
    """Checks of data sets, stored outputs, embedder and judge.

    Args:
        grescores: the GREScores of the study.
        corpora: names of the corpora of the study.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(self, grescores: GreScores, corpora: Sequence[str], left_out: LeftOut):
        self.grescores, self.config = grescores, grescores.config
        self.corpora, self.left_out = corpora, left_out
        self.generative = grescores.language_models.config
        self.has_judge = self.config.judge is not None or left_out.includes("grescores/judge")

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        embedder, judge = self.config.embedder, self.config.judge
        if judge is not None:
            yield from self._unknown_endpoint("grescores/judge/endpoint", judge.endpoint)
            for key in ("factualness_prompt", "granularity_prompt"):
                yield from refused(f"grescores/judge/{key}", load_prompt, getattr(judge, key))
        if embedder is not None and embedder.endpoint is not None:
            yield from self._unknown_endpoint("grescores/embedder/endpoint", embedder.endpoint)
        elif embedder is not None and self.grescores.datasets:
            yield from self.grescores.paths.problems_of_model(
                "grescores/embedder/model", embedder.model
            )
        for name, dataset in self.grescores.datasets.items():
            yield from self._problems_of(f"grescores/datasets/{name}", dataset)
            for system in dataset.systems:
                yield from self._problems_of_system(
                    f"grescores/datasets/{name}/systems", dataset, system
                )

    def _unknown_endpoint(self, where: str, name: str) -> Iterator[str]:
        endpoints = self.generative.endpoints
        yield from self.left_out.unknown(
            where, "endpoint", name, endpoints, section="generative/endpoints"
        )

    def _problems_of(self, where: str, dataset: GreDataset) -> Iterator[str]:
        file = self.grescores.paths.problems_of_file
        sources = [kind for kind in SOURCES if getattr(dataset, kind) is not None]
        lacks_source = self.left_out.includes(*(f"{where}/{kind}" for kind in SOURCES))
        if len(sources) != 1 and not lacks_source:
            yield f"{where}: expected exactly one of {', '.join(SOURCES)}"
        yield from self.left_out.unknown(
            f"{where}/corpus", "corpus", dataset.corpus, self.corpora, section="corpora"
        )
        yield from self.left_out.unknown(
            f"{where}/generative",
            "data set",
            dataset.generative,
            self.generative.datasets,
            section="generative/datasets",
            more=" of the section generative",
        )
        for kind, path in stored(dataset.gold).items():
            yield from file(f"{where}/gold/{kind}", path)
        if dataset.topics is not None and dataset.topics.text is not None:
            yield from file(f"{where}/topics/text", dataset.topics.text)
        if dataset.extractors_judged and not self.has_judge:
            yield f"{where}/extractors_judged: there is no grescores/judge"

    def _problems_of_system(self, where: str, dataset: GreDataset, name: str) -> Iterator[str]:
        system, file = dataset.systems[name], self.grescores.paths.problems_of_file
        rows = {
            other: (section.row or other, section.setting, section.seed)
            for other, section in dataset.systems.items()
        }
        first = next(other for other in rows if rows[other] == rows[name])
        if name == GROUND_TRUTH:
            yield f"{where}: '{GROUND_TRUTH}' is the row of the gold triples"
        if (dataset.generative, name) in self.grescores.language_models.extractions:
            yield f"{where}/{name}: a system of the section generative has this name, too; expected another"
        if first != name:
            yield f"{where}/{name}/row: row and seed of '{first}'; expected a seed for each"
        if system.judge and not self.has_judge:
            yield f"{where}/{name}/judge: there is no grescores/judge"
        for kind, path in stored(system).items():
            yield from file(f"{where}/{name}/{kind}", path)
