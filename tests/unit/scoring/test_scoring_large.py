"""What large files cost, and that the short cuts for them change no result."""

import json
import random
import tracemalloc

from benchmarks.bench_reading import grows_too_fast, write_corpus
from tripleaudit import score


def peak_of_scoring(folder, sentences):
    """Return the most bytes that scoring so many sentences holds at once."""
    write_corpus(folder, sentences)
    tracemalloc.start()
    try:
        score(folder / "gold.jsonl", folder / "predicted.jsonl", bootstrap=0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_scoring_keeps_little_of_each_sentence(tmp_path):
    peak_of_scoring(tmp_path, 20)  # what is loaded once
    few, many = peak_of_scoring(tmp_path, 200), peak_of_scoring(tmp_path, 800)
    assert (many - few) / 600 < 2200


def test_order_and_ids_of_predictions_change_no_score(tmp_path):
    write_corpus(tmp_path, 60)
    gold, predicted = tmp_path / "gold.jsonl", tmp_path / "predicted.jsonl"
    expected = score(gold, predicted, bootstrap=0)
    rows = [json.loads(line) for line in predicted.read_text().splitlines()]
    shuffled = random.Random(0).sample(rows, len(rows))
    renamed = [{**row, "id": f"other-{number}"} for number, row in enumerate(rows)]
    respaced = [
        {**row, "text": row["text"].replace("case", "cas e"), "triples": []} for row in rows
    ]
    assert score(gold, shuffled, bootstrap=0) == expected
    assert score(gold, renamed, bootstrap=0) == expected
    assert score(gold, respaced, bootstrap=0).micro.gold == expected.micro.gold


def test_the_benchmark_tells_linear_growth_from_more():
    def rows(seconds):
        return [
            {"command": "score", "sentences": 10**power, "seconds": value}
            for power, value in enumerate(seconds, 4)
        ]

    assert grows_too_fast(rows([4.0, 38.0, 390.0])) == []
    (problem,) = grows_too_fast(rows([4.0, 38.0, 900.0]))
    assert problem.startswith("score: 23.7 times as long from 100000 to 1000000")
