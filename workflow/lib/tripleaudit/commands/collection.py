"""``tripleaudit collection``: triples of large text collections, and what they cost."""

import argparse
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.arguments import NUMBER, SHARE, add_gpus

HELP = "extract triples from a large text collection"
DIVISION = "division.json"
PART = "parts/{}-of-{}.json"


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")

    run = steps.add_parser("run", help="extract a collection, going on from what is finished")
    _add_texts(run)
    _add_models(run)
    run.add_argument(
        "--replace", action="store_true", help="make blocks of another configuration again"
    )
    run.add_argument(
        "--dry-run", action="store_true", help="print what it will take, from a sample, and stop"
    )
    run.add_argument(
        "--sample", type=NUMBER, default=1000, metavar="N", help="sentences of it (default: 1000)"
    )
    run.set_defaults(work=_run)

    divide = steps.add_parser("divide", help="only divide the texts into blocks, for several jobs")
    _add_texts(divide)
    divide.set_defaults(work=_divide)

    part = steps.add_parser(
        "part",
        help="only extract one part of the blocks, in one of several jobs",
        description="Extract one part of the blocks that `divide` has made.",
    )
    _add_texts(part)
    _add_models(part)
    part.add_argument(
        "--number", type=NUMBER, required=True, metavar="K", help="number of the part, from 1"
    )
    part.add_argument(
        "--parts", type=NUMBER, required=True, metavar="N", help="parts of the collection"
    )
    part.set_defaults(work=_part)

    finish = steps.add_parser(
        "finish",
        help="only write the manifest, when all parts are extracted",
        description="Write the manifest of all parts. Give the same options as for `part`.",
    )
    _add_texts(finish)
    _add_models(finish)
    finish.set_defaults(work=_finish)


