"""The tables by paper and theme: builders and answers, and one ``TableSpec`` for each table."""

from dataclasses import replace

from tripleaudit.descriptors import TABLES
from tripleaudit.errors import UserError
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Table


def build_table(name: str, inputs: TableInputs) -> Table:
    """Build one table.

    Raises:
        UserError: there is no table of this name, or the builder of a plugin returns something else.
    """
    if name not in TABLES:
        raise UserError(f"there is no table {name!r}; expected one of {', '.join(sorted(TABLES))}")
    table = TABLES[name].build(inputs)
    if not isinstance(table, Table):
        raise UserError(f"table {name}: its builder returned {type(table).__name__}, expected a Table")
    return replace(table, name=name)
