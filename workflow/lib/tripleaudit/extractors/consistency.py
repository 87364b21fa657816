"""Whether object taggers such as CasRel's can produce all gold labels of a sentence.

For one relation and one kind of tag (head or tail) the logit of token i for a subject with first
and second token a and b is ``y_i + (y_a + y_b) / 2``, with one number y per token
(:mod:`tripleaudit.extractors.casrel`); with separate weights for the subject it is
``y_i + (u_a + u_b) / 2``. A linear program decides whether numbers exist that produce the labels of
all gold subjects of the sentence. It knows neither the encoder nor the text, so that an
inconsistent set of labels stays inconsistent for every encoder.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

Pair = tuple[int, int]


def contradictory_relations(rows: np.ndarray, tail_distance: int, own_subject: bool) -> np.ndarray:
    """Return which gold rows belong to a relation whose object labels are inconsistent.

    Args:
        rows: [n, 5] of one sentence (subject start, subject end, relation, object start, object
            end), inclusive token indices.
        tail_distance: tokens between an entity's last token and its second state and tail tag.
        own_subject: whether the subject has separate weights.

    Returns:
        [n] bool.
    """
    result = np.zeros(len(rows), dtype=bool)
    triples = [tuple(row) for row in rows.tolist()]
    subjects = list(dict.fromkeys((row[0], row[1] + tail_distance) for row in triples))
    for relation in {row[2] for row in triples}:
        heads: dict[Pair, set[int]] = {subject: set() for subject in subjects}
        tails: dict[Pair, set[int]] = {subject: set() for subject in subjects}
        for start, end, name, object_start, object_end in triples:
            if name == relation:
                heads[start, end + tail_distance].add(object_start)
                tails[start, end + tail_distance].add(object_end + tail_distance)
        for objects in (heads, tails):
            if not are_consistent(
                subjects, [objects[subject] for subject in subjects], own_subject
            ):
                result |= rows[:, 2] == relation
    return result


def are_consistent(
    subjects: Sequence[Pair], objects: Sequence[set[int]], own_subject: bool = False
) -> bool:
    """Return whether numbers exist that tag the objects of every subject and no other token.

    Args:
        subjects: first and second token of each subject.
        objects: tagged tokens for each subject.
        own_subject: whether the subject has separate weights.
    """
    tokens = sorted({token for pair in subjects for token in pair}.union(*objects))
    number = {token: index for index, token in enumerate(tokens)}
    pairs = tuple((number[first], number[second]) for first, second in subjects)
    tagged = tuple(frozenset(number[token] for token in heads) for heads in objects)
    return _is_feasible(pairs, tagged, len(tokens), own_subject)


@lru_cache(maxsize=65536)
def _is_feasible(
    subjects: tuple[Pair, ...], objects: tuple[frozenset[int], ...], tokens: int, own_subject: bool
) -> bool:
    """See :func:`are_consistent`; tokens are numbered from 0, so that equal patterns are equal."""
    if _has_one_separate_subject(subjects, objects):
        return True
    from scipy.optimize import linprog

    offset = tokens if own_subject else 0
    upper_bounds = []
    for (first, second), tagged in zip(subjects, objects, strict=True):
        for token in range(tokens):
            logit = np.zeros(tokens + offset)
            logit[token] += 1
            logit[offset + first] += 0.5
            logit[offset + second] += 0.5
            upper_bounds.append(-logit if token in tagged else logit)
    limits = -np.ones(len(upper_bounds))
    goal = np.zeros(tokens + offset)
    solution = linprog(goal, np.array(upper_bounds), limits, bounds=(None, None), method="highs")
    return solution.status == 0


def _has_one_separate_subject(subjects: Sequence[Pair], objects: Sequence[frozenset[int]]) -> bool:
    """Return whether one subject has objects and shares no token with them or other subjects.

    Its own tokens can then be as high as its objects require, and those of others as low.
    """
    with_objects = [index for index, tagged in enumerate(objects) if tagged]
    if len(with_objects) != 1:
        return not with_objects
    index = with_objects[0]
    own = set(subjects[index])
    others = {token for pair in subjects if pair != subjects[index] for token in pair}
    return not objects[index] & (own | others) and not own & others
