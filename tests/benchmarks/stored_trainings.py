"""Tables of trainings whose predictions are stored: type F1 and the published augmented sets, as a study makes them.

``python -m tests.benchmarks.stored_trainings [--data DIR] --out DIR`` scores each folder of ``gpu-webnlg`` on WebNLG's
test set and on the four published augmented ones by the workflow's own functions and commands, and writes the tables
of docs/results.md: the values, and the settings, epochs and convergence of each training.
"""

import argparse
import json
import os
from pathlib import Path

from tripleaudit.cli import main as tripleaudit
from tripleaudit.corpora.registered import read_registered
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.training.convergence import convergence

DATA = Path(__file__).parents[3] / "shared" / "data"
PARTS = ("ss", "su", "us", "uu")


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("TRIPLEAUDIT_DATA", DATA))
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    gold = {}
    for name, corpus, split in (
        ("train", "webnlg", "train"),
        ("test", "webnlg", "test"),
        ("aug", "webnlg-augmented", "test"),
    ):
        gold[name] = args.out / f"{name}.jsonl"
        save_sentences(gold[name], read_registered(corpus, split, args.data).sentences)
    scores, counts, facts, rows = [], [], [], []
    for folder in sorted((args.data / "gpu-webnlg").iterdir()):
        if not folder.is_dir():
            continue
        augmented = args.out / "predictions" / folder.name / "augmented.jsonl"
        save_sentences(augmented, [row for part in PARTS for row in load_sentences(folder / f"pred_aug_{part}.jsonl")])
        keys = {"study": "gpu-webnlg", "corpus": "webnlg", "training": "nz", "testing": "nz",
                "extractor": folder.name, "noise": "none", "seed": 1}  # fmt: skip
        for protocol, truth, guess in (
            ("original", "test", folder / "pred_test.jsonl"),
            ("augmented", "aug", augmented),
        ):
            out = [args.out / kind / folder.name / f"{protocol}.csv" for kind in ("scores", "counts")]
            score_run(RunFiles(gold[truth], guess, *out, train=gold["train"]), {**keys, "protocol": protocol})
            scores.append(out[0])
            counts.append(out[1])
        history, chosen = lines(folder / "history.jsonl"), json.loads((folder / "settings.json").read_text())
        found = convergence(history)
        facts.append({"keys": {**keys, "protocol": "original"}, "epochs": chosen["epochs"], "convergence": found})
        slope = "–" if found["slope"] is None else f"{100 * found['slope']:.2f}"
        verdict = {True: "yes", False: "no", None: "not known"}[found["converged"]]
        used = chosen["settings"]
        best, last = found["best_step"] or "–", found["last_step"] or "–"
        rows.append(
            f"| {folder.name} | {chosen['epochs']} × {used['batch_size']} | {used['encoder_learning_rate']:g} / "
            f"{used['head_learning_rate']:g} | {best} of {last} | {slope} | {verdict} |"
        )
    (args.out / "trainings.json").write_text(json.dumps(facts))
    (args.out / "trainings.md").write_text(
        "| training | epochs × batch | rates (encoder / head) | best step | slope, points a tenth | converged |\n"
        "|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    files = {"--scores": scores, "--counts": counts, "--runs": [args.out / "trainings.json"]}
    for table in ("type-f1", "augmented"):
        given = [str(part) for option, paths in files.items() for part in (option, *paths)]
        tripleaudit(["table", table, *given, "--out-prefix", str(args.out / "tables" / table)])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
