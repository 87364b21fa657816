"""``tripleaudit serve-lm``: make a model folder of a GGUF file, or serve one to OpenAI clients until a signal comes."""

import argparse
import logging
import os

from tripleaudit.arguments import POSITIVE, SEED, Whole

HELP = "convert a GGUF language model, or serve one on a free port of this machine"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--gguf", metavar="FILE", help="convert this file into --model-dir, and do not serve it")
    parser.add_argument("--model-dir", required=True, metavar="DIR", help="model folder (safetensors and tokenizer)")
    parser.add_argument("--name", default="local", help="what requests call the model (default: %(default)s)")
    parser.add_argument("--url-file", metavar="FILE", help="gets the base URL once the server answers")
    parser.add_argument("--server-log", metavar="FILE", help="output of the server (default: URL file + .log)")
    parser.add_argument("--device", default="auto", help="cpu, cuda:0, … (default: %(default)s)")
    parser.add_argument("--seed", type=SEED, help="seed of sampling")
    parser.add_argument("--threads", type=Whole(), help="CPU threads of the model")
    parser.add_argument(
        "--start-timeout", type=POSITIVE, default=300.0, metavar="S", help="seconds until it must answer"
    )
    parser.add_argument("--until-stdin-closes", action="store_true", help="stop also when standard input ends")


def run(args: argparse.Namespace) -> int:
    from tripleaudit.errors import UserError
    from tripleaudit.llm import local_lm
    from tripleaudit.machine.devices import gpu_slot

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    if args.gguf:
        local_lm.convert_gguf(args.gguf, args.model_dir)
        return 0
    if not args.url_file:
        raise UserError("serve-lm: --url-file is missing; expected a path for the server's address")
    with gpu_slot("0" if args.device == "cpu" else os.environ.get("TRIPLEAUDIT_GPU", "auto")):
        return local_lm.serve(
            args.model_dir,
            args.name,
            args.url_file,
            args.server_log or f"{args.url_file}.log",
            local_lm.Serving(args.device, args.seed, args.threads, args.until_stdin_closes, args.start_timeout),
        )
