"""``tripleaudit gre-lda``: train the topic model of the topical similarity score.

The topical similarity is one of the five GREScores (scores of generative relation extraction),
which ``tripleaudit gre-score --lda`` computes. The workflow trains a model for each data set with
the key ``topics``.
"""

import argparse

from tripleaudit.core.arguments import NUMBER, SEED, SHARE, add_force, check_folder

HELP = "train a topic model on texts, for the topical similarity of gre-score (--lda)"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--text",
        required=True,
        nargs="+",
        metavar="FILE",
        help="training texts: a JSON list, an object keyed by text, or sentences as .jsonl",
    )
    parser.add_argument(
        "--topics", required=True, type=NUMBER, metavar="K", help="number of topics"
    )
    parser.add_argument(
        "--seed",
        type=SEED,
        default=0,
        metavar="S",
        help="seed of training and inference (default: 0)",
    )
    parser.add_argument(
        "--chunk-size",
        type=NUMBER,
        default=2000,
        metavar="N",
        help="texts between two updates of the topics (default: 2000, as published)",
    )
    parser.add_argument(
        "--evaluated",
        nargs="*",
        metavar="FILE",
        default=[],
        help="texts to be scored; those in the training texts are moved together (--evaluated-after). Only to "
        "reproduce published scores, which depend on the order of the training texts",
    )
    parser.add_argument(
        "--evaluated-after",
        type=SHARE,
        default=0.0,
        metavar="SHARE",
        help="with --evaluated: the share of the other training texts that precede these (default: 0, none)",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the model")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    import logging

    from tripleaudit.grescores.topics import arranged, read_texts, train_topics

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    check_folder(args.out, args.force, own=("lda.json",))
    texts = [text for path in args.text for text in read_texts(path)]
    if args.evaluated:
        evaluated = [text for path in args.evaluated for text in read_texts(path)]
        texts = arranged(texts, evaluated, args.evaluated_after)
    train_topics(texts, args.topics, args.seed, args.chunk_size).save(args.out)
    print(f"{args.out}: {args.topics} topics from {len(texts)} texts")
    return 0
