"""Texts about the demo world made to order: one fact as a sentence, new facts, and long documents."""

import functools
import random
from collections import ChainMap
from collections.abc import Collection, Mapping

from generator.compose import can_join, single
from generator.generator import SEED
from generator.relations import NUMBER, RELATIONS, YEAR
from generator.templates import Draft
from generator.world import Entity, Fact, World, article_of
from generator.zero import COMENTION, EVENT, PLAIN, ZeroWriter
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.errors import UserError

_PARAGRAPH_SENTENCES = (3, 7)


@functools.cache
def shipped_world() -> World:
    """The world of the corpus in ``resources/demo`` (made once, never changed)."""
    return World(SEED)


class _WithStrangers:
    """A world plus the arguments of one fact that it does not know, of the types that the relation asks for."""

    def __init__(self, world: World, fact: Fact):
        rule = RELATIONS[fact.relation]
        strangers: dict[str, Entity] = {}
        for name, kinds in ((fact.subject, rule.subjects), (fact.object, rule.objects)):
            if name not in world.entities:
                kind = kinds[0] if len(kinds) == 1 else None
                strangers[name] = Entity(name, kind, article_of(name, kind), possessive="their")
        self.entities: Mapping[str, Entity] = ChainMap(strangers, world.entities)
        self.pairs = world.pairs

    def kind_of(self, name: str) -> str | None:
        """Type of an entity; ``None`` where the relation leaves it open."""
        return self.entities[name].kind


def state_triple(triple: Triple | Fact | tuple[str, str, str], seed: int | str = 0) -> Sentence:
    """Say a triple of a demo relation in one natural sentence with exact spans.

    Args:
        triple: a triple, or its three strings; the entities need not belong to the demo world.
        seed: another seed, often another wording; equal seeds give equal sentences.

    Raises:
        UserError: the relation is none of the demo corpus, or an argument is empty.
    """
    fact = Fact(*triple.strings) if isinstance(triple, Triple) else Fact(*triple)
    if fact.relation not in RELATIONS:
        raise UserError(f"relation {fact.relation!r} is not one of the demo corpus; expected {', '.join(RELATIONS)}")
    if not fact.subject.strip() or not fact.object.strip() or fact.subject == fact.object:
        raise UserError(f"triple {tuple(fact)!r} cannot be stated; expected two different, non-empty entity names")
    draft = Draft(_WithStrangers(shipped_world(), fact), random.Random(f"demo-state-{seed}-{'|'.join(fact)}"))
    single(draft, fact, plain=True)
    return draft.finish(f"stated-{seed}")


def new_facts(count: int, seed: int | str = 0) -> list[Fact]:
    """Draw facts about subjects unknown to the demo world, in agreement with its own facts, from each relation in turn.

    A relation whose subjects the demo world knows all is left out (every world has the same cities).

    Raises:
        UserError: one world has fewer such facts than asked for.
    """
    known, other = shipped_world(), World(f"new-{seed}")
    rng = random.Random(f"demo-new-facts-{seed}")
    by_relation: dict[str, list[Fact]] = {}
    taken = {(fact.relation, fact.object) for fact in known.facts if RELATIONS[fact.relation].object_functional}
    for fact in other.facts:
        if fact.subject not in known.entities and (fact.relation, fact.object) not in taken:
            by_relation.setdefault(fact.relation, []).append(fact)
    total = sum(map(len, by_relation.values()))
    if count > total:
        raise UserError(f"{count} new facts were asked for, but one world has {total}; expected at most that many")
    for facts in by_relation.values():
        rng.shuffle(facts)
    chosen: list[Fact] = []
    while len(chosen) < count:
        for facts in by_relation.values():
            if facts and len(chosen) < count:
                chosen.append(facts.pop())
    return chosen


def documents(
    count: int,
    seed: int | str = 0,
    characters: tuple[int, int] = (3000, 12000),
    stated: float = 0.35,
    exclude: Collection[Fact] = (),
) -> list[Sentence]:
    """Write long documents of several paragraphs about the demo world.

    Each paragraph dwells on one entity: sentences that state facts about it, remarks that state nothing, and general
    news. No fact is stated twice in a document.

    Args:
        count: number of documents.
        seed: equal seeds give equal documents.
        characters: bounds of the length of a document; the last paragraph may end a little beyond.
        stated: share of sentences that state facts; 0 is a haystack without any triple.
        exclude: facts that no document may state.

    Returns:
        documents as sentences with ``text`` (paragraphs separated by a blank line), and the stated triples with
        character spans in the whole document.

    Raises:
        UserError: the bounds or the share make no sense.
    """
    low, high = characters
    if not 0 < low <= high:
        raise UserError(f"a document of {low} to {high} characters cannot be written; expected 0 < low <= high")
    if not 0 <= stated <= 1:
        raise UserError(f"the share of stating sentences is {stated}; expected a number between 0 and 1")
    world = shipped_world()
    facts = [fact for fact in world.facts if fact not in set(exclude)]
    return [_document(world, facts, number, f"{seed}-{number}", characters, stated) for number in range(count)]


def _document(
    world: World, facts: list[Fact], number: int, seed: str, characters: tuple[int, int], stated: float
) -> Sentence:
    rng = random.Random(f"demo-document-{seed}")
    writer = ZeroWriter(world, dict.fromkeys(facts or world.facts, 1.0))
    about: dict[str, list[Fact]] = {}
    for fact in facts:
        for name in (fact.subject, fact.object):
            if world.kind_of(name) not in (YEAR, NUMBER) and can_join(fact, name):
                about.setdefault(name, []).append(fact)
    hubs = [name for name in world.entities if len(about.get(name, ())) >= 3 or not facts]
    hubs = [name for name in hubs if world.kind_of(name) not in (YEAR, NUMBER)] or list(about)
    rng.shuffle(hubs)
    target = rng.randrange(characters[0], characters[1] + 1)
    text, triples, said, texts = "", [], set(), set()
    for hub in hubs * (1 + characters[1] // 1000):
        if len(text) >= target:
            break
        text += "\n\n" if text else ""
        for position in range(rng.randint(*_PARAGRAPH_SENTENCES)):
            untold = [fact for fact in about.get(hub, ()) if fact not in said]
            draft = Draft(world, rng)
            if untold and rng.random() < stated:
                single(draft, rng.choice(untold), plain=True)
            elif rng.random() < 0.4:
                draft.text = writer.about(draft, hub)
            else:
                draft = writer.write(rng, rng.choice((PLAIN, PLAIN, EVENT, COMENTION)))[1]
            sentence = draft.finish("")
            if sentence.text in texts:
                continue
            texts.add(sentence.text)
            said |= {Fact(*triple.strings) for triple in sentence.triples}
            text += " " if position and not text.endswith("\n\n") else ""
            triples += [_moved(triple, len(text)) for triple in sentence.triples]
            text += sentence.text
        text = text.rstrip("\n")
    return Sentence(f"document-{number:03d}", text, tuple(triples))


def _moved(triple: Triple, offset: int) -> Triple:
    """The triple at its place in a longer text."""
    spans = [Span(span.start + offset, span.end + offset, span.text) for span in (triple.subject, triple.object)]
    return Triple(spans[0], triple.relation, spans[1])
