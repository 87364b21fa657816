"""A comparison as Markdown or a page of HTML."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from markupsafe import Markup

from tripleaudit.core.wording import counted, inflected
from tripleaudit.exchange.comparison import Compared, Comparison
from tripleaudit.exchange.differences import EMPTY, ChangedSentence, Difference
from tripleaudit.protocols.strata import STRATA
from tripleaudit.scoring.significance import ALPHA, MIN_CASES
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.tables.cells import Cell, Column, Row, Table, number
from tripleaudit.tables.grid import mark_notes
from tripleaudit.tables.render import SIGNIFICANT, escape, to_markdown, to_text
from tripleaudit.tables.render.escape import clean
from tripleaudit.tables.render.markup import templates

READS = ("exchange/templates/*",)
TEMPLATES: Final = Path(__file__).parent / "templates"
COLUMNS: Final = (
    Column("Sentences"), Column("A"), Column("B"), Column("B − A"), Column("p"), Column("Δ Prec."), Column("Δ Rec.")
)  # fmt: skip
HEADINGS: Final = {"strata": "Stratum", "cardinality": "Gold triples", "relations": "Relation"}
RELATIONS_IN_TEXT: Final = 10
MOST_SENTENCES: Final = 2000  # on a page


def overview(result: Comparison, significant: str = "Bold") -> Table:
    """Return one row for each pair.

    Args:
        result: the comparison.
        significant: how the form shows significant differences, in words.
    """
    rows = [Row(pair.name, _cells(pair.total, pair.marks)) for pair in result.pairs]
    caption = f"F1 of A ({result.first}) and B ({result.second}), in percent"
    return Table("compare", caption, COLUMNS, rows, "Run", notes=_notes(result, significant))


def details(pair: Compared, most_relations: int | None = None) -> Table:
    """Return rows by stratum, number of triples and relation.

    Args:
        pair: two compared runs.
        most_relations: number of relations to show, those with the smallest corrected p first;
            None shows all in the order of the block.
    """
    rows = [Row("All", _cells(pair.total, pair.marks), "")]
    notes = list(pair.notes)
    for name, block in pair.blocks.items():
        shown = list(block)
        if name == "relations" and most_relations is not None and len(block) > most_relations:
            shown = sorted(
                block, key=lambda one: (one.corrected, -abs(one.change()) * one.sentences)
            )[:most_relations]
            notes.append(f"{len(shown)} of {len(block)} relations are shown.")
        rows += [Row(_label(one.label), _cells(one, pair.marks), HEADINGS[name]) for one in shown]
    return Table("details", pair.name or "All runs", COLUMNS, rows, "", "", notes=notes)


def to_page(result: Comparison, form: str) -> str:
    """Return everything as ``md`` or ``html``."""
    max_sentences = MOST_SENTENCES // max(1, len(result.pairs))
    language = {"html": escape.html, "md": escape.markdown}[form]
    pairs = [(pair, details(pair), max_sentences) for pair in result.pairs]
    text = _render(result, form, language, pairs)
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii") if form == "html" else text


def to_terminal(result: Comparison, max_sentences: int) -> str:
    """Return the text of a terminal.

    Of several pairs it has the overview only; of one pair the relations with the smallest corrected p, and
    ``max_sentences`` changed sentences.
    """
    pairs = result.pairs if len(result.pairs) == 1 else ()
    shown = [(pair, details(pair, RELATIONS_IN_TEXT), max_sentences) for pair in pairs]
    return _render(result, "txt", clean, shown).rstrip()


def _render(
    result: Comparison,
    form: str,
    language: Callable[[str], str],
    pairs: Sequence[tuple[Compared, Table, int]],
) -> str:
    """Return a template filled with the overview, and of each pair its details and sentences."""
    template = templates(TEMPLATES, language).get_template(f"comparison.{form}")
    sections = [
        (pair, table, _heading(pair, limit), (pair.changed or ())[:limit])
        for pair, table, limit in pairs
    ]
    return template.render(
        overview=overview(result, SIGNIFICANT if form == "txt" else "Bold"),
        pairs=sections,
        describe_triples=_describe_triples,
        to_markdown=lambda table: Markup(to_markdown(table).strip()),
        to_text=lambda table: Markup(to_text(table)),
    )


def _cells(one: Difference, marks: tuple[str, str]) -> tuple[Cell, ...]:
    either = "".join(dict.fromkeys("".join(marks)))

    def change(metric: str) -> Cell:
        bound = (one.bounds or {}).get(metric)
        low, high = (100 * bound.low, 100 * bound.high) if bound else (None, None)
        value = 100 * one.change(metric)
        bold = metric == "f1" and one.clear
        return Cell(value, low=low, high=high, text=number(value, 1, sign=True) + either, bold=bold)

    first, second = (
        Cell(100 * side[2], mark=mark)
        for side, mark in zip((one.first, one.second), marks, strict=True)
    )
    tested = Cell(one.corrected, digits=4)
    is_share = one.label == EMPTY  # which has no precision and recall
    return (
        Cell(one.sentences, digits=0),
        first,
        second,
        change("f1"),
        tested,
        Cell() if is_share else change("precision"),
        Cell() if is_share else change("recall"),
    )


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize() if name in STRATA else name


def _notes(result: Comparison, significant: str) -> list[str]:
    notes = [
        MATCHINGS[result.matching].note,
        "B − A is in points, with its 95 % interval in brackets (bootstrap over sentences and seeds).",
        "p: randomisation test of F1, Holm-corrected within its block.",
        f"{significant}: significant (p below {ALPHA}, interval without 0, at least {MIN_CASES} sentences).",
    ]
    if all(len(seeds) == 1 for pair in result.pairs for seeds in pair.seeds):
        notes.append(
            "One run of each side: intervals and p are about these outputs; other trainings of the same "
            "systems may differ."
        )
    if any(
        one.label == EMPTY for pair in result.pairs for one in pair.blocks.get("cardinality", ())
    ):
        notes.append(
            "Sentences without gold triples have no F1; the table gives the share for which nothing is predicted."
        )
    notes += mark_notes("".join(mark for pair in result.pairs for mark in pair.marks))
    for side, names in zip("AB", result.alone, strict=True):
        if names:
            more = ", …" if len(names) > 3 else ""
            notes.append(
                f"{counted(len(names), 'run{s} occur{v}')} only in {side} and "
                f"{inflected(len(names), '{were}')} not compared: "
                f"{', '.join(names[:3])}{more}."
            )
    if result.unequal:
        notes.append(
            f"{counted(len(result.unequal), 'run{s} of further seeds {are}')} left out, because the other "
            "side has fewer."
        )
    return notes


def _heading(pair: Compared, shown: int) -> str:
    changed = pair.changed or ()
    better = sum(sentence.gain > 0 for sentence in changed)
    worse = sum(sentence.gain < 0 for sentence in changed)
    neither = len(changed) - better - worse
    text = f"{len(changed)} of {pair.total.sentences} sentences changed: {better} for the better, {worse} for the worse"
    if neither:
        text += f", {neither} neither"
    return f"{text}; the {shown} that changed most" if 0 < shown < len(changed) else text


def _describe_triples(sentence: ChangedSentence, runs: int) -> Iterator[tuple[str, str, str]]:
    """Yield verdict, sign and words of each triple that changed.

    Args:
        sentence: a changed sentence.
        runs: number of runs of each side.
    """
    for triple in sentence.triples:
        gained = triple.second > triple.first
        verdict = "better" if gained == triple.correct else "worse"
        frequency = f" (in {triple.first} → {triple.second} of {runs} runs)" if runs > 1 else ""
        kind = "correct" if triple.correct else "wrong"
        words = " | ".join(map(clean, triple.strings))
        yield verdict, "+" if gained else "−", f"{kind}: {words}{frequency}"
