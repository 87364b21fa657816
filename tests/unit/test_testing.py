"""The contract tests that authors of extractors run: what they accept and what they find."""

import itertools

import pytest

pytest.importorskip("torch")

import torch

from tripleaudit.cli import main
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.testing import (
    build_extractor,
    check_determinism,
    check_extractor,
    check_overfit,
    check_padding_invariance,
    check_predicted_rows,
    check_unlearnable,
    check_zero_triple_batch,
    structures,
)


def casrel_with(**methods):
    """Return a subclass of CasRel with other methods."""
    return type("Variant", (CasRel,), {"name": "variant"} | methods)


def scaled_loss(factor):
    """Return a ``forward`` whose loss is multiplied by ``factor(inputs)``."""

    def forward(self, **inputs):
        output = CasRel.forward(self, **inputs)
        return type(output)(loss=output.loss * factor(inputs))

    return forward


def test_an_unknown_structure_is_refused(tiny_encoder):
    with pytest.raises(ValueError, match="'chains' is unknown; expected one of chain, rivals"):
        check_extractor(CasRel, tiny_encoder, cannot_represent={"chains"})


def test_a_structure_that_is_not_learnt_is_named(tiny_encoder):
    sentences = [each for each in structures() if each.id in ("chain", "rivals")]
    with pytest.raises(AssertionError, match="casrel: reached F1 .* not learnt: rivals$"):
        check_overfit(CasRel, tiny_encoder, sentences=sentences, steps=150)


def test_a_structure_that_is_learnt_must_not_be_declared(tiny_encoder):
    with pytest.raises(AssertionError, match="casrel: learns the structure 'reversed'; remove it"):
        check_unlearnable(CasRel, tiny_encoder, {"reversed"})


def test_an_assertion_of_an_extractor_itself_is_not_taken_for_an_unlearnable_structure(
    tiny_encoder,
):
    def fail(self, **inputs):
        raise AssertionError("a bug of the extractor")

    with pytest.raises(AssertionError, match="a bug of the extractor"):
        check_unlearnable(casrel_with(forward=fail), tiny_encoder, {"rivals"})


def test_padding_is_checked_on_a_copy_of_the_model(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder)
    check_padding_invariance(model)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_draws_that_are_not_declared_are_found(tiny_encoder):
    check_determinism(CasRel, tiny_encoder, draws=True)
    with pytest.raises(AssertionError, match="draws=False, but there are different batches"):
        check_determinism(CasRel, tiny_encoder, draws=False)


def test_a_loss_that_is_not_finite_is_found(tiny_encoder):
    infinite = casrel_with(forward=scaled_loss(lambda inputs: torch.inf))
    with pytest.raises(AssertionError, match="variant: the loss of a batch without triples is inf"):
        check_zero_triple_batch(build_extractor(infinite, tiny_encoder))


def test_a_loss_that_depends_on_padding_is_found(tiny_encoder):
    padded = casrel_with(forward=scaled_loss(lambda inputs: inputs["input_ids"].shape[1]))
    with pytest.raises(AssertionError, match="variant: padding changes the loss of sentence"):
        check_padding_invariance(build_extractor(padded, tiny_encoder))


def test_training_that_is_not_reproducible_is_found(tiny_encoder):
    calls = itertools.count(1)
    random = casrel_with(forward=scaled_loss(lambda inputs: next(calls)))
    with pytest.raises(AssertionError, match="variant: equal seeds train different"):
        check_determinism(random, tiny_encoder, draws=True)


def test_scores_outside_their_range_are_found(tiny_encoder):
    def predict_rows(self, **inputs):
        return torch.ones(1, 6, dtype=torch.int64), torch.zeros(1)

    unscored = casrel_with(predict_rows=predict_rows)
    with pytest.raises(AssertionError, match="variant: predict_rows returned scores outside"):
        check_predicted_rows(build_extractor(unscored, tiny_encoder))


def forward_of_a_dict(self, **inputs):
    """Return the loss as no output of a model has it."""
    return {"loss": CasRel.forward(self, **inputs).loss}


def test_another_exception_of_an_extractor_is_named_with_its_place(tiny_encoder):
    expected = (
        r"variant: check_zero_triple_batch ends with AttributeError: .*\(checks.py, line \d+\)"
    )
    with pytest.raises(AssertionError, match=expected):
        check_extractor(casrel_with(forward=forward_of_a_dict), tiny_encoder)
    session = {"forward": forward_of_a_dict, "__module__": "an_interactive_session"}
    with pytest.raises(AssertionError, match=expected):
        check_extractor(casrel_with(**session), tiny_encoder)


@pytest.mark.parametrize(
    ("extractor", "message"),
    [
        (casrel_with(name=""), "Variant: has no name"),
        (dict, "dict: expected a class derived from"),
        (len, "len: expected a class derived from"),
    ],
)
def test_a_class_that_is_no_named_extractor_is_refused(extractor, message):
    with pytest.raises(AssertionError, match=message):
        check_extractor(extractor)


def test_the_command_names_what_breaks_the_contract(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(
        "from tripleaudit.extractors.casrel import CasRel\n\n"
        "class Broken(CasRel):\n"
        "    name = 'broken'\n\n"
        "    def forward(self, **inputs):\n"
        "        raise KeyError('tags')\n"
    )
    assert main(["check-extractor", f"{file}:Broken"]) == 1
    error = capsys.readouterr().err
    assert "error: broken: check_" in error and "KeyError: 'tags' (mine.py, line 7)" in error
    assert main(["check-extractor", f"{file}:Other"]) == 1
    assert "has no class 'Other'" in capsys.readouterr().err
    assert main(["check-extractor", f"{file}:Broken", "--cannot-represent", "chains"]) == 1
    assert "'chains' is unknown" in capsys.readouterr().err
