"""The demo corpus: facts drawn from a Zipf-Mandelbrot distribution over one world, written out as
seven files.

Frequent facts recur in training and test alike, so that most test triples are entirely seen, as in
the benchmarks. Some hundred rare facts are kept out of training and validation so that purely
partially seen and purely unseen test sentences are numerous enough for a type F1; the shares
themselves are counted, not forced.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from generator.compose import Composer, nested
from generator.relations import SCHEMA
from generator.renamed import Renamer
from generator.templates import Draft
from generator.world import Fact, World
from generator.zero import ZeroWriter
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences

SEED = 2026
"""Fixed before anything was trained on this world, and not chosen among several."""
FILES = ("train", "valid", "test", "train_zero", "valid_zero", "test_zero", "test_augmented")


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes and distribution of the corpus.

    Attributes:
        train, valid, test: sentences with triples. train_zero, valid_zero, test_zero: sentences
        with zero triples. relations: those of the triples; what the world's other facts say is no
        triple here. counts: shares of sentences planned with 1, 2, 3, 4 and 5 triples. exponent,
        offset: the fact of rank i is drawn with weight 1 / (i + offset) ** exponent. overlap: how
        much more often a fact is drawn whose pair has a second relation or whose names are nested.
        evenness: 0 leaves relations as frequent as their facts make them, 1 draws all relations
        equally often. frequent: share of the facts, most frequent first, that count as frequent
        when facts are held out. held_out: facts that only the test set states, by (no argument seen
        with the relation, one argument seen). each: facts held out of one relation and kind at
        most.
    """

    train: int = 1200
    valid: int = 200
    test: int = 500
    train_zero: int = 1200
    valid_zero: int = 200
    test_zero: int = 500
    relations: tuple[str, ...] = SCHEMA
    counts: tuple[float, ...] = (0.6, 0.3, 0.1)
    exponent: float = 1.5
    offset: float = 20.0
    overlap: float = 4.0
    evenness: float = 0.75
    frequent: float = 0.45
    held_out: tuple[int, int] = (100, 100)
    each: int = 30


def keep(world: World, relations: Collection[str]) -> list[Fact]:
    """Leave a world the facts of some relations; returns all that it had."""
    everything, world.facts = (
        world.facts,
        [fact for fact in world.facts if fact.relation in relations],
    )
    world.pairs = Counter((fact.subject, fact.object) for fact in world.facts)
    return everything


def rank_facts(world: World, seed: int | str, shape: Shape) -> dict[Fact, float]:
    """Give every fact its frequency: facts of prominent entities come first, with much chance
    mixed in.
    """
    rng = random.Random(f"demo-ranks-{seed}")
    prominence = {name: rng.gauss(0, 1) for name in world.entities}
    order = sorted(
        world.facts,
        key=lambda fact: prominence[fact.subject] + prominence[fact.object] + rng.gauss(0, 1),
        reverse=True,
    )
    weights = {}
    for rank, fact in enumerate(order, 1):
        weights[fact] = 1 / (rank + shape.offset) ** shape.exponent
        if world.pairs[fact.subject, fact.object] > 1 or nested(fact):
            weights[fact] *= shape.overlap
    mass: dict[str, float] = {}
    for fact, weight in weights.items():
        mass[fact.relation] = mass.get(fact.relation, 0.0) + weight
    return {
        fact: weight / mass[fact.relation] ** shape.evenness for fact, weight in weights.items()
    }


