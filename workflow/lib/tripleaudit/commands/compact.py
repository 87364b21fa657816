"""``tripleaudit compact``: a small copy of a trained extractor, for a repository or a download."""

import argparse
from pathlib import Path

from tripleaudit.core.arguments import NUMBER, Whole, add_force, check_folder

HELP = "write a small copy of a trained extractor: frequent word pieces only, half precision"
CARD = "README.md"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="folder of the trained model")
    parser.add_argument(
        "--train",
        type=Path,
        required=True,
        metavar="FILE",
        help="training sentences; all word pieces that occur in them are kept",
    )
    parser.add_argument(
        "--pieces",
        type=Whole(),
        default=8000,
        metavar="N",
        help="also keep the first N word pieces of the vocabulary, the most frequent ones (default: 8000)",
    )
    parser.add_argument(
        "--valid",
        type=Path,
        metavar="FILE",
        help="validation sentences; the model card reports the scores of the copy on them",
    )
    parser.add_argument(
        "--test", type=Path, metavar="FILE", help="test sentences; the same for the test scores"
    )
    parser.add_argument(
        "--licence",
        default="other",
        metavar="NAME",
        help="licence of the weights in the model card, such as cc-by-nc-sa-4.0 (default: other)",
    )
    parser.add_argument(
        "--batch-size", type=NUMBER, default=32, help="sentences at a time (default: 32)"
    )
    parser.add_argument(
        "--threads", type=Whole(), default=0, help="CPU threads (default: PyTorch's choice)"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the small copy"
    )
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    from tripleaudit.core.files import atomic_write, read_json, sha256, write_json
    from tripleaudit.core.model_folders import WEIGHTS, WEIGHTS_DIGEST
    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.extractors.registry import load_extractor, saved_extractor_name

    check_folder(args.out, args.force, own=("provenance.json",))
    saved_extractor_name(args.model)
    record = read_json(args.model / "provenance.json")
    training = read_corpus(str(args.train)).sentences

    from tripleaudit.extractors.compact import save_compact
    from tripleaudit.training.card import model_card
    from tripleaudit.training.session import set_up

    set_up(args.threads)
    model = load_extractor(args.model)
    all_pieces = len(model.tokenizer)
    texts = [sentence.text for sentence in training]
    pieces = save_compact(model, texts, args.pieces, args.out)

    record[WEIGHTS_DIGEST] = sha256(args.out / WEIGHTS)
    write_json(args.out / "provenance.json", record)  # loading compares the digest
    small = load_extractor(args.out)
    scores = {}
    for split in ("valid", "test"):
        file = getattr(args, split)
        if file is not None:
            scores[split] = score_split(small, file, args.train, args.batch_size)
    record["compact"] = {"pieces": pieces, "all_pieces": all_pieces, "scores": scores}
    record["licence"] = args.licence
    write_json(args.out / "provenance.json", record)
    with atomic_write(args.out / CARD) as stream:
        stream.write(model_card(record, small.kind, small.config.relations))
    size = sum(path.stat().st_size for path in args.out.iterdir()) / 1e6
    print(f"{args.out}: {pieces} of {all_pieces} word pieces, {size:.1f} MB")
    for split, parts in scores.items():
        print(f"{split}: F1 {100 * parts['all']['f1']:.1f}")
    return 0


def score_split(model, file: Path, train: Path, batch_size: int) -> dict[str, dict]:
    """Return the scores of a model on all sentences of a file and by type of triple.

    Args:
        model: the extractor.
        file: gold sentences.
        train: training set, which decides what is seen.
        batch_size: sentences at a time.
    """
    from tripleaudit.api.score import score
    from tripleaudit.corpora.readers import read_corpus

    gold = read_corpus(str(file)).sentences
    texts = [sentence.text for sentence in gold]
    predicted = model.extract(texts, batch_size, [sentence.id for sentence in gold])
    rows = [sentence.to_json() for sentence in predicted]
    result = score(str(file), rows, train=str(train))
    parts = {"all": result.micro, **result.strata}
    return {name: part.row() for name, part in parts.items()}
