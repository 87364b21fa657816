"""The rearranged split of WebNLG over many seeds next to the published one: shares, strata,
triples, keys.

``python -m benchmarks.rearranged_seeds [--data DIR] [--seeds 200] [--rule every-triple]`` prints
the table of docs/explanation/test-sets.md.
"""

import argparse
import os
import statistics
import sys
from pathlib import Path

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.protocols.rearranged import rearrange
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus

DATA = Path(__file__).parents[2] / "shared" / "data"
PUBLISHED = {
    "entirely seen %": 45.47,
    "partially seen %": 34.20,
    "unseen %": 20.33,
    "stratum entirely seen": 155,
    "stratum partially seen": 178,
    "stratum unseen": 174,
    "stratum others": 196,
    "test triples": 1225,
    "key in 1 sentence": 528,
    "key in 2 sentences": 366,
    "key in 3 sentences": 309,
}
"""Tables 1 and 7 of rte-generalization; the triples and the keys (each sentence's last triple)
of its files.
"""


def read_webnlg(data: Path) -> Splits:
    files = (data / "webnlg" / f"{name}_triples.json" for name in ("train", "val", "test"))
    return Splits(*(read_corpus(file).sentences for file in files))


def measure(splits: Splits, seed: int, **options: str) -> dict[str, float]:
    """Return every number of :data:`PUBLISHED` that the rule reports, for one seed."""
    new, report = rearrange(splits, seed=seed, **options)
    audit = audit_corpus(new.train, new.test)
    values = [100 * item["share"] for item in audit["triple_types"].values()]
    values += [item["count"] for item in audit["strata"].values()] + [audit["triples"]]
    if keys := report.get("moved_by_key_count"):
        values += [keys.get(count, 0) for count in ("1", "2", "3")]
    return dict(zip(PUBLISHED, values, strict=False))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("TRIPLEAUDIT_DATA", DATA))
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rule", default="key-triple")
    args = parser.parse_args()
    splits = read_webnlg(args.data)
    rows = [measure(splits, seed, rule=args.rule) for seed in range(args.seeds)]
    print(f"{args.rule}, {args.seeds} seeds: published, mean, sd, distance in sd")
    for name in rows[0]:
        mean, sd = (
            statistics.mean(row[name] for row in rows),
            statistics.stdev(row[name] for row in rows),
        )
        away = (PUBLISHED[name] - mean) / sd if sd else float("nan")
        print(f"{name:<22} {PUBLISHED[name]:8.2f} {mean:8.2f} {sd:6.2f} {away:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
