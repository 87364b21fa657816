"""Scored runs of pretended extractors: genuine scoring of made-up predictions, written as the workflow writes them."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import save_sentences
from tripleaudit.files import write_json, write_jsonl
from tripleaudit.scoring.counts import SentenceCounts
from tripleaudit.scoring.rows import Resampling, RunFiles, score_classifier, score_rows, score_run
from tripleaudit.scoring.scores import Score, write_scores
from tripleaudit.tables.audits import study_audit
from tripleaudit.tables.loading import load_inputs

TEXT = "Ann wrote Emma in Rome"
SPANS = {word: Span(TEXT.index(word), TEXT.index(word) + len(word), word) for word in ("Ann", "Emma", "Rome")}


def triple(subject: str, relation: str, object_: str) -> Triple:
    return Triple(SPANS[subject], relation, SPANS[object_])


TRAIN = [Sentence("t1", TEXT, (triple("Ann", "wrote", "Emma"),))]
KINDS = {
    "entirely_seen": triple("Ann", "wrote", "Emma"),
    "partially_seen": triple("Ann", "wrote", "Rome"),
    "unseen": triple("Rome", "near", "Emma"),
}
WRONG = triple("Emma", "near", "Ann")
KEYS = ("study", "corpus", "protocol", "training", "testing", "extractor", "noise", "seed")


def sentences_of(sentences: int = 40, zero: int = 0) -> list[Sentence]:
    """Return sentences with one triple each, half of them entirely seen, then sentences with zero triples."""
    kinds = ["entirely_seen", "partially_seen", "entirely_seen", "unseen"]
    rows = [Sentence(f"s{n}", TEXT, (KINDS[kinds[n % 4]],)) for n in range(sentences)]
    return rows + [Sentence(f"z{n}", TEXT) for n in range(zero)]


def pretend(gold: Iterable[Sentence], quality: float, false_alarms: float, seed: int) -> list[Sentence]:
    """Find each gold triple with probability ``quality`` and add a wrong one with ``false_alarms``."""
    random = np.random.default_rng(seed)
    found = []
    for sentence in gold:
        triples = [one for one in sentence.triples if random.random() < quality]
        if random.random() < false_alarms:
            triples.append(WRONG)
        found.append(Sentence(sentence.id, sentence.text, tuple(triples)))
    return found


class Results:
    """A folder of scores, counts, audits and facts of trainings of one study.

    Attributes:
        scores, counts, audits, runs, curves: the files written so far.
    """

    def __init__(self, folder: Path, study: str = "study") -> None:
        self.folder, self.study = folder, study
        folder.mkdir(parents=True, exist_ok=True)
        self.scores: list[Path] = []
        self.counts: list[Path] = []
        self.audits: list[Path] = []
        self.runs: list[Path] = []
        self.curves: list[Path] = []
        save_sentences(folder / "train.jsonl", TRAIN)

    def run(
        self,
        extractor: str,
        *,
        quality: float,
        false_alarms: float = 0.1,
        corpus: str = "webnlg",
        protocol: str = "original",
        training: str = "nz",
        testing: str = "nz",
        noise: str = "none",
        seeds: Iterable[int] = (1,),
        sentences: int = 200,
        zero: int = 0,
    ) -> None:
        """Score one pretended extractor once a seed."""
        gold = sentences_of(sentences, zero)
        for seed in seeds:
            name = f"{corpus}-{protocol}-{training}-{testing}-{extractor}-{noise}-{seed}"
            save_sentences(self.folder / "gold.jsonl", gold)
            # The random stream belongs to the extractor, so that NZ predictions are part of the WZ ones.
            noisy = seed * 1000 + sum(map(ord, extractor + noise + training))
            save_sentences(self.folder / "found.jsonl", pretend(gold, quality, false_alarms, noisy))
            out = self._out(name)
            gold_file, found, train = (self.folder / f"{stem}.jsonl" for stem in ("gold", "found", "train"))
            keys = self._keys(corpus, protocol, training, testing, extractor, noise, seed)
            score_run(RunFiles(gold=gold_file, predictions=found, train=train, **out), keys, Resampling(200))

    def classifier(self, name: str, *, quality: float, corpus: str = "conll04", seeds: Iterable[int] = (1,)) -> None:
        """Score one pretended zero-cardinality classifier once a seed."""
        gold = sentences_of(100, 150)
        for seed in seeds:
            random = np.random.default_rng(seed)
            rows = [
                {"id": s.id, "score": float(np.clip(random.normal(quality if s.triples else 1 - quality, 0.2), 0, 1))}
                for s in gold
            ]
            save_sentences(self.folder / "gold.jsonl", gold)
            write_jsonl(self.folder / "decisions.jsonl", rows)
            stem = f"{corpus}-{name}-{seed}"
            curve = self.folder / f"{stem}.curve.json"
            decided = self.folder / "decisions.jsonl"
            files = RunFiles(gold=self.folder / "gold.jsonl", decisions=decided, out_curve=curve, **self._out(stem))
            score_classifier(files, self._keys(corpus, "original", "wz", "wz", name, "none", seed), Resampling(200))
            self.curves.append(curve)

    def baseline(self, name: str, predicted: Iterable[Sentence] | None = None) -> None:
        """Score what a baseline says, as the workflow does: without noise and seed. None scores a classifier."""
        keys = self._keys("webnlg", "original", "nz", "nz", name, "none", "")
        gold_file, found, train = (self.folder / f"{stem}.jsonl" for stem in ("gold", "found", "train"))
        if predicted is None:
            gold = sentences_of(100, 150)
            save_sentences(gold_file, gold)
            write_jsonl(found, [{"id": one.id, "score": 1.0} for one in gold])
            files = RunFiles(gold=gold_file, decisions=found, **self._out(name))
            score_classifier(files, keys | {"training": "wz", "testing": "wz"}, Resampling(200))
            return
        predicted = list(predicted)
        save_sentences(gold_file, sentences_of(len(predicted)))
        save_sentences(found, predicted)
        score_run(RunFiles(gold=gold_file, predictions=found, train=train, **self._out(name)), keys, Resampling(200))

    def audit(
        self, corpus: str, protocol: str, splits: dict[str, list[Sentence]], with_zero: dict | None = None
    ) -> None:
        """Audit the given splits."""
        path = self.folder / f"{corpus}-{protocol}.audit.json"
        keys = {"study": self.study, "corpus": corpus, "protocol": protocol}
        path.write_text(json.dumps(study_audit(keys, splits, with_zero)))
        self.audits.append(path)

    def fact(self, **fact) -> None:
        """Write the facts of one training."""
        path = self.folder / f"run{len(self.runs)}.json"
        path.write_text(json.dumps(fact))
        self.runs.append(path)

    def _keys(self, *of: object) -> dict:
        return dict(zip(KEYS, (self.study, *of), strict=True))

    def _out(self, stem: str) -> dict[str, Path]:
        out = {"out_scores": self.folder / f"{stem}.csv", "out_counts": self.folder / f"{stem}.counts.csv"}
        self.scores.append(out["out_scores"])
        self.counts.append(out["out_counts"])
        return out


def tables_of(folder: Path, counted: Iterable[SentenceCounts], facts: Iterable[dict] = (), more: Iterable[Score] = ()):
    """Return the inputs of tables of runs whose counts are given, and of the facts of systems and trainings."""
    paths, scores = [], [*more]
    for number, counts in enumerate(counted):
        paths.append(folder / f"{number}.csv")
        counts.save(paths[-1])
        scores += score_rows(counts, replicates=100)
    write_scores(folder / "scores.csv", scores)
    write_json(folder / "facts.json", [*facts])
    return load_inputs(scores=[folder / "scores.csv"], counts=paths, runs=[folder / "facts.json"])


def make_study(
    folder: Path, qualities: dict[str, float], seeds=(1,), sentences: int = 60, zero: int = 20, asked: int | None = None
) -> Path:
    """Write a study's folder as the workflow leaves it: one corpus, test sets NZ and WZ, and runs.

    There is one for each extractor (its quality) and seed. With ``asked`` the extractors are systems that were asked
    about the first sentences alone.
    """
    sets, gold = folder / "protocols" / "c" / "original", sentences_of(sentences, zero)
    save_sentences(train := sets / "nz" / "train.jsonl", TRAIN)
    for testing, part in (("wz", gold), ("nz", gold[:sentences])):
        save_sentences(sets / testing / "test.jsonl", part)
    for extractor, quality in qualities.items():
        for seed in seeds:
            run = Path("c", "original-nz", extractor, "none", f"seed{seed}")
            found = folder / "predictions" / run / "test.jsonl"
            save_sentences(found, pretend(gold, quality, 0.2, seed * 100 + len(extractor))[:asked])
            report = found.with_suffix(".report.json") if asked else ""
            if report:
                write_json(report, {"queried": asked, "of": len(gold)})
            for testing in ("nz", "wz"):
                out = {f"out_{kind}": folder / kind / run / f"test-{testing}.csv" for kind in ("scores", "counts")}
                keys = (folder.name, "c", "original", "nz", testing, extractor, "none", seed)
                gold_file = sets / testing / "test.jsonl"
                files = RunFiles(gold=gold_file, predictions=found, train=train, report=report, **out)
                score_run(files, dict(zip(KEYS, keys, strict=True)), Resampling(50))
    return folder
