"""GLiNER2 (Zaratiana et al., 2025) as a system: relations are given by name and description, spans
come back.

Needs ``pip install 'gliner2[local]'``; written for version 2.1. In a study::

    systems:
      gliner2:
        python: resources/adapters/gliner2_system.py:Gliner2
        relations: true
        batch_size: 8
        options: {model: fastino/gliner2-base-v1, threshold: 0.5}
"""

from collections.abc import Mapping, Sequence
from typing import Any


class Gliner2:
    """A checkpoint of GLiNER2 that is asked for the relations of the corpus.

    Args:
        model: name on the hub, or folder.
        relations: name -> description, empty where there is none.
        threshold: least confidence of a relation's arguments.
    """

    def __init__(
        self,
        relations: Mapping[str, str],
        model: str = "fastino/gliner2-base-v1",
        threshold: float = 0.5,
    ):
        from gliner2 import GLiNER2

        self.model = GLiNER2.from_pretrained(model)
        self.threshold = threshold
        self.relations = {name: text or name.replace("_", " ") for name, text in relations.items()}
        # a relation with a description comes back under both
        self.names = {f"{name}: {text}": name for name, text in self.relations.items()}

    def extract(self, texts: Sequence[str]) -> list[list[dict[str, Any]]]:
        found = self.model.batch_extract_relations(
            list(texts),
            self.relations,
            batch_size=len(texts),
            threshold=self.threshold,
            include_confidence=True,
            include_spans=True,
        )
        return [
            self._triples(text, each["relation_extraction"])
            for text, each in zip(texts, found, strict=True)
        ]

    def _triples(self, text: str, found: Mapping[str, Any]) -> list[dict[str, Any]]:
        best: dict[tuple[Any, ...], dict[str, Any]] = {}
        for label, pairs in found.items():
            relation = self.names.get(label, label)
            for pair in pairs:
                head, tail = _span(text, pair["head"]), _span(text, pair["tail"])
                score = min(pair["head"]["confidence"], pair["tail"]["confidence"])
                key = (head["start"], head["end"], relation, tail["start"], tail["end"])
                if (
                    head["text"]
                    and tail["text"]
                    and (key not in best or best[key]["score"] < score)
                ):
                    best[key] = {
                        "subject": head,
                        "relation": relation,
                        "object": tail,
                        "score": score,
                    }
        return list(best.values())


def _span(text: str, argument: Mapping[str, Any]) -> dict[str, Any]:
    """GLiNER2 ends every text with a full stop; one that the text does not have is no part of an
    entity.
    """
    start, end = argument["start"], min(argument["end"], len(text))
    return {"start": start, "end": end, "text": text[start:end]}