def _add_texts(parser: argparse.ArgumentParser) -> None:
    """Add the texts, how they are read, and where the result goes."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="files, folders, patterns and addresses (s3://…): .txt, .jsonl, .csv, .tsv, also .gz or .zst, .parquet",
    )
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="folder or address of the result"
    )
    parser.add_argument(
        "--text-column",
        default="text",
        metavar="NAME",
        help="column or key of the text (default: text)",
    )
    parser.add_argument(
        "--id-column", default="id", metavar="NAME", help="column or key of the id (default: id)"
    )
    parser.add_argument(
        "--max-chars", type=NUMBER, default=10_000, metavar="N", help="leave out longer texts"
    )
    parser.add_argument(
        "--skip-broken", action="store_true", help="leave broken rows out and count them"
    )
    parser.add_argument(
        "--block",
        type=NUMBER,
        default=20_000,
        metavar="N",
        help="rows per block, of which an interrupted one is repeated (default: 20000)",
    )


def _add_models(parser: argparse.ArgumentParser) -> None:
    """Add what extracts, and how."""
    extractor = parser.add_mutually_exclusive_group(required=True)
    extractor.add_argument("--model", metavar="DIR", help="folder of the trained extractor")
    extractor.add_argument(
        "--system",
        metavar="JSON",
        help="a system that extracts instead: name, kind, settings, job …",
    )
    parser.add_argument(
        "--gate",
        metavar="DIR",
        help="folder of the trained classifier that reads every sentence first",
    )
    parser.add_argument(
        "--name", metavar="NAME", help="name of the collection (default: the name of the folder)"
    )
    parser.add_argument(
        "--threshold",
        type=SHARE,
        default=0.5,
        metavar="P",
        help="least probability of triples that passes the gate (default: 0.5)",
    )
    parser.add_argument(
        "--only-triples", action="store_true", help="write only the sentences that have triples"
    )
    parser.add_argument(
        "--batch-size",
        type=NUMBER,
        default=64,
        metavar="N",
        help="sentences at a time (default: 64)",
    )
    parser.add_argument(
        "--workers",
        type=NUMBER,
        default=1,
        metavar="N",
        help="processes with the models (default: 1)",
    )
    parser.add_argument(
        "--threads", type=NUMBER, default=1, help="CPU threads of a worker (default: 1)"
    )
    add_gpus(parser)


def run(args: argparse.Namespace) -> int:
    import logging

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    args.work(args)
    return 0


def _run(args: argparse.Namespace) -> None:
    from tripleaudit.collection.cost import forecast
    from tripleaudit.collection.engine import run_collection

    with _collection(args) as collection:
        if args.dry_run:
            print("\n".join(forecast(collection, args.workers, args.sample)))
        else:
            run_collection(collection, args.workers, replace=args.replace)


def _divide(args: argparse.Namespace) -> None:
    from tripleaudit.collection.engine import divide_collection
    from tripleaudit.collection.finished import folder_of

    target = folder_of(args.out)
    division = divide_collection(args.files, _reading(args), target)
    target.write(DIVISION, json.dumps(division, indent=1).encode())


def _part(args: argparse.Namespace) -> None:
    from tripleaudit.collection.engine import extract_part

    with _collection(args) as collection:
        division = json.loads(collection.target.read(DIVISION) or b"{}")
        blocks = extract_part(collection, division, args.number, args.parts, args.workers)
        listed = {name: facts["sha256"] for name, facts in sorted(blocks.items())}
        collection.target.write(
            PART.format(args.number, args.parts), json.dumps(listed, indent=1).encode()
        )


def _finish(args: argparse.Namespace) -> None:
    from tripleaudit.collection.engine import finish_collection

    with _collection(args) as collection:
        finish_collection(collection, json.loads(collection.target.read(DIVISION) or b"{}"))


def _reading(args: argparse.Namespace) -> Any:
    from tripleaudit.collection.reading import Reading

    return Reading(args.block, args.text_column, args.id_column, args.max_chars, args.skip_broken)


@contextlib.contextmanager
def _collection(args: argparse.Namespace) -> Iterator[Any]:
    """Take the GPUs of this command and yield the collection that its options describe."""
    from tripleaudit.collection.engine import Collection
    from tripleaudit.collection.finished import folder_of
    from tripleaudit.collection.pipeline import Models
    from tripleaudit.core import code
    from tripleaudit.core.devices import gpu_slot, policy
    from tripleaudit.extractors.registry import class_reference, saved_extractor_name
    from tripleaudit.systems.spec import SYSTEM_KINDS

    wanted = policy(args.gpu, args.gpus)
    folders = [folder for folder in (args.model, args.gate) if folder]
    modules = {
        class_reference(saved_extractor_name(folder)).rpartition(":")[0] for folder in folders
    }
    system, deciding = _system(args.system)
    if system:
        modules.add(SYSTEM_KINDS.need(system.kind).module)
    files = {module for module in modules if module.endswith(".py")}
    collection = Collection(
        name=args.name or Path(args.out).name,
        files=args.files,
        target=folder_of(args.out),
        models=Models(
            extractor=str(Path(args.model).absolute()) if args.model else "",
            gate=str(Path(args.gate).absolute()) if args.gate else None,
            batch_size=args.batch_size,
            threshold=args.threshold,
            gpu=wanted,
            threads=args.threads,
            system=system,
        ),
        reading=_reading(args),
        write="triples" if args.only_triples else "all",
        code=code.digest_of(
            "collection.pipeline", "training.stream", *sorted(modules - files), files=sorted(files)
        ),
        deciding=deciding,
    )
    with gpu_slot(wanted, args.gpus):
        yield collection


def _system(text: str | None) -> tuple[Any, dict[str, Any]]:
    """Return the system that ``--system`` says, and what of its settings decides its answers.

    Raises:
        UserError: it is no such object.
    """
    from tripleaudit.collection.pipeline import System
    from tripleaudit.core.errors import UserError

    if text is None:
        return None, {}
    try:
        given = json.loads(text)
        deciding = given.pop("deciding", given["settings"])
        return System(**{**given, "files": tuple(given.get("files", ()))}), deciding
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"--system: expected an object with name, kind, settings and job, got {text[:80]}"
        ) from error
