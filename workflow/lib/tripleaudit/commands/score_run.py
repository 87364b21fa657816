"""``tripleaudit score-run``: the workflow's scoring step, from one prediction file to tidy scores and counts."""

import argparse

HELP = "score one run of a study (used by the workflow)"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--gold", required=True, metavar="FILE", help="gold sentences, project JSONL")
    parser.add_argument("--predictions", metavar="FILE", help="predictions, project JSONL; leave out for a classifier")
    parser.add_argument("--train", metavar="FILE", help="training sentences that decide the triple types")
    parser.add_argument("--decisions", metavar="FILE", help="a classifier's decisions, JSON lines {id, score}")
    parser.add_argument("--threshold", type=float, default=0.5, metavar="T", help="of the classifier (default: 0.5)")
    parser.add_argument("--only-with-triples", action="store_true", help="leave out sentences with zero gold triples")
    parser.add_argument("--keys", required=True, metavar="JSON", help="study, corpus, protocol, … of the run")
    parser.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="resamples; 0 for no intervals")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the resampling")
    parser.add_argument("--out-scores", required=True, metavar="FILE", help="tidy CSV")
    parser.add_argument("--out-counts", required=True, metavar="FILE", help="per-sentence counts, CSV")
    parser.add_argument("--out-curve", metavar="FILE", help="precision-recall curve of a classifier, JSON")


def run(args: argparse.Namespace) -> int:
    import json

    from tripleaudit.errors import UserError
    from tripleaudit.scoring.run import score_classifier, score_run

    try:
        keys = json.loads(args.keys)
    except json.JSONDecodeError as error:
        raise UserError(f"--keys: not valid JSON ({error.msg}); expected an object of run keys") from error
    if not isinstance(keys, dict):
        raise UserError("--keys: expected a JSON object of run keys")
    shared = {
        "gold": args.gold,
        "keys": keys,
        "decisions": args.decisions,
        "threshold": args.threshold,
        "out_scores": args.out_scores,
        "out_counts": args.out_counts,
        "replicates": args.bootstrap,
        "seed": args.seed,
    }
    if args.predictions:
        score_run(**shared, predictions=args.predictions, train=args.train, only_with_triples=args.only_with_triples)
    elif args.decisions:
        score_classifier(**shared, out_curve=args.out_curve)
    else:
        raise UserError("score-run: give --predictions for an extractor or --decisions for a classifier")
    return 0
