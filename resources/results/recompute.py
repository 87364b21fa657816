"""Recompute the numbers of the table of claims without any code of the project.

    python resources/results/recompute.py DATA [results/webnlg-ten-stored ...]

``DATA`` is the folder of raw files (``raw_root``). Further folders are finished studies of
``resources/trainings``, whose training and test sets are read. Differences of F1 and all other
values have to equal the stored evidence; intervals are percentiles of a bootstrap with random
numbers of its own, and are printed next to the stored ones, which are Wilson's where few sentences
decide a score. F1 and factualness of GenRES' outputs are not recomputed. Exits with 1 if a value
differs.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
TRAININGS = FOLDER.parent / "trainings"
REPORTED = FOLDER.parents[1] / "workflow/lib/tripleaudit/data/reported"
PARTS = ("ss", "su", "us", "uu")
UNFINISHED = ("grte-fb",)
SPLITS = 2000
MAX_MEAN_DIFFERENCE = 0.05
"""Largest difference, in per cent, of the mean unseen share of two sets of random splits."""
DRAWS = 1000
TOLERANCE = 1e-5
RANDOM = np.random.default_rng(7)

Triple = tuple[str, str, str]
Triples = set[Triple]


class Report:
    """Prints each recomputed value next to the stored one and counts those that differ."""

    def __init__(self) -> None:
        self.compared = 0
        self.differing = 0

    def compare(self, name: str, value: float, stored: float, note: str = "") -> None:
        """Print a value; differences beyond rounding are counted."""
        self.compared += 1
        is_equal = abs(value - stored) <= TOLERANCE * max(1, abs(stored))
        self.differing += not is_equal
        print(f"{name}: {value:.4f}, stored {stored:.4f} {note}{'' if is_equal else ' DIFFERS'}")


class Strata:
    """Types of test triples by the triples of the training set.

    Args:
        train: triples of each training sentence.
        test: triples of each test sentence.
    """

    def __init__(self, train: Iterable[Triples], test: Sequence[Triples]) -> None:
        self.seen = set().union(*train)
        self.heads = {(subject, relation) for subject, relation, _ in self.seen}
        self.tails = {(relation, object_) for _, relation, object_ in self.seen}
        self.types = Counter(self.type_of(triple) for triples in test for triple in triples)
        self.sentences = [{self.type_of(triple) for triple in triples} for triples in test]

    def type_of(self, triple: Triple) -> str:
        """Return how much of a triple the training set has."""
        if triple in self.seen:
            return "entirely_seen"
        if triple[:2] in self.heads or triple[1:] in self.tails:
            return "partially_seen"
        return "unseen"

    def members(self, stratum: str) -> list[int]:
        """Return the test sentences whose triples are all of one type."""
        return [place for place, types in enumerate(self.sentences) if types == {stratum}]


def group_by_triple(test: Sequence[Triples]) -> list[int]:
    """Return for each sentence the group of sentences that it shares triples with."""
    group = list(range(len(test)))
    holders: dict[Hashable, list[int]] = defaultdict(list)
    for place, triples in enumerate(test):
        for triple in triples:
            holders[triple].append(place)
    changed = True
    while changed:
        changed = False
        for places in holders.values():
            smallest = min(group[place] for place in places)
            for place in places:
                changed |= group[place] != smallest
                group[place] = smallest
    return group


def load_webnlg(path: Path) -> list[Triples]:
    """Return the triples of each sentence of a file of WebNLG."""
    return [
        {tuple(triple) for triple in row["triple_list"]} for row in json.loads(path.read_text())
    ]


def plain(triple: list | dict) -> Triple:
    """Return the strings of a triple that may have offsets."""
    if isinstance(triple, list):
        return tuple(triple)
    return triple["subject"]["text"], triple["relation"], triple["object"]["text"]


def load_lines(path: Path) -> dict[str, Triples]:
    """Return id -> triples of a file of JSON Lines."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    rows = [json.loads(line) for line in content.splitlines()]
    return {row["id"]: {plain(triple) for triple in row["triples"]} for row in rows}


def count(predicted: Sequence[Triples], gold: Sequence[Triples]) -> np.ndarray:
    """Return correct, predicted and gold triples of each sentence."""
    rows = [
        (len(guess & truth), len(guess), len(truth))
        for guess, truth in zip(predicted, gold, strict=True)
    ]
    return np.array(rows)


