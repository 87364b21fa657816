"""The task of Inspect, answered by its mock model."""

import json

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed (extra inspect)")

import tripleaudit as ta  # noqa: E402
from tripleaudit.inspect_task import extraction  # noqa: E402

GOLD = [
    {
        "id": "a",
        "text": "Ada Lund works for Harrow Steel .",
        "triples": [["Ada Lund", "works_for", "Harrow Steel"]],
    },
    {
        "id": "b",
        "text": "Finn Hale lives in Lima .",
        "triples": [["Finn Hale", "lives_in", "Lima"]],
    },
    {"id": "c", "text": "It rained in Oslo .", "triples": []},
]
SAID = {
    "Ada Lund": [["Ada Lund", "works for", "Harrow Steel"], ["Ada Lund", "knows", "Harrow Steel"]],
    "Finn Hale": [["Lima", "lives in", "Finn Hale"]],
    "It rained": [["Oslo", "lives in", "Oslo"]],
}


@pytest.mark.slow
def test_the_mock_model_is_scored_as_the_same_predictions_are(tmp_path):
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in GOLD))
    asked = []

    def answer(messages, tools, choice, config):
        asked.append(messages[-1].text)
        (said,) = [triples for start, triples in SAID.items() if f"Passage: {start}" in asked[-1]]
        output = ModelOutput.from_content("mockllm/model", json.dumps({"triples": said}))
        # else counted by a file of the network
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=answer)
    task = extraction(test=str(path), train=str(path))
    (log,) = inspect_ai.eval(task, model=model, display="none", log_dir=str(tmp_path / "logs"))
    assert log.status == "success", log.error
    assert len(asked) == 3 and "- works for" in asked[0]
    found = {name: one.value for name, one in log.results.scores[0].metrics.items()}
    named = [
        ("Ada Lund", "works_for", "Harrow Steel"),
        ("Lima", "lives_in", "Finn Hale"),
        ("Oslo", "lives_in", "Oslo"),
    ]
    expected = ta.score(path, [[triple] for triple in named])
    assert found == pytest.approx(
        {"precision": expected.precision, "recall": expected.recall, "f1": expected.f1}
    )
    assert found["f1"] == pytest.approx(0.4)
