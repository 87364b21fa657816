"""Rows of language models of which most answers were truncated or could not be read."""

import numpy as np
import pytest

from support.scored import tables_of
from tripleaudit.scoring.counts import SentenceCounts
from tripleaudit.scoring.scores import Score, keys_of
from tripleaudit.tables.building import build_table
from tripleaudit.tables.render import to_markdown
from tripleaudit.tables.study_facts import UNREAD

KEYS = {
    "study": "s",
    "corpus": "demo",
    "protocol": "original",
    "training": "nz",
    "testing": "nz",
    "noise": "none",
}
RIGHT, WRONG = (1, 1, 1), (0, 1, 1)


def counts_of(name: str, rows: list) -> SentenceCounts:
    keys = {**KEYS, "extractor": name, "seed": ""}
    ids = [str(number) for number in range(len(rows))]
    return SentenceCounts(keys, ids, ["unseen"] * len(rows), {"exact-string": np.array(rows)}, [])


def fact_of(name: str, rows: int, **answers: int) -> dict:
    keys = {**KEYS, "extractor": name, "seed": ""}
    took = {
        "failed": None,
        "queried": rows,
        "of": rows,
        "sentences": rows,
        "triples": rows,
        "not_in_text": 0,
    }
    return {
        "keys": keys,
        "system": name,
        "kind": "endpoint",
        "device": "a service",
        **took,
        **answers,
    }


@pytest.fixture
def table(tmp_path):
    """``type-f1`` of a model that is right everywhere and one that is wrong everywhere, with
    answers of the former.
    """

    def build(**answers: int):
        counted = [counts_of("good", [RIGHT] * 40), counts_of("bad", [WRONG] * 40)]
        facts = [
            fact_of("good", 40, **answers),
            fact_of("bad", 40, answers=40, unreadable=0, truncated=0),
        ]
        return build_table("type-f1", tables_of(tmp_path, counted, facts))

    return build


def test_a_row_with_mostly_truncated_answers_is_marked_counted_and_not_ranked(table) -> None:
    found = table(answers=40, unreadable=2, truncated=20)
    cell = found.cell("good", "F1")
    assert cell.mark == UNREAD and not cell.bold
    notes = " ".join(found.notes)
    assert "good 22 of 40" in notes and f"{UNREAD}: " in notes


def test_a_few_unreadable_answers_are_counted_and_the_row_is_ranked(table) -> None:
    found = table(answers=40, unreadable=3, truncated=0)
    assert found.cell("good", "F1").bold and found.cell("good", "F1").mark == ""
    assert any("good 3 of 40" in note for note in found.notes)


def test_a_model_with_mostly_truncated_answers_is_marked_by_minea(tmp_path) -> None:
    scores = []
    for model, rate, statuses in (("smollm2", 1.0, {"truncated": 8}), ("other", 0.5, {"ok": 8})):
        for protocol, rows in {
            "needles": [("max", "minea", rate), ("", "needles", 40), ("max", "found", 40 * rate)],
            "calls": [("", f"status:{status}", count) for status, count in statuses.items()],
        }.items():
            keys = keys_of(
                {
                    "study": "s",
                    "corpus": "demo",
                    "protocol": protocol,
                    "extractor": model,
                    "seed": "1",
                }
            )
            scores += [
                Score(keys, "all", matching, metric, value, None, None)
                for matching, metric, value in rows
            ]
    inputs = tables_of(tmp_path, [], [], scores)
    for name in ("minea", "llm-comparison"):
        found = build_table(name, inputs)
        measured = {cell.of["extractor"]: cell.mark for cell in found.find("MINEA", stratum="all")}
        assert measured == {"smollm2": UNREAD, "other": ""}
        assert any("smollm2 8 of 8" in note for note in found.notes)


def test_no_value_of_the_paper_stands_next_to_needles_in_other_documents(tmp_path) -> None:
    scores = []
    for protocol, matching, metric in (
        ("needles", "max", "minea"),
        ("needles", "", "needles"),
        ("parts", "", "empty"),
    ):
        keys = keys_of(
            {
                "study": "s",
                "corpus": "demo",
                "protocol": protocol,
                "extractor": "model",
                "seed": "1",
            }
        )
        scores.append(Score(keys, "all", matching, metric, 1.0, None, None))
    inputs = tables_of(tmp_path, [], [], scores)
    for name in ("minea", "needle-criteria", "llm-comparison", "lost-in-the-middle", "iterations"):
        text = to_markdown(build_table(name, inputs))
        assert "gpt-4" not in text and "Paper" not in text and "reported" not in text
