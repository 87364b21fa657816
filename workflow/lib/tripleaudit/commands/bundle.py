"""``tripleaudit bundle``: the results of a study in one verified archive, and back into a folder."""

import argparse
from pathlib import Path

HELP = "put the results of a study into one verified archive, or unpack one"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", type=Path, help="results/STUDY, or a bundle to unpack")
    parser.add_argument("--out", required=True, metavar="FILE", type=Path, help="the archive (.zip), or the folder")
    parser.add_argument("--config", metavar="YAML", type=Path, help="the study's own file; its settings go in, too")
    parser.add_argument("--only", default="", metavar="PART", help="only runs with this in their path")
    parser.add_argument("--force", action="store_true", help="write over an archive that is there")


def run(args: argparse.Namespace) -> int:
    import tempfile

    from tripleaudit.arguments import check_folder
    from tripleaudit.corpora.bundled import open_bundle
    from tripleaudit.errors import UserError
    from tripleaudit.exchange.bundling import write_bundle

    if not args.source.exists():
        raise UserError(f"{args.source}: no such file or folder")
    if args.source.is_file():
        check_folder(args.out, force=False)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=args.out.parent, prefix=f".{args.out.name}.") as work:
            open_bundle(args.source, Path(work) / "bundle").replace(args.out)
        print(f"{args.out}: unpacked and verified")
        return 0
    if args.out.suffix != ".zip":
        raise UserError(f"--out {args.out}: expected a file that ends in .zip")
    if args.out.exists() and not args.force:
        raise UserError(f"{args.out}: is there already; expected a new file, or --force")
    manifest = write_bundle(args.source, args.out, args.config, args.only)
    print(f"{args.out}: {len(manifest['files'])} files, {args.out.stat().st_size / 1e6:.1f} MB")
    return 0