def total_by_group(counts: np.ndarray, groups: Sequence[int]) -> np.ndarray:
    """Return the counts of each group."""
    totals: dict[int, np.ndarray] = {}
    for row, group in zip(counts, groups, strict=True):
        totals[group] = totals.get(group, 0) + row
    return np.array([totals[group] for group in sorted(totals)])


def f1(totals: np.ndarray) -> np.ndarray:
    """Return F1 of counts ``[..., 3]``."""
    return 2 * totals[..., 0] / np.maximum(totals[..., 1] + totals[..., 2], 1)


def weights(size: int) -> np.ndarray:
    """Return how often each bootstrap sample has each unit."""
    return RANDOM.multinomial(size, np.full(size, 1 / size), size=DRAWS)


def interval(first: np.ndarray, second: np.ndarray, is_paired: bool) -> str:
    """Return the interval of second minus first over groups, in points of F1."""
    drawn = weights(len(first))
    drawn_second = drawn if is_paired else weights(len(second))
    low, high = np.quantile(f1(drawn_second @ second) - f1(drawn @ first), (0.025, 0.975))
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def read_rows(name: str, study: str) -> list[dict[str, str]]:
    """Return the rows of a file of stored evidence."""
    with (FOLDER / study / name).open() as stream:
        return list(csv.DictReader(stream))


class Contrasts:
    """Stored contrasts over groups of sentences, to compare with."""

    def __init__(self, study: str, report: Report) -> None:
        rows = read_rows("contrasts.csv", study)
        self.rows = [row for row in rows if row["unit"] == "shared-triple"]
        self.report = report
        self.study = study

    def compare(
        self,
        contrast: str,
        systems: tuple[str, str],
        protocol: str,
        counts: tuple[np.ndarray, np.ndarray],
        is_paired: bool = False,
    ) -> None:
        """Compare a difference of F1 with the stored one, both in points."""
        matching = [
            row
            for row in self.rows
            if row["contrast"] == contrast
            and (row["extractor_first"], row["extractor_second"]) == systems
            and row["protocol_second"] == protocol
        ]
        name = f"{self.study}, {systems[1]}, {contrast}"
        (row,) = matching
        value = 100 * (f1(counts[1].sum(axis=0)) - f1(counts[0].sum(axis=0)))
        ends = [f"{100 * float(row[end]):.1f}" for end in ("low", "high")]
        note = f"{interval(*counts, is_paired)}, stored [{', '.join(ends)}]"
        self.report.compare(name, value, 100 * float(row["difference"]), note)
        self.report.compare(f"{name}, cases", min(map(len, counts)), float(row["cases"]))


def compare_types(study: str, corpus: str, protocol: str, strata: Strata, report: Report) -> None:
    """Compare shares of triple types and numbers of sentences of a test set."""
    stored = {
        row["measure"]: float(row["value"])
        for row in read_rows("measures.csv", study)
        if (row["corpus"], row["protocol"]) == (corpus, protocol)
    }
    total = strata.types.total()
    for name in ("entirely_seen", "partially_seen", "unseen"):
        share = 100 * strata.types[name] / total
        report.compare(f"{study}, {name} (%)", share, stored[f"triples/{name}"])
        size = len(strata.members(name))
        report.compare(f"{study}, {name} (sentences)", size, stored[f"sentences/{name}"])


def compare_strata(
    contrasts: Contrasts,
    system: str,
    protocol: str,
    counts: np.ndarray,
    strata: Strata,
    groups: Sequence[int],
) -> None:
    """Compare the differences from entirely to partially seen and unseen triples."""
    parts = {}
    for name in ("entirely_seen", "partially_seen", "unseen"):
        members = strata.members(name)
        parts[name] = total_by_group(counts[members], [groups[place] for place in members])
    for name in ("partially_seen", "unseen"):
        label = f"entirely seen to {name.replace('_', ' ')}"
        sides = (parts["entirely_seen"], parts[name])
        contrasts.compare(label, (system, system), protocol, sides)


