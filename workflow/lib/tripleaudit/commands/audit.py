"""``tripleaudit audit``: how much of a test set its training set gives away."""

import argparse

from tripleaudit.arguments import add_reading

HELP = "audit a test set against its training set: triple types, strata, cardinality"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", metavar="TRAIN", help="training set, any corpus format")
    parser.add_argument("test", metavar="TEST", help="test set, any corpus format")
    add_reading(parser, "both files")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.corpora.readers import read_corpus
    from tripleaudit.corpora.readers.records import parse_columns
    from tripleaudit.protocols.leakage import leakage
    from tripleaudit.protocols.strata import audit_corpus

    columns = parse_columns(args.column)
    train, test = (read_corpus(path, format=args.format, columns=columns) for path in (args.train, args.test))
    value = audit_corpus(train.sentences, test.sentences)
    # Reading removes repetitions, so that only the reader's report still knows of them.
    value["duplicates"] = test.report.duplicates
    value["missing_entities"] = test.report.found.get("missing", 0)
    value["leakage"] = leakage(train.sentences, test.sentences)
    print(json.dumps(value, ensure_ascii=False, indent=2) if args.json else _readable(value))
    return 0


def _readable(value: dict) -> str:
    from tripleaudit.commands.check import readable_leakage
    from tripleaudit.tables.render.escape import clean

    train = value["train"]
    with_triples = value["sentences"] - value["zero_triple_sentences"]
    lines = [
        f"{'':<28}{'Training':>10}{'Test':>10}",
        f"{'Sentences':<28}{train['sentences']:>10}{value['sentences']:>10}",
        f"{'  with zero triples':<28}{train['zero_triple_sentences']:>10}{value['zero_triple_sentences']:>10}",
        f"{'Triples (once a sentence)':<28}{train['triples']:>10}{value['triples']:>10}",
        "",
        f"{'Test triples by type':<28}{'Count':>10}{'Share':>10}",
        *_shares(value["triple_types"]),
        "",
        f"{'Test sentences by stratum':<28}{'Count':>10}{'Share':>10}",
        *_shares(value["strata"]),
        f"{'  Total with triples':<28}{with_triples:>10}",
        "",
        f"Triples repeated inside a test sentence: {value['duplicates']}",
        f"Entity mentions that are not in their test sentence: {value['missing_entities']}",
    ]
    unseen = value["unseen_relations"]
    if unseen:
        names = ", ".join(f"{clean(name)} ({count})" for name, count in unseen.items())
        lines.append(f"Relations that training lacks, with their test triples: {names}")
    else:
        lines.append("Relations that training lacks: none")
    lines += ["", *readable_leakage(value["leakage"], "Test sentences that are in training")]
    return "\n".join(lines)


def _shares(parts: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"{'  ' + name.replace('_', ' ').capitalize():<28}{part['count']:>10}{100 * part['share']:>8.2f} %"
        for name, part in parts.items()
    ]
