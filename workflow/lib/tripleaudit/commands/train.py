"""``tripleaudit train``: train one extractor or classifier and save it.

Called by users and by the rules of ``training.smk``. Settings are described by
:class:`tripleaudit.training.settings.TrainingSettings`; the training itself is
:func:`tripleaudit.training.run.train_to`.
"""

import argparse
import functools
from pathlib import Path
from typing import Any

from tripleaudit.core.arguments import SEED, Whole, add_force, add_gpus, check_folder, json_given

HELP = "train an extractor on a corpus"
TRAINED_FILES = ("provenance.json", "checkpoints", ".lock", "tokenizer.json")
"""Files that mark a folder as that of an earlier training, which may be written to again.

The tokenizer is one of them because it is all that Snakemake leaves behind: it removes the declared
outputs before a training is repeated.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--train", type=Path, required=True, metavar="FILE", help="training sentences (JSON lines)"
    )
    parser.add_argument(
        "--valid",
        type=Path,
        required=True,
        metavar="FILE",
        help="validation sentences (JSON lines)",
    )
    parser.add_argument(
        "--encoder",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of the pre-trained encoder",
    )
    parser.add_argument(
        "--extractor", required=True, metavar="NAME", help="a name of `tripleaudit list extractors`"
    )
    parser.add_argument(
        "--settings",
        action="append",
        default=[],
        metavar="JSON",
        help="settings as a JSON object; of several options the later one wins key by key",
    )
    parser.add_argument(
        "--seed", type=SEED, default=1, help="seed of everything random (default: 1)"
    )
    parser.add_argument(
        "--threads", type=Whole(), default=0, help="CPU threads (default: PyTorch's choice)"
    )
    add_gpus(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the trained model"
    )
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    from tripleaudit.core.rows import row_of
    from tripleaudit.corpora.store import load_sentences, load_set
    from tripleaudit.training.settings import TrainingSettings

    values: dict[str, Any] = {}
    for text in args.settings:
        values.update(json_given("--settings", text))
    settings = row_of(values, TrainingSettings, "training")
    check_folder(args.out, args.force, own=TRAINED_FILES)
    train = load_set(args.train)
    valid = load_sentences(args.valid)  # may be empty: then nothing is evaluated

    from tripleaudit.core.devices import choose_late, policy
    from tripleaudit.extractors.registry import resolve
    from tripleaudit.scoring.matching import check_matching, sentence_counts
    from tripleaudit.scoring.metrics import micro
    from tripleaudit.training.session import set_up, taken

    choose_late()
    resolve(args.extractor)  # refuses an unknown name before the slow import
    matching = check_matching(settings.matching)
    set_up(args.threads)

    from tripleaudit.training.run import train_to

    def score(gold, predicted) -> dict[str, float]:
        result = micro(sentence_counts(gold, predicted, matching))
        return {"f1": result.f1, "precision": result.precision, "recall": result.recall}

    result = train_to(
        args.out,
        name=args.extractor,
        train=train,
        valid=valid,
        encoder=args.encoder,
        settings=settings,
        seed=args.seed,
        score=score,
        inputs={"train": args.train, "valid": args.valid},
        on=functools.partial(taken, policy(args.gpu, args.gpus)),
    )
    best = result.best_f1
    validation = "no validation" if best is None else f"best validation F1 {best:.4f}"
    print(f"{args.out}: {result.step} steps, {result.epoch:g} epochs, {validation}")
    return 0
