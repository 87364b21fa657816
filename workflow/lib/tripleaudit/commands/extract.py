"""``tripleaudit extract``: the triples of texts, by a trained model."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.core.arguments import NUMBER, Whole, add_gpu
from tripleaudit.core.shipped import DEFAULT_MODEL
from tripleaudit.core.wording import counted

if TYPE_CHECKING:
    from tripleaudit.corpora.model import Sentence

HELP = "extract triples from texts with a trained extractor"
MAX_RELATIONS = 20  # that a message lists
MAX_PATH = 250  # characters; a longer text is no folder


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="sentences")
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help=f"folder of a trained model, or the name of an included one (default: {DEFAULT_MODEL}, "
        "which knows ten relations of WebNLG, such as country and leaderName)",
    )
    parser.add_argument(
        "--input",
        metavar="FILE",
        help="sentences: a corpus in any known format, plain text line by line, or - for standard input",
    )
    parser.add_argument(
        "--gate",
        type=Path,
        metavar="DIR",
        help="folder of a trained classifier (zcc-…); sentences that it finds to have no triples are skipped",
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines, one sentence each")
    parser.add_argument(
        "--batch-size", type=NUMBER, default=32, help="sentences at a time (default: 32)"
    )
    parser.add_argument(
        "--threads", type=Whole(), default=0, help="CPU threads (default: PyTorch's choice)"
    )
    add_gpu(parser)


def run(args: argparse.Namespace) -> int:
    from itertools import chain

    from tripleaudit.core.errors import UserError
    from tripleaudit.core.shipped import model_folder, models
    from tripleaudit.corpora.corpus import check_characters
    from tripleaudit.extractors.registry import load_extractor, saved_extractor_name

    check_characters(args.texts, "TEXT")
    if args.texts and is_model(args.texts[0]):
        raise UserError(
            f"{args.texts[0]}: is a model folder, not a text; use --model {args.texts[0]}"
        )
    folder = model_folder(args.model)
    if not folder.is_dir():
        included = ", ".join(models()) or "none (in a clone, make checkpoint makes webnlg-ten)"
        raise UserError(
            f"--model {args.model}: no such folder or included model; included: {included}"
        )
    sentences = read_sentences(args.texts, args.input)
    first = next(sentences, None)
    if first is None:
        raise UserError("nothing to extract from; expected at least one TEXT or --input FILE")
    name = saved_extractor_name(folder)

    from tripleaudit.training.predict import load_gate
    from tripleaudit.training.session import device, set_up
    from tripleaudit.training.stream import Stream

    set_up(args.threads)
    model = load_extractor(folder).to(device(args.gpu))
    if model.kind != "extractor":
        raise UserError(f"{folder}: holds the classifier {name}, expected an extractor")
    gate = load_gate(args.gate).to(model.device) if args.gate else None
    stream = Stream(model, gate, batch_size=args.batch_size)
    has_triples = False
    for extracted in stream.extract(chain([first], sentences)):
        has_triples |= bool(extracted.sentence.triples)
        print_sentence(extracted.sentence, args.json)
    if not has_triples:
        print(
            f"No triples were found. {describe_relations(model.config.relations)}", file=sys.stderr
        )
    if cut := stream.account.counts["cut"]:
        words = "sentence{s} {are} longer than the encoder's maximum length and {were} truncated"
        print(counted(cut, words), file=sys.stderr)
    return 0


def read_sentences(texts: Sequence[str], path: str | None) -> "Iterator[Sentence]":
    """Yield the sentences of TEXT, whose ids are ``text-1`` and so on, then those of ``--input``.

    The sentences of the file keep their ids, or have the numbers of their lines.
    """
    from tripleaudit.corpora.model import Sentence

    for number, text in enumerate(texts, 1):
        yield Sentence(f"text-{number}", text)
    if path:
        yield from read_input(path)


def print_sentence(sentence: "Sentence", as_json: bool) -> None:
    """Print a sentence and its triples as text or as a JSON line."""
    if as_json:
        print(json.dumps(sentence.to_json(), ensure_ascii=False))
        return
    print(sentence.text)
    for triple in sentence.triples:
        words = f"{triple.subject.text}; {triple.relation}; {triple.object.text}"
        print(f"  {triple.score:.3f}  ({words})")
    if not sentence.triples:
        print("  no triples")


def describe_relations(relations: Sequence[str]) -> str:
    """Return which relations a model extracts, at most :data:`MAX_RELATIONS` by name."""
    named = ", ".join(relations[:MAX_RELATIONS])
    more = ", …" if len(relations) > MAX_RELATIONS else ""
    return f"The model extracts {counted(len(relations), 'relation{s}')} only: {named}{more}."


def is_model(text: str) -> bool:
    """Return whether a text is the folder of a model, the first argument of earlier versions."""
    return len(text) < MAX_PATH and (Path(text) / "config.json").is_file()


def read_input(name: str) -> "Iterator[Sentence]":
    """Yield the sentences of ``--input``; lines of text are read as they are needed.

    Raises:
        UserError: the file is missing or cannot be read.
    """
    from tripleaudit.core.files import open_text
    from tripleaudit.corpora.readers import read_corpus

    if name == "-":
        yield from _read_lines(sys.stdin)
    elif Path(name.removesuffix(".gz")).suffix in {".txt", ".text"}:
        with open_text(name) as stream:
            yield from _read_lines(stream)
    else:
        yield from read_corpus(name).sentences


def _read_lines(lines: Iterable[str]) -> "Iterator[Sentence]":
    from tripleaudit.corpora.model import Sentence

    for number, line in enumerate(lines, 1):
        if line.strip():
            yield Sentence(str(number), line.rstrip("\r\n"))
