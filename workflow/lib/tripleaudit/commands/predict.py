"""``tripleaudit predict``: predict the triples of test sets with a trained model.

Called by users and by the rules ``predict`` and ``predict_with_augmented`` of ``training.smk``.
"""

import argparse
from pathlib import Path

from tripleaudit.core.arguments import NUMBER, Whole, add_gpus

HELP = "predict the triples of test sets with a trained extractor"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", type=Path, required=True, metavar="DIR", help="folder of the trained model"
    )
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        action="extend",
        required=True,
        metavar="FILE",
        help="test sets (JSON lines)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        nargs="+",
        action="extend",
        required=True,
        metavar="FILE",
        help="one file for each test set",
    )
    parser.add_argument(
        "--schema-of-test",
        action="store_true",
        help="predict only relations that occur in the test set (for extractors that read relation names, such as "
        "unirel)",
    )
    parser.add_argument(
        "--batch-size", type=NUMBER, default=32, help="sentences at a time (default: 32)"
    )
    parser.add_argument(
        "--threads", type=Whole(), default=0, help="CPU threads (default: PyTorch's choice)"
    )
    add_gpus(parser)


def run(args: argparse.Namespace) -> int:
    import logging

    from tripleaudit.core.errors import UserError

    if len(args.data) != len(args.out):
        raise UserError(
            f"{len(args.data)} data files but {len(args.out)} output files; expected one --out for each --data"
        )
    for path in args.data:
        if not path.is_file():
            raise UserError(f"{path}: no such file")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    return _predict(args)


def _predict(args: argparse.Namespace) -> int:
    from tripleaudit.core import memory
    from tripleaudit.core.devices import choose_late, policy
    from tripleaudit.extractors.formulation import on_device
    from tripleaudit.extractors.registry import load_extractor, saved_extractor_name

    choose_late()
    saved_extractor_name(args.model)  # refuses a folder that is no model before the slow import

    from tripleaudit.training.predict import predict_files
    from tripleaudit.training.session import set_up, taken

    set_up(args.threads)
    model = load_extractor(args.model)
    with taken(policy(args.gpu, args.gpus)) as device:
        # on a GPU, prediction halves batches until they fit
        limiting_size = None if on_device(device) else args.batch_size
        with memory.out_of_memory_advice("prediction", "prediction/batch_size", limiting_size):
            model.to(device)
            files = list(zip(args.data, args.out, strict=True))
            predict_files(model, args.model, files, args.batch_size, args.schema_of_test)
    return 0
