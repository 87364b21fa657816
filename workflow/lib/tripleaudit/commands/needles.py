"""``tripleaudit needles discover``: choose Schema.org types for documents."""

import argparse

from tripleaudit.core.arguments import NUMBER, SHARE, Whole

HELP = "choose Schema.org types for documents with a language model, and write them as a schema"


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    discover = steps.add_parser(
        "discover", help="choose Schema.org types for documents, and write them as a schema"
    )
    discover.add_argument(
        "--documents", nargs="+", required=True, metavar="PATH", help="text files or folders"
    )
    discover.add_argument(
        "--threshold", type=SHARE, default=0.5, help="least relevance of a type (default: 0.5)"
    )
    discover.add_argument(
        "--top", type=NUMBER, metavar="N", help="keep the N most relevant types instead"
    )
    discover.add_argument(
        "--max-tokens", type=NUMBER, default=1000, metavar="N", help="of the answer (default: 1000)"
    )
    discover.add_argument(
        "--section", default="{}", metavar="JSON|FILE", help="section 'generative', or a study file"
    )
    discover.add_argument(
        "--budget-of", default="study", metavar="STUDY", help="whose budget is used"
    )
    discover.add_argument(
        "--endpoint", required=True, metavar="NAME", help="an endpoint of the section"
    )
    discover.add_argument("--gguf", nargs="*", default=[], metavar="FILE", help="model to serve")
    discover.add_argument(
        "--threads", type=Whole(), default=0, help="CPU threads of a local server"
    )
    discover.add_argument(
        "--server-log", default="", metavar="FILE", help="output of a local server"
    )
    discover.add_argument("--out", required=True, metavar="FILE", help="the schema")


def run(args: argparse.Namespace) -> int:
    import logging

    from tripleaudit.core.errors import UserError
    from tripleaudit.core.files import write_json
    from tripleaudit.llm.section import Access, read_section
    from tripleaudit.needles.generation import (
        discover_types,
        discovered_schema,
        fitting_types,
        joined_types,
    )
    from tripleaudit.needles.haystack import read_documents
    from tripleaudit.needles.schema import load_schema, shipped_schemas

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    documents, section = read_documents(args.documents), read_section(args.section, args.budget_of)
    with Access(
        *section, args.endpoint, args.gguf, args.threads, args.server_log
    ).client() as client:
        talks = {document.id: discover_types(document, args.max_tokens) for document in documents}
        rows = joined_types(client.drive(talks).values())
    for row in rows:
        print(f"{row['relevance']:.2f}  {row['type']:<24} {row['reason']}")
    types = fitting_types(rows, args.threshold, args.top)
    if not types:
        raise UserError(
            "schema discovery: the answers name no type that is relevant enough; lower --threshold"
        )
    known = {
        name: kind
        for path in shipped_schemas().values()
        for name, kind in load_schema(path).types.items()
    }
    write_json(args.out, discovered_schema(types, known))
    return 0