def hold_out(
    weights: dict[Fact, float], seed: int | str, shape: Shape
) -> tuple[dict[Fact, float], list[Fact], list[Fact]]:
    """Choose rare facts for the test set alone.

    A rare fact is lonely if no frequent fact of its relation shares an argument with it. Some
    lonely facts are held out and the others are never told: each would be an unseen triple wherever
    it fell outside the training set, and there would be far more of those than the benchmarks have.

    Returns:
        the facts all splits draw from, the lonely facts held out, the other facts held out.
    """
    rng = random.Random(f"demo-held-out-{seed}")
    ranked = list(weights)
    frequent, rare = (
        ranked[: int(len(ranked) * shape.frequent)],
        ranked[int(len(ranked) * shape.frequent) :],
    )

    def halves(facts: list[Fact]) -> set[tuple[str, str]]:
        """(subject, relation) and (relation, object) of the facts."""
        return {(fact.subject, fact.relation) for fact in facts} | {
            (fact.relation, fact.object) for fact in facts
        }

    known, well_known = halves(frequent), halves(frequent[: len(frequent) // 3])
    lonely = {fact for fact in rare if not halves([fact]) & known}
    rng.shuffle(rare)
    unseen, partial = [], []
    told: Counter[tuple[bool, str]] = Counter()
    for fact in rare:
        alone = fact in lonely
        if not alone and not halves([fact]) & well_known:
            continue
        pool, limit = (unseen, shape.held_out[0]) if alone else (partial, shape.held_out[1])
        if len(pool) < limit and told[alone, fact.relation] < shape.each:
            pool.append(fact)
            told[alone, fact.relation] += 1
    kept = lonely.union(unseen, partial)
    return {fact: weight for fact, weight in weights.items() if fact not in kept}, unseen, partial


def generate(seed: int | str = SEED, shape: Shape | None = None) -> dict[str, list[Sentence]]:
    """Make the parts of the corpus; equal seeds and shapes give equal sentences.

    Returns:
        sentences by part (``train``, ``valid``, ``test`` and each with ``_zero``), in which no text
        occurs twice, and ``test_augmented``: each sentence of the test set four times, about other
        names.
    """
    shape = shape or Shape()
    world = World(seed)
    everything = keep(world, shape.relations)
    weights = rank_facts(world, seed, shape)
    common, unseen, partial = hold_out(weights, seed, shape)
    composer = Composer(world, common)
    rng = random.Random(f"demo-sentences-{seed}")
    texts: set[str] = set()

    def fresh(write: Callable[[], Draft]) -> Draft:
        """Write until the text is new."""
        while True:
            draft = write()
            text = draft.finish("").text
            if text not in texts:
                texts.add(text)
                return draft

    def drawn() -> Draft:
        anchor = rng.choices(list(common), list(common.values()))[0]
        return composer.compose(
            anchor, rng.choices(range(1, len(shape.counts) + 1), shape.counts)[0], rng
        )

    held_out = [
        fresh(lambda fact=fact: composer.compose(fact, 1, rng)) for fact in unseen + partial
    ]
    pool = [fresh(drawn) for _ in range(shape.train + shape.valid + shape.test - len(held_out))]
    rng.shuffle(
        pool
    )  # short wordings of frequent facts run out towards the end; so do plain zeros below
    test = pool[shape.train + shape.valid :] + held_out
    rng.shuffle(test)
    drafts = {
        "train": pool[: shape.train],
        "valid": pool[shape.train : shape.train + shape.valid],
        "test": test,
    }
    writer = ZeroWriter(world, weights, everything)
    zeros = [
        fresh(lambda: writer.write(rng)[1])
        for _ in range(shape.train_zero + shape.valid_zero + shape.test_zero)
    ]
    rng.shuffle(zeros)
    for part in ("train_zero", "valid_zero", "test_zero"):
        size = getattr(shape, part)
        drafts[part], zeros = zeros[:size], zeros[size:]
    parts = {
        part: [
            draft.finish(f"{part.replace('_', '-')}-{number:05d}")
            for number, draft in enumerate(found)
        ]
        for part, found in drafts.items()
    }
    trained = {
        span.text
        for row in parts["train"]
        for triple in row.triples
        for span in (triple.subject, triple.object)
    }
    renamer = Renamer(world, trained, random.Random(f"demo-renamed-{seed}"))
    parts["test_augmented"] = [
        renamed
        for draft, row in zip(test, parts["test"], strict=True)
        for renamed in renamer.variants(draft, row.id)
    ]
    return parts


def write_demo(
    folder: str | Path, seed: int | str = SEED, shape: Shape | None = None
) -> dict[str, int]:
    """Write the corpus as ``<part>.jsonl``; returns the number of sentences of each part."""
    parts = generate(seed, shape)
    for part, sentences in parts.items():
        save_sentences(Path(folder) / f"{part}.jsonl", sentences)
    return {part: len(sentences) for part, sentences in parts.items()}
