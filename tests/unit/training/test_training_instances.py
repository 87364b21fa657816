"""Batches that count the instances of TDEER and PRGC as their official code does."""

import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from support.published import webnlg
from tripleaudit.core.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.prgc import PRGC
from tripleaudit.extractors.registry import extractor_class, extractor_names
from tripleaudit.extractors.tdeer import TDEER
from tripleaudit.protocols.types import distinct_triples
from tripleaudit.study.trainings import presets
from tripleaudit.testing import build_extractor, toy_sentences
from tripleaudit.training.data import Collator, TrainingSentences, batches
from tripleaudit.training.run import loop_settings
from tripleaudit.training.settings import TrainingSettings

KINDS = pytest.mark.parametrize("kind", [TDEER, PRGC])


@KINDS
def test_the_instances_of_one_sentence_together_are_the_sentence_with_its_weight(
    kind, tiny_encoder
):
    """Repeating a sentence for each instance is what weighting it by their number stands for."""
    model = build_extractor(kind, tiny_encoder).eval()
    for example in TrainingSentences(toy_sentences(), model).examples:
        count = kind.instance_count(model.config, example.rows)
        collate = Collator(kind, model.config, 0, seed=0)
        parts = [replace(example, instance=number) for number in range(count)]
        grouped, single = model(**collate([example])), model(**collate(parts))
        for name, term in grouped.terms.items():
            assert single.terms[name].item() == pytest.approx(term.item(), rel=1e-5), (
                example.id,
                name,
            )


@KINDS
def test_every_instance_enters_an_epoch_once_and_batches_count_them(kind, tiny_encoder):
    model = build_extractor(kind, tiny_encoder)
    dataset = TrainingSentences(toy_sentences(), model)
    counts = dataset.instances()
    assert dataset.size("instances") == sum(counts) > len(dataset) == dataset.size("sentences")
    found = batches(dataset.lengths, 3, 1, 0, grouped=False, instances=counts)
    assert len(found) == -(-sum(counts) // 3)
    keys = Counter(key for batch in found for key in batch)
    assert keys == Counter(
        (0, number, each) for number, count in enumerate(counts) for each in range(count)
    )
    collate = Collator(kind, model.config, 0, 0)
    for batch in (collate([dataset[key] for key in each]) for each in found):
        sentences = batch["instances"][:, 0].tolist()
        assert len(sentences) == len(set(sentences))  # one instance of each entry
        assert len(batch["input_ids"]) <= 3
        assert torch.isfinite(model(**batch).loss)


def test_tdeer_draws_its_negatives_once_for_all_entries_of_a_sentence(tiny_encoder):
    model = build_extractor(TDEER, tiny_encoder, neg_samples=1)
    example = TrainingSentences(toy_sentences(), model).examples[0]
    count = TDEER.instance_count(model.config, example.rows)
    collate = Collator(TDEER, model.config, 0, seed=0)

    def drawn(batch: dict) -> list[tuple[int, ...]]:  # subject, relation, and how often it counts
        return [
            tuple(row)
            for row in torch.cat([batch["subjects"], batch["instances"][:, 1:]], 1).tolist()
        ]

    whole = drawn(collate([example]))
    parts = [drawn(collate([replace(example, instance=number)]))[0] for number in range(count)]
    assert sum(row[-1] for row in whole) == count
    assert Counter(part[:-1] for part in parts) == Counter({row[:-1]: row[-1] for row in whole})


def test_an_extractor_without_instances_refuses_to_count_them():
    settings = TrainingSettings(unit="instances")
    with pytest.raises(UserError, match="training/unit: casrel makes one instance of a sentence"):
        loop_settings(settings, CasRel)
    assert loop_settings(settings, PRGC).unit == "instances"


def official_instances(
    name: str, triples: list[tuple[str, str, str]], most: int, negatives: int
) -> int:
    """What the authors' loaders make of a sentence: one instance, or as their data loaders of
    PRGC and TDEER say.
    """
    if name == "prgc":
        return len({relation for _, relation, _ in triples})
    if name != "tdeer":
        return 1
    pairs = {(subject, relation) for subject, relation, _ in triples}
    made, count = set(pairs), 0
    for subject, relation, other in triples[:most]:
        candidates = {(other, relation)}
        candidates |= {(subject, each) for _, each, _ in triples} | {
            (each, relation) for each, _, _ in triples
        }
        count += 1 + min(negatives, len(candidates - made))
        made |= candidates
    return count


def test_an_epoch_of_webnlg_has_the_updates_that_the_authors_code_makes_of_it(root):
    """The table of docs/explanation/differences.md; entities are numbered, since where they stand plays no
    part.
    """
    sentences = [distinct_triples(row) for row in webnlg().original.train]
    page = (
        (root / "docs" / "explanation" / "differences.md")
        .read_text(encoding="utf-8")
        .partition("## Updates per epoch\n")[2]
    )
    stated = {
        name: tuple(map(float, re.findall(r"[\d.]+", cells)))
        for names, cells in re.findall(r"(?m)^\| ([\w, ]+) \|(.*)$", page)
        for name in names.lower().split(", ")
    }
    for name in extractor_names()[:10]:
        kind, preset = extractor_class(name), presets(name)["webnlg"]
        settings = {
            "unit": "sentences",
            "accumulation": 1,
            **kind.settings.training_defaults,
            **preset,
        }
        model = kind.config_class(**preset.get("model", {}))
        own = len(sentences)
        if settings["unit"] == "instances":
            numbers: dict[str, int] = {}
            spans = [
                [
                    [numbers.setdefault(part, len(numbers)) for part in (s, s, r, o, o)]
                    for s, r, o in triples
                ]
                for triples in sentences
            ]
            own = sum(kind.instance_count(model, np.array(each)) for each in spans)
        most, negatives = (
            getattr(model, "max_sample_triples", 0) or None,
            getattr(model, "neg_samples", 0),
        )
        official = sum(official_instances(name, each, most, negatives) for each in sentences)
        ours, authors = (
            math.ceil(math.ceil(count / settings["batch_size"]) / settings["accumulation"])
            for count in (own, official)
        )
        assert ours == pytest.approx(authors, rel=0.002), (
            name
        )  # which five triples of a sentence is drawn
        assert stated[name][-1] == ours, name
        assert stated[name][0] == settings["batch_size"]
