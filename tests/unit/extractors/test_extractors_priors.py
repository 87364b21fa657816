"""Biases that start from the share of positive labels."""

import pytest
import torch

from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.registry import extractor_class, load_extractor
from tripleaudit.testing import build_extractor


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("casrel", {"subject": (), "object": ()}),
        ("tplinker", {"entity": (2, -1), "links": (3, -1)}),
        ("grte", {"table": (8, -1)}),
        ("onerel", {"tags": (4, -1)}),
        ("prgc", {"pair": (), "subject": (3,), "object": (3,)}),
        (
            "birte",
            {"subject": (), "object": (), "object_given_subject": (), "subject_given_object": ()},
        ),
        ("tdeer", {"heads": (), "tails": (), "object": ()}),
        ("unirel", {"maps": ()}),
    ],
)
def test_every_sparse_output_can_start_from_a_prior(tiny_encoder, name, outputs):
    """``outputs``: shape of a layer's biases with classes first; () for one logit a label."""
    model = build_extractor(extractor_class(name), tiny_encoder, prior=0.01)
    assert set(model.settings.sparse_outputs) == set(outputs)
    for layer, shape in outputs.items():
        bias = model.get_submodule(layer).bias
        positive = 1 - bias.view(shape).softmax(dim=0)[0] if shape else bias.sigmoid()
        torch.testing.assert_close(positive, torch.full_like(positive, 0.01))


def test_outputs_can_start_from_priors_of_their_own(tiny_encoder, tmp_path):
    plain, model = (
        build_extractor(CasRel, tiny_encoder),
        build_extractor(CasRel, tiny_encoder, prior={"object": 0.0002}),
    )
    torch.testing.assert_close(
        model.object.bias.sigmoid(), torch.full_like(model.object.bias, 0.0002)
    )
    assert torch.equal(plain.object.weight, model.object.weight)
    assert torch.equal(plain.subject.bias, model.subject.bias) and not plain.object.bias.any()
    model.save_pretrained(tmp_path / "saved")
    assert load_extractor(tmp_path / "saved").config.prior == {"object": 0.0002}
