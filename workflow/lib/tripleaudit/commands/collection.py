"""``tripleaudit collection``: triples of large text collections on Ray Data, and what they cost."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from tripleaudit.arguments import NUMBER, SHARE, Real, add_gpus

HELP = "extract triples from a large text collection, on one machine or a cluster"


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")

    run = steps.add_parser("run", help="extract a collection, going on from what is finished")
    run.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="files, folders, patterns and addresses (s3://…): .txt, .jsonl, .csv, .tsv, also .gz or .zst, .parquet",
    )
    who = run.add_mutually_exclusive_group(required=True)
    who.add_argument("--model", metavar="DIR", help="folder of the trained extractor")
    who.add_argument("--system", metavar="JSON", help="a system that extracts instead: name, kind, settings, job …")
    run.add_argument("--gate", metavar="DIR", help="folder of the trained classifier that reads every sentence first")
    run.add_argument("--out", required=True, metavar="DIR", help="folder or address of the result")
    run.add_argument("--name", help="of the collection (default: the folder's)")
    run.add_argument("--threshold", type=SHARE, default=0.5, metavar="P", help="of the gate (default: 0.5)")
    run.add_argument("--text-column", default="text", metavar="NAME", help="column or key of the text (default: text)")
    run.add_argument("--id-column", default="id", metavar="NAME", help="column or key of the id (default: id)")
    run.add_argument("--max-chars", type=NUMBER, default=10_000, metavar="N", help="leave out longer texts")
    run.add_argument("--skip-broken", action="store_true", help="leave broken rows out and count them")
    run.add_argument("--only-triples", action="store_true", help="write only the sentences that have triples")
    run.add_argument("--block", type=NUMBER, default=20_000, metavar="N", help="rows of a block (default: 20000)")
    run.add_argument("--batch-size", type=NUMBER, default=64, metavar="N", help="sentences at a time (default: 64)")
    run.add_argument("--workers", type=NUMBER, default=1, metavar="N", help="processes with the models (default: 1)")
    run.add_argument(
        "--share", type=Real(0, 1, open=True), default=1.0, metavar="S", help="of a GPU, for a worker (default: 1)"
    )
    run.add_argument("--threads", type=NUMBER, default=1, help="CPU threads of a worker (default: 1)")
    run.add_argument("--dry-run", action="store_true", help="only say what it will take, from a sample")
    run.add_argument("--sample", type=NUMBER, default=1000, metavar="N", help="sentences of it (default: 1000)")
    run.add_argument("--replace", action="store_true", help="make blocks of another configuration again")
    add_gpus(run)
    run.set_defaults(work=_run)


def run(args: argparse.Namespace) -> int:
    args.work(args)
    return 0


def _run(args: argparse.Namespace) -> None:
    import logging

    from tripleaudit import code
    from tripleaudit.collection.cluster import Cluster
    from tripleaudit.collection.cost import forecast
    from tripleaudit.collection.engine import Collection, run_collection
    from tripleaudit.collection.finished import folder_of
    from tripleaudit.collection.pipeline import Models
    from tripleaudit.collection.reading import Reading
    from tripleaudit.descriptors import SYSTEM_KINDS
    from tripleaudit.extractors.registry import class_reference, saved_extractor_name
    from tripleaudit.machine.devices import devices, gpu_slot, policy

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    wanted = policy(args.gpu, args.gpus)
    elsewhere = os.environ.get("RAY_ADDRESS")
    on_gpu = wanted == "1" or wanted == "auto" and not elsewhere and devices()
    folders = [folder for folder in (args.model, args.gate) if folder]
    code_files = {class_reference(saved_extractor_name(folder)).rpartition(":")[0] for folder in folders}
    system, deciding = _system(args.system)
    code_files |= {SYSTEM_KINDS.need(system.kind).module} if system else set()
    own = {one for one in code_files if one.endswith(".py")}
    collection = Collection(
        name=args.name or Path(args.out).name,
        files=args.files,
        target=folder_of(args.out),
        models=Models(
            extractor=str(Path(args.model).absolute()) if args.model else "",
            gate=str(Path(args.gate).absolute()) if args.gate else None,
            batch_size=args.batch_size,
            threshold=args.threshold,
            gpu="1" if on_gpu else "0",
            threads=args.threads,
            system=system,
        ),
        reading=Reading(args.block, args.text_column, args.id_column, args.max_chars, args.skip_broken),
        write="triples" if args.only_triples else "all",
        code=code.digest_of("collection.pipeline", "training.stream", *sorted(code_files - own), files=sorted(own)),
        deciding=deciding,
    )
    with gpu_slot("0" if elsewhere else wanted, args.gpus):
        if args.dry_run:
            print("\n".join(forecast(collection, args.workers, args.sample)))
        else:
            cluster = Cluster(args.workers, args.share if on_gpu else 0.0)
            run_collection(collection, cluster, replace=args.replace)


def _system(text: str | None) -> tuple[Any, dict[str, Any]]:
    """Return the system that ``--system`` says, and what of its settings decides its answers.

    Raises:
        UserError: it is no such object.
    """
    from tripleaudit.collection.pipeline import System
    from tripleaudit.errors import UserError

    if text is None:
        return None, {}
    try:
        given = json.loads(text)
        deciding = given.pop("deciding", given["settings"])
        return System(**{**given, "files": tuple(given.get("files", ()))}), deciding
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"--system: expected an object with name, kind, settings and job, got {text[:80]}") from error
