"""``tripleaudit check-extractor``: the contract tests of an extractor of your own."""

import argparse
from pathlib import Path

from tripleaudit.core.arguments import NUMBER, json_given
from tripleaudit.core.errors import UserError

HELP = "run the contract tests of your own extractor (training, saving, padding, ...)"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "extractor",
        metavar="FILE.py:CLASS",
        help="the extractor, or MODULE:CLASS of an installed package",
    )
    parser.add_argument(
        "--cannot-represent",
        action="append",
        default=[],
        metavar="STRUCTURE",
        help="a structure of triples that the design of the model cannot represent, such as chains; repeat it",
    )
    parser.add_argument(
        "--draws",
        action="store_true",
        help="training batches differ from epoch to epoch (sampled negatives, subjects)",
    )
    parser.add_argument(
        "--encoder",
        type=Path,
        metavar="DIR",
        help="folder of an encoder (default: a random one of two layers)",
    )
    parser.add_argument(
        "--settings",
        default="{}",
        metavar="JSON",
        help="fields of the extractor's settings as a JSON object",
    )
    parser.add_argument(
        "--steps",
        type=NUMBER,
        default=300,
        metavar="N",
        help="most steps of the training that must learn a few sentences (default: 300)",
    )


def run(args: argparse.Namespace) -> int:
    import transformers

    from tripleaudit.core.modules import load_attribute
    from tripleaudit.testing import check_extractor

    transformers.utils.logging.disable_progress_bar()
    settings = json_given("--settings", args.settings)
    extractor = load_attribute(args.extractor, "extractor")
    try:
        check_extractor(
            extractor,
            args.encoder,
            cannot_represent=args.cannot_represent,
            draws=args.draws,
            steps=args.steps,
            **settings,
        )
    except ValueError as error:  # an unknown structure
        raise UserError(f"--cannot-represent: {error}") from error
    except AssertionError as error:
        raise UserError(str(error)) from error
    print(f"{args.extractor}: all contract tests passed")
    return 0
