"""``tripleaudit collection``: triples of large text collections, shard by shard, and what they cost."""

import argparse
import os
from pathlib import Path

from tripleaudit.arguments import NUMBER, POSITIVE, SHARE, Real, Whole

HELP = "extract triples from a large text collection, shard by shard"


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")

    index = steps.add_parser("index", help="divide text files into shards")
    index.add_argument("files", nargs="+", metavar="FILE", help="files, folders or patterns (.txt, .jsonl, also .gz)")
    index.add_argument("--shards", type=NUMBER, required=True, metavar="N")
    index.add_argument("--skip-broken", action="store_true", help="accept lines that are not UTF-8; they are left out")
    index.add_argument("--out", type=Path, required=True, metavar="FILE")
    index.set_defaults(work=_index)

    extract = steps.add_parser("extract", help="extract the triples of one shard")
    extract.add_argument("--index", type=Path, required=True, metavar="FILE", help="what 'index' wrote")
    extract.add_argument("--shard", required=True, metavar="NAME", help="such as 00000-of-00016")
    extract.add_argument("--model", type=Path, required=True, metavar="DIR", help="folder of the trained extractor")
    extract.add_argument("--gate", type=Path, metavar="DIR", help="folder of the trained classifier")
    extract.add_argument("--settings", default="{}", metavar="JSON", help="batch_size, window, threshold, max_chars, …")
    extract.add_argument("--threads", type=Whole(), default=0, help="CPU threads (default: PyTorch's choice)")
    extract.add_argument(
        "--gpu",
        default=os.environ.get("TRIPLEAUDIT_GPU", "auto"),
        choices=("auto", "0", "1"),
        help="auto uses a GPU where there is one (default: TRIPLEAUDIT_GPU, else auto)",
    )
    extract.add_argument(
        "--gpus", type=Whole(), default=1, metavar="N", help="GPUs of the job; 0 hides all (default: 1)"
    )
    extract.add_argument("--out", type=Path, required=True, metavar="FILE", help="triples (.jsonl.gz)")
    extract.add_argument("--facts", type=Path, required=True, metavar="FILE", help="counts and times (.json)")
    extract.set_defaults(work=_extract)

    join = steps.add_parser("join", help="list the shards, so that their folder reads as one file")
    join.add_argument("facts", nargs="+", type=Path, metavar="FILE", help="of each shard, in order")
    join.add_argument("--name", required=True, help="of the collection")
    join.add_argument("--out", type=Path, required=True, metavar="FILE", help="shards.json beside the shards")
    join.set_defaults(work=_join)

    cost = steps.add_parser("cost", help="what collections of other sizes cost, as Markdown")
    cost.add_argument("--measured", type=Path, required=True, metavar="FILE", help="shards.json of a run with the gate")
    cost.add_argument("--ungated", type=Path, metavar="FILE", help="shards.json of a run without (default: computed)")
    cost.add_argument("--sentences", type=Real(1), nargs="+", default=[1e6, 1e7, 1e8, 1e9], metavar="N")
    cost.add_argument("--shard", type=NUMBER, default=100_000, metavar="N", help="sentences of a job (default: 100000)")
    cost.add_argument(
        "--faster", type=POSITIVE, nargs="*", default=[], metavar="F", help="assume models that run F times as fast"
    )
    cost.add_argument(
        "--share", type=SHARE, metavar="P", help="let the gate let this share through (default: measured)"
    )
    cost.add_argument("--cpu", action="store_true", help="compute from CPU time instead of the clock")
    cost.set_defaults(work=_cost)


def run(args: argparse.Namespace) -> int:
    args.work(args)
    return 0


def _index(args: argparse.Namespace) -> None:
    from tripleaudit.collection.files import collection_files
    from tripleaudit.collection.index import build_index, write_index
    from tripleaudit.errors import UserError

    if args.shards < 1:
        raise UserError(f"--shards is {args.shards}, expected at least 1")
    index = build_index(collection_files(args.files), args.shards, strict=not args.skip_broken)
    write_index(args.out, index)
    print(f"{index['lines']} lines in {args.shards} shards")


def _extract(args: argparse.Namespace) -> None:
    import logging

    from tripleaudit.collection.extract import extract_shard, settings_from
    from tripleaudit.machine.devices import gpu_slot, policy

    settings, wanted = settings_from(args.settings), policy(args.gpu, args.gpus)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    with gpu_slot(wanted):
        extract_shard(
            args.index, args.shard, args.model, args.gate, args.out, args.facts, settings,
            gpu=wanted, threads=args.threads,
        )  # fmt: skip


def _join(args: argparse.Namespace) -> None:
    from tripleaudit.collection.join import join_shards

    join_shards(args.name, args.facts, args.out)


def _cost(args: argparse.Namespace) -> None:
    from dataclasses import replace

    from tripleaudit.collection import cost
    from tripleaudit.errors import UserError
    from tripleaudit.files import read_json

    if args.shard < 1 or any(size < 1 for size in args.sentences) or any(factor <= 0 for factor in args.faster):
        raise UserError("--sentences and --shard need numbers from 1, --faster numbers above 0")
    if args.share is not None and not 0 <= args.share <= 1:
        raise UserError(f"--share is {args.share}, expected a share from 0 to 1")
    clock = "cpu_seconds" if args.cpu else "seconds"
    gated = cost.rates(read_json(args.measured), clock)
    without = cost.rates(read_json(args.ungated), clock) if args.ungated else cost.ungated(gated)
    if args.share is not None:
        gated = replace(gated, share=args.share)
    print(cost.parts_table({"with gate": gated, "without": without}))
    print(f"\n{cost.size_table(gated, without, args.sentences, args.shard, args.faster)}")
    print(f"\n{cost.worth(gated, without)}")
