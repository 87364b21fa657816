"""``tripleaudit train-mlm``: train a masked-LM head of an encoder on a study's texts."""

import argparse
from pathlib import Path

from tripleaudit.core.arguments import NUMBER, SEED, add_force, add_gpu, check_folder

HELP = "train a masked language model on an encoder, for augmented test sets"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encoder", type=Path, required=True, metavar="DIR", help="folder of the encoder"
    )
    parser.add_argument(
        "--train", required=True, metavar="FILE", help="training set, any corpus format"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the masked language model"
    )
    add_force(parser)
    parser.add_argument(
        "--steps", type=NUMBER, default=300, metavar="N", help="training steps (default: 300)"
    )
    parser.add_argument(
        "--layers", type=NUMBER, metavar="N", help="layers to load, from the bottom (default: all)"
    )
    parser.add_argument(
        "--batch-size",
        type=NUMBER,
        default=16,
        metavar="N",
        help="sentences per step (default: 16)",
    )
    parser.add_argument(
        "--seed", type=SEED, default=0, metavar="S", help="random seed (default: 0)"
    )
    add_gpu(parser)


def run(args: argparse.Namespace) -> int:
    import json
    import logging

    from tripleaudit.core import memory
    from tripleaudit.core.devices import gpu_slot
    from tripleaudit.core.files import write_json
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.protocols.augmented.train_mlm import train_masked_lm

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    check_folder(args.out, args.force, own=("training.json",))
    sentences = read_corpus(args.train).sentences
    with (
        gpu_slot(args.gpu),
        memory.out_of_memory_advice(
            "training the masked language model", "--batch-size", args.batch_size
        ),
    ):
        own = {
            "steps": args.steps,
            "layers": args.layers,
            "batch_size": args.batch_size,
            "seed": args.seed,
        }
        report = train_masked_lm(args.encoder, sentences, args.out, **own)
    write_json(args.out / "training.json", report)
    print(json.dumps(report, indent=2))
    return 0
