"""What the sentences of tables say of two numbers, and which of them contradict each other."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tripleaudit.tables.cells import Table

VALUES = r"(\d+\.\d) % [^.:;]*?(?:and|than|in) [^:;]*?(\d+\.\d) %[^:;]*?"
SAYS = (
    (re.compile(VALUES + r": a (?:gap|gain) of"), True),
    (re.compile(r"no difference is shown between [^:]*: (\d+\.\d) % and (\d+\.\d) %"), False),
    (
        re.compile(r"finds more than looking up [^:]*: F1 is (\d+\.\d) %[^.]*?against (\d+\.\d) %"),
        True,
    ),
    (
        re.compile(
            r"is not shown to find more than looking up [^:]*: F1 is (\d+\.\d) %[^.]*?against (\d+\.\d) %"
        ),
        False,
    ),
)
BASE = re.compile(r"F1 of [^.]*? (?:falls from|is) (\d+\.\d)")
COMPARED = re.compile(r"(\d+\.\d)[†‡§]* % \[[^]]*\] on [^(.]*\((no difference)?")


def statements(tables: Iterable[Table]) -> Iterator[tuple[frozenset[str], bool, str]]:
    """Yield two numbers of a table, whether they are said to differ, and the words."""
    for table in tables:
        for said, differ in SAYS:
            yield from (
                (frozenset(found.groups()), differ, found[0])
                for found in said.finditer(table.answer)
            )
        if first := BASE.search(table.lead):
            for found in COMPARED.finditer(table.lead[first.end() :]):
                yield frozenset((first[1], found[1])), not found[2], found[0]
        if table.name == "contamination":
            for row in table.rows:
                if row.label in table.answer:
                    numbers = frozenset(cell.shown for cell in row.cells[:2])
                    yield (
                        numbers,
                        "no loss is shown" not in table.answer,
                        f"{row.label} loses {row.cells[2].shown}",
                    )


def contradictions(tables: Iterable[Table]) -> list[list[str]]:
    by_numbers: dict[frozenset[str], dict[bool, str]] = defaultdict(dict)
    for numbers, differ, words in statements(tables):
        by_numbers[numbers].setdefault(differ, words)
    return [[*said.values()] for said in by_numbers.values() if len(said) > 1]
