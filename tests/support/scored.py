"""Scored runs of pretended extractors: genuine scoring of made-up predictions, written as the
workflow writes them.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import save_sentences
from tripleaudit.scoring.counts import SentenceCounts
from tripleaudit.scoring.rows import RunFiles, score_classifier, score_rows, score_run
from tripleaudit.scoring.scores import Score, write_scores
from tripleaudit.tables.audits import study_audit
from tripleaudit.tables.cells import Table
from tripleaudit.tables.inputs import TableInputs, load_inputs
from tripleaudit.tables.render import to_markdown

TEXT = "Ann wrote Emma in Rome"
SPANS = {
    word: Span(TEXT.index(word), TEXT.index(word) + len(word), word)
    for word in ("Ann", "Emma", "Rome")
}


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
    """Return sentences with one triple each, half of them entirely seen, then sentences with
    zero triples.
    """
    kinds = ["entirely_seen", "partially_seen", "entirely_seen", "unseen"]
    rows = [Sentence(f"s{n}", TEXT, (KINDS[kinds[n % 4]],)) for n in range(sentences)]
    return rows + [Sentence(f"z{n}", TEXT) for n in range(zero)]


def pretend(
    gold: Iterable[Sentence], quality: float, false_alarms: float, seed: int
) -> list[Sentence]:
    """Find each gold triple with probability ``quality`` and add a wrong one with
    ``false_alarms``.
    """
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
        self.scores, self.counts, self.audits, self.runs, self.curves = ([] for _ in range(5))
        save_sentences(folder / "train.jsonl", TRAIN)

    def inputs(self, **more) -> TableInputs:
        """Return what tables are made of: all that was written so far."""
        return load_inputs(
            scores=self.scores,
            counts=self.counts,
            audits=self.audits,
            **{"runs": self.runs, **more},
        )

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
            # The random stream belongs to the extractor, so that NZ predictions are part of the WZ
            # ones.
            noisy = seed * 1000 + sum(map(ord, extractor + noise + training))
            of = (corpus, protocol, training, testing, extractor, noise, seed)
            self.score(of, gold, pretend(gold, quality, false_alarms, noisy))

    def classifier(
        self, name: str, *, quality: float, corpus: str = "conll04", seeds: Iterable[int] = (1,)
    ) -> None:
        """Score one pretended zero-cardinality classifier once a seed."""
        gold = sentences_of(100, 150)
        for seed in seeds:
            random = np.random.default_rng(seed)
            scores = [random.normal(quality if one.triples else 1 - quality, 0.2) for one in gold]
            self.curves.append(self.folder / f"{corpus}-{name}-{seed}.curve.json")
            of = (corpus, "original", "wz", "wz", name, "none", seed)
            self._decide(of, gold, np.clip(scores, 0, 1), out_curve=self.curves[-1])

    def baseline(self, name: str, predicted: Iterable[Sentence] | None = None) -> None:
        """Score what a baseline says, as the workflow does: without noise and seed. None scores
        a classifier.
        """
        if predicted is None:
            gold = sentences_of(100, 150)
            self._decide(
                ("webnlg", "original", "wz", "wz", name, "none", ""), gold, [1.0] * len(gold)
            )
        else:
            predicted = list(predicted)
            of = ("webnlg", "original", "nz", "nz", name, "none", "")
            self.score(of, sentences_of(len(predicted)), predicted)

    def audit(
        self,
        corpus: str,
        protocol: str,
        splits: dict[str, list[Sentence]],
        with_zero: dict | None = None,
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

    def score(self, of: tuple, gold: list[Sentence], predicted: list[Sentence]) -> None:
        files = {name: self.folder / f"{name}.jsonl" for name in ("gold", "predictions", "train")}
        save_sentences(files["gold"], gold)
        save_sentences(files["predictions"], predicted)
        score_run(RunFiles(**files, **self._out(of)), keys_of(self.study, *of), 200)

    def _decide(
        self, of: tuple, gold: list[Sentence], scores: Iterable[float], **more: Path
    ) -> None:
        files = {name: self.folder / f"{name}.jsonl" for name in ("gold", "decisions")}
        save_sentences(files["gold"], gold)
        write_jsonl(
            files["decisions"],
            [{"id": s.id, "score": float(n)} for s, n in zip(gold, scores, strict=True)],
        )
        score_classifier(RunFiles(**files, **more, **self._out(of)), keys_of(self.study, *of), 200)

    def _out(self, of: tuple) -> dict[str, Path]:
        stem = self.folder / "-".join(map(str, of))
        self.scores.append(stem.with_name(f"{stem.name}.csv"))
        self.counts.append(stem.with_name(f"{stem.name}.counts.csv"))
        return {"out_scores": self.scores[-1], "out_counts": self.counts[-1]}


def keys_of(*of: object) -> dict:
    """The keys of a run: study, corpus, protocol, training, testing, extractor, noise and seed."""
    return dict(zip(KEYS, of, strict=True))


def told(table: Table) -> str:
    """Return a table with its heading and notes as text."""
    return f"question: {table.question}\n\n{to_markdown(table)}"


def tables_of(
    folder: Path,
    counted: Iterable[SentenceCounts],
    facts: Iterable[dict] = (),
    more: Iterable[Score] = (),
):
    """Return the inputs of tables of runs whose counts are given, and of the facts of systems
    and trainings.
    """
    paths, scores = [], [*more]
    for number, counts in enumerate(counted):
        paths.append(folder / f"{number}.csv")
        counts.save(paths[-1])
        scores += score_rows(counts, replicates=100)
    write_scores(folder / "scores.csv", scores)
    write_json(folder / "facts.json", [*facts])
    return load_inputs(scores=[folder / "scores.csv"], counts=paths, runs=[folder / "facts.json"])


def make_study(
    folder: Path,
    qualities: dict[str, float],
    seeds=(1,),
    sentences: int = 60,
    zero: int = 20,
    asked: int | None = None,
) -> Path:
    """Write a study's folder as the workflow leaves it: one corpus, test sets NZ and WZ, and runs.

    There is one for each extractor (its quality) and seed. With ``asked`` the extractors are
    systems that were asked about the first sentences alone.
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
                out = {
                    f"out_{kind}": folder / kind / run / f"test-{testing}.csv"
                    for kind in ("scores", "counts")
                }
                keys = (folder.name, "c", "original", "nz", testing, extractor, "none", seed)
                gold_file = sets / testing / "test.jsonl"
                files = RunFiles(
                    gold=gold_file, predictions=found, train=train, report=report, **out
                )
                score_run(files, keys_of(*keys), 50)
    return folder
