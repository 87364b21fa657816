"""A finished study made without any training: predictions are gold triples, damaged in known
ways.
"""

import dataclasses
from pathlib import Path

from support.scored import keys_of
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.scoring.scores import merge_scores
from tripleaudit.tables.audits import write_study_audit
from tripleaudit.tables.building import ResultFiles, make_tables
from tripleaudit.tables.frames import write_frames
from tripleaudit.tables.inputs import load_inputs
from tripleaudit.tables.plots import write_plot

DEMO = Path(__file__).resolve().parents[2] / "resources" / "demo"
EVIL = "</script><script>document.title='broken'</script>&amp;"
RUNS = (("original-nz", "none"), ("original-nz", "noising"), ("original-wz", "none"))
TABLES = ("type-f1", "end-to-end", "triple-types", "cardinality-sizes", "training-time")
SIDECAR = {  # of a training, as tripleaudit.core.provenance describes it
    "version": "0.1.0", "git": {"commit": "c" * 40, "clean": False}, "seed": 1, "device": "cpu", "python": "3.11.7",
    "inputs": {"train": {"name": "train.jsonl", "sha256": "d" * 64}}, "packages": {"torch": "2.13.0", "numpy": None},
    "finished": "2026-01-03T10:00:00Z",
}  # fmt: skip


def damaged(sentence: Sentence, number: int, relation: str = EVIL) -> Sentence:
    """Predictions for one sentence: one in three misses its first triple, one in four errs, one
    in five is evil.
    """
    triples = list(sentence.triples)
    if number % 3 == 0:
        triples = triples[1:]
    if number % 4 == 0 and triples:
        first = triples[0]
        triples[0] = Triple(first.object, first.relation, first.subject, 0.75)
    if number % 5 == 0 and len(sentence.text) > 6:
        triples.append(
            Triple(Span(0, 3, sentence.text[:3]), relation, Span(4, 6, sentence.text[4:6]), 0.5)
        )
    return dataclasses.replace(sentence, triples=tuple(triples))


def write_finished_study(folder: Path, plots: bool = True) -> Path:
    """Write ``results/<study>`` of a study with one corpus and one extractor into ``folder`` and
    return it.
    """
    split = {name: load_sentences(DEMO / f"{name}.jsonl") for name in ("train", "valid", "test")}
    zero = {name: load_sentences(DEMO / f"{name}_zero.jsonl") for name in split}
    split["test"], zero["test"] = split["test"][:60], zero["test"][:30]
    split["test"][0] = _shifted(split["test"][0], f"\N{GRINNING FACE} {EVIL} ")
    files = {}
    for setting in ("nz", "wz"):
        for name in split:
            files[setting, name] = folder / f"protocols/demo/original/{setting}/{name}.jsonl"
            save_sentences(
                files[setting, name], split[name] + (zero[name] if setting == "wz" else [])
            )
    scores, counts = [], []
    for trainset, noise in RUNS:
        path = f"demo/{trainset}/casrel/{noise}/seed1"
        test = load_sentences(files["wz", "test"])
        predictions = folder / f"predictions/{path}/test.jsonl"
        save_sentences(
            predictions, [damaged(sentence, number) for number, sentence in enumerate(test)]
        )
        write_json(folder / f"models/{path}/provenance.json", SIDECAR)
        history = [{"epoch": e, "loss": 1 / e, "f1": e / 10} for e in range(1, 5)]
        write_jsonl(folder / f"models/{path}/history.jsonl", history)
        for testing in ("nz", "wz"):
            scores.append(folder / f"scores/{path}/test-{testing}.csv")
            counts.append(folder / f"counts/{path}/test-{testing}.csv")
            keys = ("small", "demo", "original", trainset[-2:], testing, "casrel", noise, 1)
            out = {"out_scores": scores[-1], "out_counts": counts[-1]}
            run = RunFiles(
                gold=files[testing, "test"],
                predictions=predictions,
                train=files["nz", "train"],
                **out,
            )
            score_run(run, keys_of(*keys), 100, only_with_triples=testing == "nz")
    merge_scores(scores, folder / "scores.csv", folder / "scores.provenance.json")
    write_study_audit(
        keys={"study": "small", "corpus": "demo", "protocol": "original"},
        splits=[files["nz", name] for name in ("train", "valid", "test")],
        with_zero=[files["wz", name] for name in ("train", "valid", "test")],
        out=folder / "audits/demo/original.json",
    )
    keys = {"corpus": "demo", "protocol": "original", "extractor": "casrel"}
    seconds = {"nz": 60.0, "wz": 90.0}
    facts = [{"keys": keys | {"training": setting}, "device": "cpu", "seconds_per_epoch": each}
             for setting, each in seconds.items()]  # fmt: skip
    write_json(folder / "trainings.json", facts)
    inputs = {"scores": [folder / "scores.csv"], "counts": counts}
    inputs |= {
        "audits": [folder / "audits/demo/original.json"],
        "runs": [folder / "trainings.json"],
    }
    write_frames(folder, scores=[folder / "scores.csv"], counts=counts)
    make_tables(ResultFiles(**inputs), dict.fromkeys(TABLES, {}), folder / "tables")
    if plots:
        histories = sorted(folder.glob("models/**/history.jsonl"))
        loaded = load_inputs(**inputs, files={"history": histories})
        write_plot("training-curves", loaded, folder / "plots/training-curves.svg")
    return folder


def _shifted(sentence: Sentence, prefix: str) -> Sentence:
    def moved(span: Span) -> Span:
        return Span(span.start + len(prefix), span.end + len(prefix), span.text)

    triples = (
        Triple(moved(each.subject), each.relation, moved(each.object)) for each in sentence.triples
    )
    return Sentence(sentence.id, prefix + sentence.text, tuple(triples))
