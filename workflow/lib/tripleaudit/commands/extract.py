"""``tripleaudit extract``: the triples of texts, by a trained model."""

import argparse
import json
import os
import sys
from pathlib import Path

HELP = "extract triples from texts with a trained extractor"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="folder of the trained model")
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="sentences")
    parser.add_argument(
        "--input",
        metavar="FILE",
        help="sentences: a corpus in any known format, plain text line by line, or - for standard input",
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines, one sentence each")
    parser.add_argument("--module", metavar="FILE:CLASS", help="where an extractor of your own is defined")
    parser.add_argument("--batch-size", type=int, default=32, help="sentences at a time (default: 32)")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads (default: PyTorch's choice)")
    parser.add_argument(
        "--gpu",
        default=os.environ.get("TRIPLEAUDIT_GPU", "auto"),
        choices=("auto", "0", "1"),
        help="auto uses a GPU where there is one (default: TRIPLEAUDIT_GPU, else auto)",
    )


def run(args: argparse.Namespace) -> int:
    from tripleaudit.corpora.model import Sentence
    from tripleaudit.errors import UserError
    from tripleaudit.extractors.registry import load_extractor, register_from, saved_extractor_name

    sentences = [Sentence(str(number), text) for number, text in enumerate(args.texts)]
    sentences += read_input(args.input) if args.input else []
    if not sentences:
        raise UserError("nothing to extract from; expected at least one TEXT or --input FILE")
    if args.module:
        register_from(args.module)
    name = saved_extractor_name(args.model)

    from tripleaudit.training.predict import predict_sets
    from tripleaudit.training.session import device, set_up

    set_up(args.threads)
    model = load_extractor(args.model).to(device(args.gpu))
    if model.kind != "extractor":
        raise UserError(f"{args.model}: holds the classifier {name}, expected an extractor")
    (results,) = predict_sets(model, [sentences], args.batch_size)
    for sentence in results:
        if args.json:
            print(json.dumps(sentence.to_json(), ensure_ascii=False))
        else:
            print(sentence.text)
            for triple in sentence.triples or ():
                print(f"  {triple.score:.3f}  ({triple.subject.text}; {triple.relation}; {triple.object.text})")
            if not sentence.triples:
                print("  no triples")
    return 0


def read_input(name: str) -> list:
    """Read the sentences of ``--input``.

    Raises:
        UserError: the file is missing or cannot be read.
    """
    from tripleaudit.corpora.model import Sentence
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.files import open_text

    if name == "-":
        lines = sys.stdin.read().splitlines()
    elif Path(name).suffix in {".txt", ".text"}:
        with open_text(name) as stream:
            lines = stream.read().splitlines()
    else:
        return list(read_corpus(name).sentences)
    return [Sentence(str(number), line) for number, line in enumerate(lines, 1) if line.strip()]
