"""HTML: one fragment that brings its own style, in ASCII, so that it reads the same in every page and encoding."""

from tripleaudit.tables.cells import Cell, Table, runs_of
from tripleaudit.tables.render.escape import html as escape
from tripleaudit.tables.render.lines import GAP, lines_of

STYLE = """\
.ta-table{font:14px/1.35 system-ui,sans-serif;margin:1.5em 0;max-width:100%;overflow-x:auto;color:#1b1b1b}
.ta-table table{border-collapse:collapse;border-top:2px solid #333;border-bottom:2px solid #333}
.ta-table caption{caption-side:top;text-align:left;font-weight:600;padding:0 0 .5em}
.ta-table th,.ta-table td{padding:.3em .7em;vertical-align:top;white-space:nowrap}
.ta-table td{text-align:right;font-variant-numeric:tabular-nums}
.ta-table tbody th{text-align:left;font-weight:400}
.ta-table thead th{text-align:right;vertical-align:bottom}
.ta-table thead th.stub{text-align:left}
.ta-table thead th.group{text-align:center;border-bottom:1px solid #999}
.ta-table thead tr:last-child th{border-bottom:1px solid #333}
.ta-table tbody tr.first th,.ta-table tbody tr.first td{border-top:1px solid #999}
.ta-table .sub{display:block;font-size:.8em;color:#555}
.ta-table .gap{color:#767676}
.ta-table .notes{font-size:.85em;color:#444;margin:.5em 0 0;padding-left:1.2em;max-width:70em}
@media print{.ta-table{overflow:visible;break-inside:avoid;font-size:9pt}}
"""


def to_html(table: Table) -> str:
    """Render as a ``<section>`` with the table, its notes and a style that touches nothing else."""
    stubs = ([table.group_header] if table.has_row_groups else []) + [table.row_header]
    lines = [
        f'<section class="ta-table" id="table-{escape(table.name)}">',
        f"<style>\n{STYLE}</style>",
        "<table>",
        f"<caption>{escape(table.caption)}</caption>",
        "<thead>",
    ]
    depth = 2 if table.has_column_groups else 1
    span = ' rowspan="2"' if depth == 2 else ""
    first = [f'<th class="stub" scope="col"{span}>{escape(text)}</th>' for text in stubs]
    labels = [f'<th scope="col">{escape(column.label)}</th>' for column in table.columns]
    if depth == 2:
        groups = [
            f'<th class="group" scope="colgroup" colspan="{size}">{escape(group)}</th>'
            if group
            else f'<td colspan="{size}"></td>'
            for group, size in runs_of([column.group for column in table.columns])
        ]
        lines += [f"<tr>{''.join(first + groups)}</tr>", f"<tr>{''.join(labels)}</tr>"]
    else:
        lines.append(f"<tr>{''.join(first + labels)}</tr>")
    lines += ["</thead>", "<tbody>"]
    sizes = iter(runs_of([row.group for row in table.rows]))
    left = 0
    for number, row in enumerate(table.rows):
        cells = []
        starts = False
        if table.has_row_groups and not left:
            group, left = next(sizes)
            starts = number > 0
            cells.append(f'<th scope="rowgroup" rowspan="{left}">{escape(group)}</th>')
        left -= 1
        cells.append(f'<th scope="row">{escape(row.label)}</th>')
        cells += [_cell(cell) for cell in row.cells]
        opening = '<tr class="first">' if starts else "<tr>"
        lines.append(f"{opening}{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>"]
    if table.notes:
        lines.append(f'<ul class="notes">{"".join(f"<li>{escape(note)}</li>" for note in table.notes)}</ul>')
    lines.append("</section>")
    return ("\n".join(lines) + "\n").encode("ascii", "xmlcharrefreplace").decode("ascii")


def _cell(cell: Cell) -> str:
    lines = lines_of(cell)
    main = escape(lines.main) if cell.text is not None else _numbers(lines.main)
    if lines.main == GAP:
        main = f'<span class="gap">{main}</span>'
    if cell.bold:
        main = f"<strong>{main}</strong>"
    parts = [main]
    if lines.interval:
        parts.append(f'<span class="sub">{_numbers(lines.interval)}</span>')
    if lines.reported:
        parts.append(f'<span class="sub">reported {_numbers(lines.reported)}</span>')
    if lines.difference:
        parts.append(f'<span class="sub">{_numbers(f"Δ {lines.difference}")}</span>')
    return f"<td>{''.join(parts)}</td>"


def _numbers(text: str) -> str:
    return escape(text.replace("-", "−"))
