"""``tripleaudit protocol``: the sets of one protocol of a study, from JSON lines to JSON lines, for the workflow."""

import argparse
from pathlib import Path

HELP = "build the sets of one protocol from JSON lines; see also split"
INTERNAL = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--protocol", required=True, metavar="NAME", help="rearranged, sift-1, augmented, …")
    parser.add_argument("--options", default="{}", metavar="JSON", help="options of the protocol as a JSON object")
    for name in ("train", "valid", "test"):
        parser.add_argument(f"--{name}", required=True, type=Path, metavar="FILE", help=f"{name} sentences")
    for name in ("train", "valid", "test"):
        parser.add_argument(f"--out-{name}", type=Path, metavar="FILE", help=f"{name} sentences of the protocol")
    parser.add_argument("--report", type=Path, metavar="FILE", help="what was done, as JSON")
    parser.add_argument("--masked-lm", type=Path, metavar="DIR", help="augmented: folder of a masked language model")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="augmented: word vectors, GloVe or word2vec form")
    parser.add_argument("--encoder", type=Path, metavar="DIR", help="augmented: makes what of the two is missing")


def run(args: argparse.Namespace) -> int:
    import contextlib
    import json
    import logging
    import os

    from tripleaudit.corpora.store import load_sentences, save_sentences
    from tripleaudit.errors import UserError
    from tripleaudit.files import write_json
    from tripleaudit.machine import memory
    from tripleaudit.machine.devices import gpu_slot
    from tripleaudit.protocols.build import build_protocol
    from tripleaudit.protocols.splits import SPLIT_NAMES, Splits

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("gensim").setLevel(logging.WARNING)
    try:
        options = json.loads(args.options)
    except json.JSONDecodeError as error:
        raise UserError(f"--options: not valid JSON ({error.msg})") from error
    if not isinstance(options, dict):
        raise UserError("--options: expected a JSON object")
    # A study's configuration names models by source, which reach this command as files, and nests rarer options.
    options = {key: value for key, value in options.items() if key not in ("masked_lm", "vectors", "options")} | (
        options.get("options") or {}
    )
    splits = Splits(*(load_sentences(getattr(args, name)) for name in SPLIT_NAMES))
    needs_model = args.masked_lm is not None or args.encoder is not None
    with contextlib.ExitStack() as stack:
        if needs_model:
            stack.enter_context(gpu_slot(os.environ.get("TRIPLEAUDIT_GPU", "auto")))
            stack.enter_context(
                memory.out_of_memory_advice("filling masks", "options/batch_size", options.get("batch_size", 64))
            )
        built, report = build_protocol(
            args.protocol, splits, options, masked_lm=args.masked_lm, vectors=args.vectors, encoder=args.encoder
        )
    for name, sentences in built:
        if path := getattr(args, f"out_{name}"):
            save_sentences(path, sentences)
    if args.report:
        write_json(args.report, report)
    return 0
