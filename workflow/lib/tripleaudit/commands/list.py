"""``tripleaudit list``: the names that a study or an option can use."""

import argparse
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path

HELP = "list corpora with their licences, extractors, studies, systems, tables or profiles"

Entries = Iterator[tuple[str, str]]
"""Names with descriptions of one or more lines."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", choices=KINDS, help=f"one of {', '.join(KINDS)}")


def run(args: argparse.Namespace) -> int:
    entries = list(KINDS[args.kind]())
    width = max(len(name) for name, _ in entries)
    for name, description in entries:
        first, *others = description.split("\n")
        print(f"{name:<{width}}  {first}".rstrip())
        for line in others:
            print(f"{'':<{width}}  {line}")
    return 0


def list_corpora() -> Entries:
    """Yield registered corpora with their splits and licences."""
    from tripleaudit.sources import registry

    for name, corpus in registry.corpora().items():
        licences = " / ".join(corpus.licences)
        yield name, f"{corpus.title} ({', '.join(corpus.splits)})\nlicence: {licences}"


def list_extractors() -> Entries:
    """Yield extractors and classifiers that a study can train."""
    from tripleaudit.extractors.spec import EXTRACTORS

    for name, spec in EXTRACTORS.items():
        yield name, spec.label


def list_studies() -> Entries:
    """Yield shipped studies with the first sentence of their descriptions."""
    from tripleaudit.core.shipped import studies, study_file
    from tripleaudit.core.yaml_files import read_yaml

    for name in studies():
        description = " ".join(str(read_yaml(study_file(name)).get("description", "")).split())
        yield name, _first_sentence(description)


def list_systems() -> Entries:
    """Yield kinds of systems without training: the key that names each in a study."""
    from tripleaudit.systems.spec import SYSTEM_KINDS

    for name, kind in SYSTEM_KINDS.items():
        yield name, kind.label


def list_tables() -> Entries:
    """Yield tables with the question that each answers."""
    from tripleaudit.tables.spec import TABLES

    for name, table in TABLES.items():
        yield name, table.question


def list_profiles() -> Entries:
    """Yield shipped profiles of the workflow with their first comment."""
    from tripleaudit.core.shipped import PROJECT

    for file in sorted((PROJECT / "workflow" / "profiles").glob("*/config.yaml")):
        yield file.parent.name, _first_comment(file)


def _first_sentence(text: str) -> str:
    sentence, mark, _ = text.partition(". ")
    return sentence + mark.strip()


def _first_comment(file: Path) -> str:
    """Return the first sentence of the comment that a file begins with."""
    lines = takewhile(lambda line: line.startswith("#"), file.read_text("utf-8").splitlines())
    comment = " ".join(line.lstrip("# ") for line in lines)
    return _first_sentence(" ".join(comment.split()))


KINDS: dict[str, Callable[[], Entries]] = {
    "corpora": list_corpora,
    "extractors": list_extractors,
    "studies": list_studies,
    "systems": list_systems,
    "tables": list_tables,
    "profiles": list_profiles,
}
"""What can be listed -> function that yields names and descriptions."""
