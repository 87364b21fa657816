"""``tripleaudit needles discover``: choose the Schema.org types whose entities become needles.

MINEA (:mod:`tripleaudit.commands.minea`) inserts entities, the needles, into documents and counts
how many of them a language model extracts. A schema lists the types of these entities. This command
asks a language model which types occur in the documents, and writes them as a schema. The workflow
runs it for studies with ``needles/discover``; to choose types for a command of your own, run it
first and give its file to ``tripleaudit minea --schema``.
"""

import argparse

from tripleaudit.core.arguments import NUMBER, SHARE, Whole

HELP = "let a language model choose the Schema.org types of the entities that minea inserts into your documents"


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    discover = steps.add_parser(
        "discover", help="choose Schema.org types for documents, and write them as a schema"
    )
    discover.add_argument(
        "--documents", nargs="+", required=True, metavar="PATH", help="text files or folders"
    )
    discover.add_argument(
        "--threshold",
        type=SHARE,
        default=0.5,
        metavar="X",
        help="minimum relevance of a type (default: 0.5)",
    )
    discover.add_argument(
        "--top", type=NUMBER, metavar="N", help="keep the N most relevant types instead"
    )
    discover.add_argument(
        "--max-tokens",
        type=NUMBER,
        default=1000,
        metavar="N",
        help="longest answer in tokens (default: 1000)",
    )
    discover.add_argument(
        "--section",
        default="{}",
        metavar="JSON|FILE",
        help="where the endpoints are defined: the section 'generative' of a study, or the study's file",
    )
    discover.add_argument(
        "--budget-of",
        default="study",
        metavar="STUDY",
        help="study whose budget is charged (with --section JSON)",
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
    from tripleaudit.needles.schema import EntityType, load_schema, shipped_schemas

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    documents = read_documents(args.documents)
    section, study = read_section(args.section, args.budget_of)
    access = Access(
        section=section,
        study=study,
        endpoint=args.endpoint,
        gguf=args.gguf,
        threads=args.threads,
        server_log=args.server_log,
    )
    with access.client() as client:
        talks = {document.id: discover_types(document, args.max_tokens) for document in documents}
        rows = joined_types(client.drive(talks).values())
    for row in rows:
        print(f"{row['relevance']:.2f}  {row['type']:<24} {row['reason']}")
    types = fitting_types(rows, args.threshold, args.top)
    if not types:
        raise UserError(
            "schema discovery: the answers name no type that is relevant enough; lower --threshold"
        )
    known_types: dict[str, EntityType] = {}
    for path in shipped_schemas().values():
        known_types.update(load_schema(path).types)
    write_json(args.out, discovered_schema(types, known_types))
    return 0
