"""What a model's card says of its training."""

import pytest

from tripleaudit.training.card import model_card


def card(relations: int = 2, **training) -> str:
    record = {
        "extractor": "casrel", "version": "1.0", "seed": 5, "device": "cpu",
        "settings": {"epochs": 3, "module": "/x.py"},
        "inputs": {"train": {"name": "train.jsonl", "sha256": "abc"}}, "git": None,
        "packages": {"torch": "2.11", "absent": None},
        "training": {
            "best_f1": 0.12345, "best_epoch": 2.0, "epochs": 3.0, "convergence": {"flat": True}, **training
        },
    }  # fmt: skip
    return model_card(record, "extractor", [f"r{number}" for number in range(relations)])


@pytest.mark.parametrize(("relations", "more"), [(40, "."), (41, ", ….")])
def test_forty_relations_are_named(relations: int, more: str) -> None:
    assert f"It knows {relations} relations: `r0`, " in card(relations)
    assert f", `r39`{more}\n" in card(relations) and "`r40`" not in card(relations)


def test_the_validation_is_in_percent_after_the_epochs_it_took() -> None:
    assert (
        "- validation F1: 12.3 % (exact strings), after 2 of 3 epochs; validation F1 was flat at the end\n"
        in card()
    )
    assert "- validation F1: not measured (exact strings), after 0 of 3 epochs; " in card(
        best_f1=None, best_epoch=0
    )


@pytest.mark.parametrize(
    ("flat", "said"),
    [
        (False, "validation F1 was still rising at the end, "),
        (None, "too few evaluations to know whether validation "),
    ],
)
def test_an_unfinished_training_is_called_so(flat: bool | None, said: str) -> None:
    assert f"after 2 of 3 epochs; {said}" in card(convergence={"flat": flat})


def test_paths_of_a_machine_and_packages_that_are_not_there_stay_out() -> None:
    assert (
        "/x.py" not in card()
        and "- packages: torch 2.11\n" in card()
        and "- code: no checkout\n" in card()
    )
