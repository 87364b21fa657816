"""Tokens per triple of GenRES' stored outputs, with the package's tokenizer and with NLTK's.

``python -m benchmarks.token_counts [--data DIR]`` prints each value of #tok in which the two differ
at the printed digit, next to the published value (docs/reference/grescores.md).
"""

import argparse
import csv
import os
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nltk.tokenize import NLTKWordTokenizer

from tripleaudit.core.shipped import DATA as SHIPPED
from tripleaudit.grescores.systems import System, clean, read_system
from tripleaudit.grescores.tokens import count_tokens

DATA = Path(__file__).parents[2] / "shared" / "data"
ORACLES = SHIPPED / "reported" / "genres_oracles.csv"
NLTK = NLTKWordTokenizer()


def count_with_nltk(text: str) -> int:
    return len(NLTK.tokenize(text))


def count_triple(triple: Sequence[Any], count: Callable[[str], int]) -> int:
    """Return the tokens of a triple; 0 for a malformed one, which the official mode keeps."""
    if not all(isinstance(part, str) for part in triple):
        return 0
    return sum(count(part) for part in triple)


def mean_over_texts(system: System, count: Callable[[str], int], mode: str) -> float:
    """Return #tok of a system: the mean over its texts of the mean tokens of a triple."""
    means = []
    for raw_triples in system.texts.values():
        triples = raw_triples if mode == "official" else clean(raw_triples)[0]
        lengths = [count_triple(triple, count) for triple in triples]
        if lengths:
            means.append(statistics.fmean(lengths))
        elif mode == "official":
            means.append(0.0)
    return statistics.fmean(means)


def published_values() -> dict[str, float]:
    """Return the stored aggregates of #tok by data set and model."""
    with ORACLES.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "#tok"]
    return {f"{row['dataset']}_{row['model']}": float(row["official"]) for row in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("TRIPLEAUDIT_DATA", DATA))
    args = parser.parse_args()
    published = published_values()
    files = sorted((args.data / "genres" / "processed_results").glob("*_1.json"))
    for mode in ("official", "default"):
        moved, largest = 0, 0.0
        for file in files:
            system, name = read_system(file, "sro"), file.stem.removesuffix("_1")
            ours = mean_over_texts(system, count_tokens, mode)
            theirs = mean_over_texts(system, count_with_nltk, mode)
            largest = max(largest, abs(theirs - ours))
            if f"{ours:.1f}" != f"{theirs:.1f}":
                moved += 1
                print(mode, name, f"{ours:.4f} {theirs:.4f}", "published", published.get(name))
        print(f"{mode}: {moved} of {len(files)} values move, at most by {largest:.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