def compare_webnlg(data: Path, report: Report) -> None:
    """Compare ``webnlg-stored``: original and augmented test sets, and the pair with noising."""
    train = load_webnlg(data / "webnlg/train_triples.json")
    gold = load_webnlg(data / "webnlg/test_triples.json")
    strata = Strata(train, gold)
    compare_types("webnlg-stored", "webnlg", "original", strata, report)
    contrasts = Contrasts("webnlg-stored", report)
    groups = group_by_triple(gold)
    variants = {
        part: load_webnlg(data / f"rte-eval/augmented_test_WebNLG_all/{part}_test_data.json")
        for part in PARTS
    }
    groups_of_variants = group_by_triple(
        [set().union(*(variants[part][place] for part in PARTS)) for place in range(len(gold))]
    )
    totals = {}
    for folder in sorted((TRAININGS / "webnlg").iterdir()):
        if folder.name in UNFINISHED:
            continue
        predictions = load_lines(folder / "predictions.jsonl.gz")
        ids = [str(place) for place in range(len(gold))]
        original = count([predictions[id_] for id_ in ids], gold)
        augmented = sum(
            count([predictions[f"{id_}.{part}"] for id_ in ids], variants[part]) for part in PARTS
        )
        system = (folder.name, folder.name)
        compare_strata(contrasts, folder.name, "original", original, strata, groups)
        totals[folder.name] = {
            "all triples": total_by_group(original, groups),
            "augmented": total_by_group(augmented, groups_of_variants),
        }
        sides = (totals[folder.name]["all triples"], total_by_group(augmented, groups))
        contrasts.compare("original to augmented", system, "augmented", sides, is_paired=True)
    published = json.loads((data / "jointer-predictions/webnlg_best_test_results.json").read_text())
    predicted = [{tuple(triple) for triple in row["predict"]} for row in published]
    compare_strata(contrasts, "etl-span", "original", count(predicted, gold), strata, groups)
    pair = ("mp-casrel", "mp-casrel-en")
    for name, protocol in (("all triples", "original"), ("augmented", "augmented")):
        sides = (totals[pair[0]][name], totals[pair[1]][name])
        contrasts.compare(f"with Entity Noising, {name}", pair, protocol, sides, is_paired=True)


def compare_rearranged(study: Path, report: Report) -> None:
    """Compare the stored trainings of one corpus on its rearranged test set."""
    name = study.name.removesuffix("-stored")
    sets = study / "protocols" / name / "rearranged" / "nz"
    train, test = load_lines(sets / "train.jsonl"), load_lines(sets / "test.jsonl")
    gold = list(test.values())
    strata = Strata(train.values(), gold)
    compare_types(study.name, name, "rearranged", strata, report)
    contrasts = Contrasts(study.name, report)
    groups = group_by_triple(gold)
    counts = {}
    for folder in sorted(path for path in (TRAININGS / name).iterdir() if path.is_dir()):
        predictions = load_lines(folder / "predictions.jsonl.gz")
        counts[folder.name] = count([predictions[id_] for id_ in test], gold)
        compare_strata(contrasts, folder.name, "rearranged", counts[folder.name], strata, groups)
    pair = ("casrel", "casrel-en")
    if not set(pair) <= counts.keys():
        return
    for stratum in ("partially_seen", "unseen"):
        members = strata.members(stratum)
        units = [groups[place] for place in members]
        first, second = (total_by_group(counts[system][members], units) for system in pair)
        label = f"with Entity Noising, rearranged, {stratum.replace('_', ' ')}"
        contrasts.compare(label, pair, "rearranged", (first, second), is_paired=True)


def compare_random_splits(data: Path, report: Report) -> None:
    """Compare the mean share of unseen triples in random splits of WebNLG."""
    files = [data / f"webnlg/{part}_triples.json" for part in ("train", "val", "test")]
    parts = [load_webnlg(path) for path in files]
    sentences = [triples for part in parts for triples in part]
    rows = [
        (place, triple, triple[:2], triple[1:])
        for place, triples in enumerate(sentences)
        for triple in triples
    ]
    places = np.array([row[0] for row in rows])
    numbers = []
    for column in (1, 2, 3):
        order = {key: number for number, key in enumerate({row[column] for row in rows})}
        numbers.append(np.array([order[row[column]] for row in rows]))
    shares = []
    for _ in range(SPLITS):
        order = RANDOM.permutation(len(sentences))
        is_train = np.zeros(len(sentences), dtype=bool)
        is_train[order[: len(parts[0])]] = True
        is_test = np.zeros(len(sentences), dtype=bool)
        is_test[order[-len(parts[2]) :]] = True
        in_train = is_train[places]
        known = np.zeros(len(rows), dtype=bool)
        for number in numbers:
            known |= np.bincount(number[in_train], minlength=number.max() + 1)[number] > 0
        shares.append(100 * (~known[is_test[places]]).mean())
    stored = json.loads((FOLDER / "random-splits.json").read_text())["random_splits"]
    mean = float(np.mean(shares))
    greatest = max(shares)
    report.compared += 1
    report.differing += abs(mean - 100 * stored["mean"]) > MAX_MEAN_DIFFERENCE
    print(
        f"unseen triples of {SPLITS} random splits (%): mean {mean:.2f}, greatest {greatest:.2f}; "
        f"stored: mean {100 * stored['mean']:.2f}, greatest {100 * stored['most']:.2f} "
        f"of {stored['trials']}"
    )


