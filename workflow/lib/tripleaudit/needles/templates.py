"""Needles without a language model: paragraphs put together from word lists, for tests, demos and as a last resort.

A model invents better needles, because they fit the document's topic. These ones are clear instead: an unusual name, a
paragraph of 40 to 120 words in plain prose, and six keywords that stand in it word for word. Studies that use them say
so in every needle (``generator.model`` is ``templates``).
"""

import random
from collections.abc import Sequence

from tripleaudit.errors import UserError
from tripleaudit.needles.entities import normalise
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.needle import DEMANDS, Demands, Needle, problem

_ONSETS = [
    "b",
    "br",
    "d",
    "dr",
    "f",
    "g",
    "gl",
    "h",
    "j",
    "k",
    "kr",
    "l",
    "m",
    "n",
    "p",
    "pr",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "z",
]
_NUCLEI = ["a", "e", "i", "o", "u", "ai", "ea", "io"]
_CODAS = ["l", "n", "r", "s", "th", "x", "m", "nd", "rk", "st"]
_GIVEN = [
    "Adela",
    "Bastian",
    "Corinna",
    "Dario",
    "Elvira",
    "Fabrice",
    "Greta",
    "Henning",
    "Ilse",
    "Jarek",
    "Katrin",
    "Leopold",
    "Mirela",
    "Norbert",
]

# Every slot is filled with one of 30 to 48 pairs of words, so that two needles seldom share a keyword.
_SLOTS = {
    "role": (
        ["field", "clinical", "data", "programme", "laboratory", "harbour", "records", "quality"],
        ["engineer", "statistician", "curator", "officer", "manager", "inspector"],
    ),
    "place": (
        ["quiet", "northern", "coastal", "southern", "walled", "flooded"],
        ["harbour", "river valley", "market town", "dry plain", "mining district"],
    ),
    "field": (
        ["sample", "water", "tissue", "seed", "parcel", "noise", "pollen"],
        ["tracking", "monitoring", "imaging", "storage", "labelling", "mapping"],
    ),
    "effect": (
        ["shorter", "fewer", "lower", "steadier", "milder"],
        [
            "waiting times",
            "transcription errors",
            "storage costs",
            "measurement drifts",
            "seasonal losses",
            "night shifts",
        ],
    ),
    "partner": (
        ["regional", "municipal", "teaching", "seaside", "volunteer", "cooperative"],
        ["hospitals", "archives", "laboratories", "nurseries", "workshops"],
    ),
    "method": (
        ["weekly", "blind", "double", "random", "paired", "staggered"],
        ["calibration", "data entry", "review", "spot checks", "cold chain logging", "counting"],
    ),
    "object": (
        ["handheld", "modular", "portable", "desktop", "floating"],
        ["reader", "cabinet", "analyser", "scanner", "probe"],
    ),
    "material": (
        ["pale", "bitter", "colourless", "crystalline", "waxy"],
        ["resin", "powder", "gel", "salt", "distillate"],
    ),
    "sign": (
        ["sudden", "recurrent", "mild", "nightly", "painless"],
        ["sweats", "tingling", "blurred vision", "stiffness", "cough"],
    ),
}

