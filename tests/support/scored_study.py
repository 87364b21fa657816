"""A study's folder as the workflow leaves it: protocols, predictions, counts and scores of pretended extractors."""

from pathlib import Path

from support.scored import TRAIN, pretend, sentences_of
from tripleaudit.corpora.store import save_sentences
from tripleaudit.files import write_json
from tripleaudit.scoring.rows import Resampling, RunFiles, score_run


def make_study(
    folder: Path, qualities: dict[str, float], seeds=(1,), sentences: int = 60, zero: int = 20, asked: int | None = None
) -> Path:
    """Write ``folder`` with one corpus, test sets NZ and WZ, and one run for each extractor (its quality) and seed.

    With ``asked`` the extractors are systems that were asked about the first sentences alone.
    """
    protocols = folder / "protocols" / "c" / "original"
    save_sentences(protocols / "nz" / "train.jsonl", TRAIN)
    gold = sentences_of(sentences, zero)
    for testing, part in (("wz", gold), ("nz", sentences_of(sentences))):
        save_sentences(protocols / testing / "test.jsonl", part)
    for extractor, quality in qualities.items():
        for seed in seeds:
            run = Path("c", "original-nz", extractor, "none", f"seed{seed}")
            predictions = folder / "predictions" / run / "test.jsonl"
            save_sentences(predictions, pretend(gold, quality, 0.2, seed * 100 + len(extractor))[:asked])
            if asked:
                write_json(predictions.with_suffix(".report.json"), {"asked": asked, "of": len(gold)})
            for testing in ("nz", "wz"):
                keys = {
                    "study": folder.name, "corpus": "c", "protocol": "original", "training": "nz", "testing": testing,
                    "extractor": extractor, "noise": "none", "seed": seed,
                }  # fmt: skip
                files = RunFiles(
                    gold=protocols / testing / "test.jsonl",
                    predictions=predictions,
                    out_scores=folder / "scores" / run / f"test-{testing}.csv",
                    out_counts=folder / "counts" / run / f"test-{testing}.csv",
                    train=protocols / "nz" / "train.jsonl",
                    report=predictions.with_suffix(".report.json") if asked else "",
                )
                score_run(files, keys, Resampling(50))
    return folder
