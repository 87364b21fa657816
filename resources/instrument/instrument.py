"""Scripted models of known skill, and triple sets with known GREScores.

Everything is drawn by :func:`draw` from names, so that the server that answers, the program that
makes the files and the one that checks the scores agree without sharing any state.
"""

import argparse
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SKILLS = {"extractor-45": 0.45, "extractor-59": 0.59, "extractor-72": 0.72}
"""Model -> share of the needles that it finds."""
FORMS = {"complete": 0.6, "keywords only": 0.2, "wrong type": 0.2}
"""How a found needle is reported -> share: with everything, without its name, or with another type and four of its six
keywords."""
KEYWORDS_OF_WRONG_TYPE = 4
FOUND_BY = {
    "n": ("complete", "wrong type"),
    "ns": ("complete", "wrong type"),
    "k0.5": ("complete", "keywords only", "wrong type"),
    "k0.6": ("complete", "keywords only", "wrong type"),
    "k0.7": ("complete", "keywords only"),
    "llm": ("complete", "keywords only", "wrong type"),
}
"""Criterion -> the forms under which it finds a needle."""

SUPPORTED = 0.7  # share of the triples of the system "facts" that their text supports
SPLIT_INTO, SPLIT_SHARE = (
    3,
    0.4,
)  # parts of a triple of the system "split", and the share of the triples that have them
COVERED = 0.6  # share of the gold triples that the system "complete" has
TRIPLES = 5  # of a text in the systems "facts", "split" and "repeated"
UNSUPPORTED, COMPOUND = "an unsupported place", "and"

EMBEDDING_SIZE = 256
EMPTY = '{"entities": []}'
Triple = list[str]


def draw(*names: object) -> float:
    """Return a number in [0, 1) that the names decide."""
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


# MINEA


@dataclass(frozen=True)
class Needle:
    """A needle as ``needles.jsonl`` has it."""

    id: str
    type: str
    paragraph: str
    name: str
    keywords: Sequence[str]


def form_of(model: str, needle: str) -> str | None:
    """Return how a model reports a needle, None where it misses it."""
    if draw(model, needle, "found") >= SKILLS[model]:
        return None
    position = draw(model, needle, "form")
    for form, share in FORMS.items():
        if position < share:
            return form
        position -= share
    return form


def expected_rate(model: str, criterion: str) -> float:
    """Return the share of needles that a criterion finds of a model in the long run."""
    return SKILLS[model] * sum(FORMS[form] for form in FOUND_BY[criterion])


def found(model: str, needle: str, criterion: str) -> bool:
    """Return whether a criterion finds a needle of a model."""
    return form_of(model, needle) in FOUND_BY[criterion]


def extract(model: str, text: str, needles: Sequence[Needle]) -> str:
    """Return a model's answer about a part of a document: the needles in it that it finds, and
    one other entity.
    """
    records = []
    for needle in needles:
        if needle.paragraph in text and (form := form_of(model, needle.id)):
            records.append(_record(needle, form))
    opening = " ".join(text.split()[:3])
    records.append({"type": "Thing", "name": opening, "description": None, "keywords": []})
    return json.dumps({"entities": records})


def _record(needle: Needle, form: str) -> dict[str, Any]:
    keywords = list(needle.keywords)
    if form == "keywords only":
        return {"type": needle.type, "name": None, "description": None, "keywords": keywords}
    if form == "wrong type":
        return {
            "type": "Thing",
            "name": needle.name,
            "description": None,
            "keywords": keywords[:KEYWORDS_OF_WRONG_TYPE],
        }
    return {
        "type": needle.type,
        "name": needle.name,
        "description": "As the text has it.",
        "keywords": keywords,
    }


def identify(question: str) -> str:
    """Return a judge's answer: the record with the needle's name or at least half of its
    keywords.
    """
    name = _field(question, "Name")
    keywords = _field(question, "Keywords").split(", ")
    for number, line in re.findall(r"^(\d+)\. (.*)$", question, re.MULTILINE):
        shared = sum(keyword in line for keyword in keywords)
        if name in line or shared >= len(keywords) / 2:
            return json.dumps({"match": int(number)})
    return json.dumps({"match": None})


def _field(question: str, name: str) -> str:
    match = re.search(rf"^{name}: (.*)$", question, re.MULTILINE)
    return match[1] if match else ""


# GREScores


@dataclass(frozen=True)
class Known:
    """The GREScore of a triple set.

    Attributes:
        expected: in the long run.
        realised: of the texts at hand.
    """

    score: str
    expected: float
    realised: float


def triple_sets(gold: Mapping[str, Sequence[Triple]]) -> dict[str, dict[str, list[Triple]]]:
    """Return the triple sets by system and text, for texts with gold triples."""
    makers: dict[str, Callable[[str, Sequence[Triple]], list[Triple]]] = {
        "facts": _facts,
        "split": _split,
        "repeated": _repeated,
        "complete": _complete,
        "verbatim": _verbatim,
    }
    return {
        name: {text: make(text, triples) for text, triples in gold.items()}
        for name, make in makers.items()
    }


