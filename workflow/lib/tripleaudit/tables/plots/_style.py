"""One look for all plots: colours that colour-blind readers can tell apart, markers beside them, text as text."""

import contextlib
from collections.abc import Iterator
from typing import Any

# Okabe and Ito's palette without yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


@contextlib.contextmanager
def applied(salt: str) -> Iterator[None]:
    """Draw without a display, in the common style, with ids that depend on ``salt`` and the content only."""
    import matplotlib

    with matplotlib.rc_context(
        {
            "backend": "svg",
            "svg.hashsalt": salt,
            "svg.fonttype": "none",
            "text.parse_math": False,  # names of corpora and relations may hold dollar signs
            "font.family": "sans-serif",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            "legend.frameon": False,
            "figure.constrained_layout.use": True,
        }
    ):
        yield


def figure(panels: int = 1, *, width: float = 4.2, height: float = 3.2, per_row: int = 3) -> tuple[Any, list[Any]]:
    """Return a figure and its axes, ``per_row`` panels side by side; at least one panel."""
    from matplotlib.figure import Figure

    panels = max(panels, 1)
    columns = min(panels, per_row)
    rows = -(-panels // columns)
    drawn = Figure(figsize=(width * columns, height * rows))
    axes = list(drawn.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[panels:]:
        spare.remove()
    return drawn, axes[:panels]


def look(number: int) -> dict[str, str]:
    """Return colour and marker of the series with this number."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def shared_legend(drawn: Any, axes: list[Any], **options: Any) -> None:
    """Put one legend below all panels, each label once."""
    handles: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        columns = min(len(handles), 5)
        drawn.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns, fontsize=8, **options)


def nothing(drawn: Any, axes: Any) -> Any:
    """Say on an empty panel that there is nothing to show."""
    axes.text(0.5, 0.5, "not measured", ha="center", va="center", color="#767676", transform=axes.transAxes)
    axes.set_axis_off()
    return drawn


def plain(text: str) -> str:
    """Return text that XML can hold."""
    from tripleaudit.tables.render.escape import clean

    return clean(text)


def close(drawn: Any) -> None:
    """Free the figure's memory."""
    drawn.clear()
