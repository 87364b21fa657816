"""``tripleaudit gre-system``: the workflow's scoring of one system of a data set with the GREScores."""

import argparse

from tripleaudit.arguments import NUMBER, Whole

HELP = "score one system of a data set with the GREScores"
INTERNAL = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spec", required=True, metavar="JSON", help="the system and settings; files by number")
    parser.add_argument("--files", required=True, nargs="+", metavar="FILE", help="the files of the spec, in order")
    parser.add_argument("--study", required=True, metavar="NAME")
    parser.add_argument("--embedder", nargs="*", default=[], metavar="FILE", help="config.json of an encoder's folder")
    parser.add_argument("--batch-size", type=NUMBER, default=64, metavar="N", help="strings embedded at once")
    parser.add_argument("--lda", nargs="*", default=[], metavar="FILE", help="lda.json of a topic model's folder")
    parser.add_argument("--section", metavar="JSON|FILE", help="section with the endpoint of --embedding-endpoint")
    parser.add_argument("--embedding-endpoint", metavar="NAME", help="endpoint of the section that embeds strings")
    parser.add_argument("--threads", type=Whole(), metavar="N", help="CPU threads of the embedder")
    parser.add_argument("--out", required=True, metavar="FILE", help="tidy scores, CSV")


def run(args: argparse.Namespace) -> int:
    import contextlib
    import json
    import logging
    import os
    from pathlib import Path

    from tripleaudit.grescores.similarity import Elements, EndpointEncoder, FolderEncoder
    from tripleaudit.grescores.system_scores import score_system
    from tripleaudit.grescores.topics import TopicModel
    from tripleaudit.machine import memory
    from tripleaudit.machine.devices import gpu_slot

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    topics = TopicModel.load(Path(args.lda[0]).parent) if args.lda else None
    with contextlib.ExitStack() as stack:
        elements = None
        if args.embedding_endpoint:
            from tripleaudit.llm.section import open_client, read_section

            section, study = read_section(args.section, args.study)
            client = open_client(section, args.embedding_endpoint, study)
            elements = Elements(EndpointEncoder(stack.enter_context(client), client.endpoint.model))
        elif args.embedder:
            stack.enter_context(gpu_slot(os.environ.get("TRIPLEAUDIT_GPU", "auto")))
            stack.enter_context(
                memory.out_of_memory_advice("embedding", "grescores/embedder/batch_size", args.batch_size)
            )
            if args.threads:
                import torch

                torch.set_num_threads(args.threads)
            elements = Elements(FolderEncoder(Path(args.embedder[0]).parent, args.batch_size))
        score_system(json.loads(args.spec), args.files, args.out, study=args.study, elements=elements, topics=topics)
    return 0