def show_minutes() -> None:
    """Print minutes of trainings with and without zero-triple sentences, from CoNLL04's page."""
    page = (FOLDER / "conll04.md").read_text()
    lines = page.partition("## `trainings`")[2].partition("\n## ")[0].splitlines()
    minutes: dict[tuple[str, str], float] = {}
    setting = ""
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 2 and cells[-1] == "a CPU":
            setting = cells[0][-2:] or setting
            minutes[cells[1], setting] = float(cells[-2])
    classifier = max(value for (name, _), value in minutes.items() if name.startswith("ZCC"))
    for name in ("CasRel", "BiRTE"):
        both = minutes[name, "NZ"] + classifier
        print(f"minutes, {name}: {minutes[name, 'WZ']:.1f}; NZ and classifier {both:.1f}")


def read_reported(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of printed or published values."""
    with (REPORTED / name).open() as stream:
        return list(csv.DictReader(stream))


def ranks(values: Sequence[float]) -> np.ndarray:
    """Return ranks from 1, the mean rank for ties."""
    array = np.array(values)
    return np.array([(array < value).sum() + ((array == value).sum() + 1) / 2 for value in array])


def show_printed_rows() -> None:
    """Print GenRES' correlations, mean ranks and factualness from the rows that it prints."""
    order = ("", "corrected digit", "full paper only")
    cells: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    gold = {}
    for row in read_reported("genres.csv"):
        is_gold = row["setting"].startswith("gold triples")
        if is_gold and row["metric"] == "FS":
            gold[row["dataset"]] = float(row["value"])
        if row["table"] in ("2", "3", "4") and row["setting"].startswith("open"):
            cells[row["model"], row["dataset"], row["metric"]][row["variant"]] = row["value"]
    values = {}
    for key, variants in cells.items():
        known = [variants[name] for name in order if name in variants]
        if known:
            values[key] = float(known[0])
    models = sorted({model for model, _, _ in values})
    datasets = sorted({dataset for _, dataset, _ in values})

    def column(metric: str, dataset: str) -> np.ndarray:
        return ranks([values[model, dataset, metric] for model in models])

    def correlation(first: str, second: str) -> float:
        by_dataset = [
            np.corrcoef(column(first, dataset), column(second, dataset))[0, 1]
            for dataset in datasets
        ]
        return float(np.mean(by_dataset))

    print(f"CS and FS: {correlation('CS', 'FS'):.2f}; GS and #tok: {correlation('GS', '#tok'):.2f}")
    cells_of_ranks = [
        len(models) + 1 - column(metric, dataset)
        for metric in ("TS", "US", "FS", "GS", "CS")
        for dataset in datasets
    ]
    by_rank = sorted(zip(np.mean(cells_of_ranks, axis=0), models, strict=True))
    judged = {}
    for row in read_reported("genres_official.csv"):
        if "ground_truth.json" in row["table"] and row["metric"] == "FS":
            judged[row["dataset"].partition("_")[0]] = 100 * float(row["value"])
    scores = {dataset: values["GPT-4-Turbo", dataset, "FS"] for dataset in datasets}
    by_print = sum(scores[name] > gold[name] for name in datasets)
    by_verdict = sum(scores[name] > judged[name.lower()] for name in datasets)
    print(f"GPT-4-Turbo above gold: {by_print} by printed values, {by_verdict} by stored verdicts")
    print("mean ranks:", ", ".join(f"{model} {rank:.1f}" for rank, model in by_rank[:6]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("studies", type=Path, nargs="*")
    arguments = parser.parse_args()
    report = Report()
    compare_webnlg(arguments.data, report)
    for study in arguments.studies:
        compare_rearranged(study, report)
    compare_random_splits(arguments.data, report)
    show_minutes()
    show_printed_rows()
    print(f"{report.compared} values compared, {report.differing} differ")
    return int(report.differing > 0)


if __name__ == "__main__":
    sys.exit(main())