def known_scores(gold: Mapping[str, Sequence[Triple]]) -> dict[str, Known]:
    """Return for each system the score that it was made for."""
    sets = triple_sets(gold)
    supported = [
        np.mean([is_supported(triple) for triple in triples]) for triples in sets["facts"].values()
    ]
    atomic = [
        np.mean([math.exp(-len(parts_of(triple))) for triple in triples])
        for triples in sets["split"].values()
    ]
    unique = [uniqueness(triples) for triples in sets["repeated"].values()]
    covered = [
        np.mean([triple in sets["complete"][text] for triple in triples])
        for text, triples in gold.items()
    ]
    expected_unique = np.mean([_uniqueness_of(copies) for copies in range(1, TRIPLES + 1)])
    return {
        "facts": Known("fs", SUPPORTED, float(np.mean(supported))),
        "split": Known(
            "gs", 1 - SPLIT_SHARE + SPLIT_SHARE * math.exp(-SPLIT_INTO), float(np.mean(atomic))
        ),
        "repeated": Known("us", float(expected_unique), float(np.mean(unique))),
        "complete": Known("cs", COVERED, float(np.mean(covered))),
        "verbatim": Known("ts", 1.0, 1.0),
    }


def _facts(text: str, gold: Sequence[Triple]) -> list[Triple]:
    triples = []
    for number in range(TRIPLES):
        is_true = draw(text, number, "supported") < SUPPORTED
        triples.append(
            [
                f"subject {number}",
                "is near",
                f"object {number}" if is_true else f"{UNSUPPORTED} {number}",
            ]
        )
    return triples


def is_supported(triple: Sequence[str]) -> bool:
    """Return whether the scripted judge says that a text supports a triple."""
    return UNSUPPORTED not in triple[2]


def _split(text: str, gold: Sequence[Triple]) -> list[Triple]:
    triples = []
    for number in range(TRIPLES):
        is_compound = draw(text, number, "split") < SPLIT_SHARE
        objects = [f"object {number}-{part}" for part in range(SPLIT_INTO if is_compound else 1)]
        triples.append([f"subject {draw(text):.12f}", "has", f" {COMPOUND} ".join(objects)])
    return triples


def parts_of(triple: Sequence[str]) -> list[Triple]:
    """Return the triples that the scripted judge splits a triple into, none for a single fact."""
    subject, relation, object_ = triple
    objects = object_.split(f" {COMPOUND} ")
    return [[subject, relation, part] for part in objects] if len(objects) > 1 else []


def _repeated(text: str, gold: Sequence[Triple]) -> list[Triple]:
    copies = 1 + int(draw(text, "copies") * TRIPLES)
    names = ["copy"] * copies + [f"other {number}" for number in range(TRIPLES - copies)]
    return [[f"subject {name}", f"relation {name}", f"object {name}"] for name in names]


def uniqueness(triples: Sequence[Triple]) -> float:
    """Return the share of ordered pairs of triples that differ."""
    pairs = [(a, b) for i, a in enumerate(triples) for j, b in enumerate(triples) if i != j]
    return sum(a != b for a, b in pairs) / len(pairs)


def _uniqueness_of(copies: int) -> float:
    return 1 - copies * (copies - 1) / (TRIPLES * (TRIPLES - 1))


def _complete(text: str, gold: Sequence[Triple]) -> list[Triple]:
    kept = [
        list(triple) for number, triple in enumerate(gold) if draw(text, number, "kept") < COVERED
    ]
    return [*kept, ["another subject", "another relation", "another object"]]


def _verbatim(text: str, gold: Sequence[Triple]) -> list[Triple]:
    words = text.split()
    first, second = len(words) // 3, 2 * len(words) // 3
    return [[" ".join(words[:first]), " ".join(words[first:second]), " ".join(words[second:])]]


# The endpoint


def answer(body: Mapping[str, Any], needles: Sequence[Needle]) -> str:
    """Return the answer to a chat request, by the model and the last message."""
    question = body["messages"][-1]["content"]
    if "These records were extracted" in question:
        return identify(question)
    if match := re.search(r"^Claim: (.*)\Z", question, re.MULTILINE):
        return "true" if is_supported(json.loads(match[1])) else "false"
    if match := re.search(r"^Statement: (.*)\Z", question, re.MULTILINE):
        return json.dumps({"parts": parts_of(json.loads(match[1]))})
    if body["model"] in SKILLS and question.startswith("Part "):
        return extract(body["model"], question, needles)
    return EMPTY  # a follow-up call: everything was listed before


def embed(text: str) -> list[float]:
    """Return a unit vector that the text decides; those of two texts are nearly orthogonal."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=EMBEDDING_SIZE)
    return (vector / np.linalg.norm(vector)).tolist()


def study_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser of the argument that the programs of this folder share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "study",
        nargs="?",
        type=Path,
        default=Path("results/instrument"),
        help="folder of the study",
    )
    return parser
