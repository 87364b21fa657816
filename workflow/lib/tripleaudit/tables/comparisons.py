"""Differences of two cells of a study, from the per-sentence counts behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.protocols.variants import variants_of
from tripleaudit.scoring.counts import stack_counts
from tripleaudit.scoring.difference import Difference, between
from tripleaudit.scoring.scores import Run, run_id, run_keys
from tripleaudit.tables.result_frames import ResultFrames
from tripleaudit.tables.study_facts import has_training_set


@dataclass(frozen=True)
class ComparedSide:
    """The sentences of one side of a comparison.

    Attributes:
        counts: ``[sentences, seeds, 3]``.
        ids, units: of the sentences.
    """

    counts: np.ndarray
    ids: Sequence[str]
    units: Sequence[str]


def compare_cells(
    frames: ResultFrames, first: Mapping[str, str], second: Mapping[str, str]
) -> Difference | None:
    """Compare the F1 of two cells; None without per-sentence counts.

    Seeds are paired where both sides share them. Sentences are paired in three cases:

    - both sides have the same test sentences;
    - the test set of ``second`` is that of ``first`` with zero-triple sentences added;
    - one side has variants of the sentences of the other.

    Other sentences, such as those of two strata, are resampled independently. ``units`` of the
    result is the effective sample size: the units (sentences and their variants) of the smaller
    side, or, if the same models are tested with added sentences, the added units where they are
    fewer, because no other sentence contributes to the difference.

    Args:
        frames: of a study.
        first, second: keys of the cells (:attr:`tripleaudit.tables.cells.Cell.of`).
    """
    seeds = [set(frames.counts.get(run_id(keys), {})) for keys in (first, second)]
    trained = [side for side in seeds if side != {""}]
    shared = set.intersection(*(trained or seeds))
    sides = []
    for keys, own_seeds in zip((first, second), seeds, strict=True):
        by_seed = frames.counts.get(run_id(keys), {})
        counts = stack_counts(by_seed, keys["matching"], keys["stratum"], shared or own_seeds)
        if counts is None or not len(counts):
            return None
        ids = frames.sentence_ids(keys, keys["stratum"])
        sides.append(ComparedSide(counts, ids, frames.units(keys, keys["stratum"])))
    pair = _pair_sentences(sides[0], sides[1]) if shared else None
    compared = pair or (sides[0], sides[1])
    same_models = bool(shared) and model_behind(first) == model_behind(second)
    difference = between(
        compared[0].counts,
        compared[1].counts,
        paired=pair is not None,
        shared=bool(shared),
        same_models=same_models,
        units=(compared[0].units, compared[1].units),
    )
    first_units, second_units = (set(side.units) for side in sides)
    sizes = [difference.units, len(first_units), len(second_units)]
    if same_models and first_units < second_units:
        sizes.append(len(second_units - first_units))
    return replace(difference, units=min(sizes))


def model_behind(keys: Mapping[str, str]) -> Run:
    """Return the training of a run; test sets without a training set belong to the original one."""
    protocol = keys["protocol"] if has_training_set(keys["protocol"]) else "original"
    return run_keys(keys, testing="", protocol=protocol)


SidePair = tuple[ComparedSide, ComparedSide]


def _pair_sentences(first: ComparedSide, second: ComparedSide) -> SidePair | None:
    """Return two sides for the same sentences; None if their sentences differ."""
    if first.ids == second.ids:
        return first, second
    positions = {id_: number for number, id_ in enumerate(second.ids)}
    first_ids = set(first.ids)
    if positions.keys() >= first_ids:
        added = [number for id_, number in positions.items() if id_ not in first_ids]
        if second.counts[added][..., 2].any():
            return None
        extended = np.zeros_like(second.counts)
        extended[[positions[id_] for id_ in first.ids]] = first.counts
        return ComparedSide(extended, second.ids, second.units), second
    pair = _pair_variants(first, second)
    if pair is not None:
        return pair
    reverse = _pair_variants(second, first)
    return None if reverse is None else (reverse[1], reverse[0])


def _pair_variants(originals: ComparedSide, variants: ComparedSide) -> SidePair | None:
    """Return originals, each once for each of its variants, and the variants."""
    try:
        groups = variants_of(originals.ids, variants.ids)
    except UserError:
        return None
    if originals.counts.shape[1:] != variants.counts.shape[1:]:
        return None
    positions = [0] * len(variants.ids)
    for number, group in enumerate(groups):
        for variant in group:
            positions[variant] = number
    units = [originals.units[number] for number in positions]
    repeated = ComparedSide(originals.counts[positions], variants.ids, units)
    return repeated, ComparedSide(variants.counts, variants.ids, units)