# For each type: how its name is built ({w} and {v} are invented words), what it is, and the sentences about it.
# Six slots each: what fills them becomes the needle's keywords.
_SHAPES: dict[str, tuple[str, str, str]] = {
    "Person": (
        "{given} {w}",
        "a {role} who works on {field}",
        "{name} is a {role} who has spent eleven years on {field}. Trained in a {place}, the specialist now works "
        "with {partner} and is best known for {effect}. Colleagues say that {name} insists on {method} before any "
        "result is shared, a habit that a later survey credited with most of the improvement seen in the first "
        "season.",
    ),
    "Project": (
        "Project {w}",
        "an initiative on {field} run with {partner}",
        "{name} is a four year initiative on {field}, led by a {role} and carried out with {partner}. Its first "
        "phase, based in a {place}, introduced {method} at all sites. The steering group expects {effect} by the "
        "end of the second year, and has asked for an independent review of {name} before any money for a third "
        "phase is released.",
    ),
    "Product": (
        "{w} {v}",
        "a {object} for {field}",
        "The {name} is a {object} made for {field}. It was tested by {partner} in a {place}, where a {role} "
        "reported {effect} within a month of its arrival. The maker recommends {method}, supplies one spare "
        "battery with every unit, and replaces a broken {name} within five working days at no charge to the "
        "owner.",
    ),
    "Legislation": (
        "{w} {v} Act",
        "a law on {field}",
        "The {name} sets out duties for everyone who is responsible for {field}. It was drafted by a {role} after "
        "a long inquiry in a {place}, and it obliges {partner} to practise {method} and to publish the outcome "
        "twice a year. Supporters of the {name} point to {effect}; critics hold that its fines are too low to "
        "matter.",
    ),
    "Event": (
        "{w} {v} Symposium",
        "a meeting about {field}",
        "The {name} brought ninety participants to a {place} for two days of talks about {field}. It was opened "
        "by a {role} and paid for by {partner}. The workshop on {method} drew the largest crowd, while a closing "
        "panel of the {name} debated whether {effect} can be expected outside of well equipped institutions.",
    ),
    "OpportunityArea": (
        "{w} {v} Pathway",
        "a field of future work that joins {field} and {method}",
        "Planners use the name {name} for a field of future work that joins {field} with {method}. The idea came "
        "from a {role} and was first sketched together with {partner} in a {place}. If it is followed up, the "
        "{name} could bring {effect}, although nobody has so far estimated what the necessary training would "
        "cost.",
    ),
    "Insight": (
        "{w} {v} Principle",
        "the observation that {method} leads to {effect}",
        "What practitioners call the {name} is the observation that {method} leads to {effect} long before any "
        "equipment is replaced. A {role} noticed it first while comparing records on {field} from a {place}. "
        "According to {partner}, the {name} holds even for small teams, provided that the same people stay in "
        "charge for a full year.",
    ),
    "Substance": (
        "{w}ite",
        "a {material} used in {field}",
        "{name} is a {material} that has found its way into {field}. It was isolated by a {role} in a {place} "
        "from the residue of a disused kiln. Used together with {method}, a few grams of {name} are said to give "
        "{effect}, and {partner} now keep a reserve of it in sealed glass jars away from direct light.",
    ),
    "Thing": (
        "{w} {v} Register",
        "a collection of records about {field}",
        "The {name} is a set of bound volumes with records about {field} that was found in a {place}. It passed "
        "through many hands before a {role} recognised its value and handed it to {partner}. Copying the {name} "
        "page by page, with {method} at every step, took three winters and is credited with {effect} in later "
        "surveys.",
    ),
    "BioChemEntity": (
        "{w}asin",
        "a protein studied in {field}",
        "{name} is a small secreted protein that came up during work on {field}. A {role} purified it from moss "
        "collected in a {place} and described its folding. Assays of {name} that rely on {method} were repeated "
        "by {partner}, who connect its presence with {effect} but warn that the binding partner is still not "
        "known.",
    ),
    "MedicalCondition": (
        "{w} syndrome",
        "a disorder with {sign}",
        "{name} is a slowly progressing disorder that starts with {sign} and is often noticed in the course of "
        "{field}. A {role} from a {place} described the first eight patients. There is no cure, but {method} has "
        "been tried by {partner}, and the families of people with {name} report {effect} where the care is well "
        "organised.",
    ),
    "Organization": (
        "{w} {v} Foundation",
        "a charity that supports {field}",
        "The {name} is a charity that supports {field} with small grants. It was set up in a {place} by a retired "
        "{role}, shares its offices with {partner}, and asks every grant holder for {method}. In its latest "
        "report the {name} lists {effect} among its main results and announces a second office for the coming "
        "spring.",
    ),
    "Place": (
        "{w}mouth",
        "a settlement known for {field}",
        "{name} is a settlement near a {place} that became known for {field}. Its old customs house is shared "
        "today by a {role} and {partner}, who train visitors in {method}. Since the road to {name} was repaired "
        "the number of guests has doubled, and the council hopes that {effect} will follow from the new "
        "arrangement.",
    ),
    "Country": (
        "{w}ania",
        "a small state that invests in {field}",
        "{name} is a small inland state that has put much of its budget into {field}. Its best known export comes "
        "from a {place}, and its ministry employs a {role} who answers to {partner}. Visitors to {name} are "
        "struck by {method}, which is taught in every school there, and by {effect} since the reform.",
    ),
}


def template_needles(
    document: Document,
    kind: str,
    count: int,
    seed: int,
    taken: Sequence[Needle] = (),
    demands: Demands = DEMANDS,
) -> list[Needle]:
    """Return ``count`` valid needles of type ``kind`` for a document.

    Args:
        document: its identifier decides the result, with ``kind`` and ``seed``; no name occurs in its text.
        taken: needles of the document that the new ones must differ from.
        demands: what every needle must have; a template gives at most six keywords and about 65 words.

    Raises:
        UserError: the templates cannot give such needles.
    """
    rng = random.Random(f"{seed}:{document.id}:{kind}")
    needles: list[Needle] = []
    origin = {"model": "templates", "seed": seed}
    for _ in range(100 * count):
        if len(needles) == count:
            break
        paragraph, name, description, slots = _candidate(rng, kind)
        identifier = f"{document.id}:{kind}:t{len(needles):02d}"
        needle = Needle(identifier, document.id, kind, paragraph, name, description, slots[: demands.keywords], origin)
        reason = problem(needle, document.text, (*taken, *needles), demands)
        if reason is None:
            needles.append(needle)
    if len(needles) < count:
        raise UserError(f"templates gave only {len(needles)} of {count} needles of type {kind!r}: {reason}")
    return needles


def _candidate(rng: random.Random, kind: str) -> tuple[str, str, str, tuple[str, ...]]:
    pattern, what, story = _SHAPES.get(kind, _SHAPES["Thing"])
    name = pattern.format(w=_word(rng), v=_word(rng), given=rng.choice(_GIVEN))
    fill = {slot: f"{rng.choice(first)} {rng.choice(second)}" for slot, (first, second) in _SLOTS.items()}
    paragraph = story.format(name=name, **fill)
    slots = [value for value in fill.values() if normalise(value, True) in normalise(paragraph, True)]
    return paragraph, name, what.format(**fill) + ".", tuple(slots)


def _word(rng: random.Random) -> str:
    parts = [rng.choice(_ONSETS) + rng.choice(_NUCLEI) for _ in range(2)]
    return ("".join(parts) + rng.choice(_CODAS)).capitalize()
