"""What a collection of another size costs, computed from what a measured one took.

Seconds grow linearly with sentences, plus what every job spends before its first sentence:

    T(n) = n (o + t + g + p e) + J s        with the gate
    T(n) = n (o + t + e) + J s              without

with n sentences in J jobs, and per sentence o seconds of reading and writing, t of tokenisation, g of the gate, e of
the extractor (per sentence that it reads), p the share that the gate lets through, and s seconds of start per job.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tripleaudit.errors import UserError


@dataclass(frozen=True)
class Rates:
    """Seconds per sentence of each part of the work, the gate's share, and what a job costs besides.

    Attributes:
        other: reading, JSON, compression and writing.
        tokenisation: of every sentence.
        gate: the classifier, of every sentence; 0 without one.
        extraction: the extractor and its decoding, of a sentence that reaches it.
        share: of the sentences that reach the extractor.
        start: seconds of a job before its first sentence.
        bytes: written per sentence.
        peak_mb: most memory of a job.
    """

    other: float
    tokenisation: float
    gate: float
    extraction: float
    share: float
    start: float
    bytes: float
    peak_mb: float

    @property
    def models(self) -> float:
        """Seconds per sentence inside the models."""
        return self.gate + self.share * self.extraction

    @property
    def sentence(self) -> float:
        """Seconds per sentence."""
        return self.other + self.tokenisation + self.models

    def faster(self, factor: float) -> "Rates":
        """Return the rates with models that run ``factor`` times as fast; everything else stays as it is."""
        return replace(self, gate=self.gate / factor, extraction=self.extraction / factor)

    def hours(self, sentences: float, shard: int) -> float:
        """Return the hours of all jobs together."""
        return (sentences * self.sentence + math.ceil(sentences / shard) * self.start) / 3600


def rates(measured: Mapping[str, Any], clock: str = "seconds") -> Rates:
    """Return the rates of a measured collection (its ``shards.json``).

    Args:
        measured: the list of shards.
        clock: ``seconds`` by the clock, or ``cpu_seconds`` of the CPU, which other programs on the machine do not
            lengthen.

    Raises:
        UserError: it has no sentences, or is no list of shards.
    """
    try:
        counts, seconds, shards = measured["counts"], measured[clock], measured["shards"]
        sentences, read = counts["sentences"], counts["let_through"]
        if not sentences:
            raise UserError("the measured collection has no sentences; expected one to compute rates from")
        return Rates(
            other=seconds["other"] / sentences,
            tokenisation=seconds.get("tokenisation", 0.0) / sentences,
            gate=seconds.get("gate", 0.0) / sentences,
            extraction=seconds.get("extraction", 0.0) / max(read, 1),
            share=read / sentences,
            start=seconds["start"] / len(shards),
            bytes=measured["bytes"] / sentences,
            peak_mb=measured["peak_mb"],
        )
    except (KeyError, TypeError) as error:
        raise UserError(f"not the list of shards of a collection: {error} is missing") from error


def ungated(gated: Rates) -> Rates:
    """Return the rates without the gate, as they follow from those with it."""
    return replace(gated, gate=0.0, share=1.0)


def parts_table(named: Mapping[str, Rates]) -> str:
    """Return microseconds per sentence by part, as Markdown; one column for each measurement."""
    rows = {
        "reading, JSON, compression, writing": lambda r: r.other,
        "tokenisation": lambda r: r.tokenisation,
        "gate": lambda r: r.gate,
        "extractor, of a sentence that it reads": lambda r: r.extraction,
        "extractor, of a sentence": lambda r: r.share * r.extraction,
        "**all**": lambda r: r.sentence,
    }
    lines = [f"| µs a sentence | {' | '.join(named)} |", "|---|" + "---:|" * len(named)]
    lines += [
        f"| {label} | {' | '.join(f'{1e6 * part(each):.0f}' for each in named.values())} |"
        for label, part in rows.items()
    ]
    lines.append(f"| sentences a second | {' | '.join(f'{1 / each.sentence:,.0f}' for each in named.values())} |")
    lines.append(f"| share let through | {' | '.join(f'{100 * each.share:.1f} %' for each in named.values())} |")
    lines.append(f"| start of a job, s | {' | '.join(f'{each.start:.1f}' for each in named.values())} |")
    lines.append(f"| bytes written a sentence | {' | '.join(f'{each.bytes:.0f}' for each in named.values())} |")
    lines.append(f"| most memory of a job, MB | {' | '.join(f'{each.peak_mb:.0f}' for each in named.values())} |")
    return "\n".join(lines)


def size_table(
    gated: Rates, without: Rates, sentences: Sequence[float], shard: int, factors: Sequence[float] = ()
) -> str:
    """Return the hours of collections of several sizes, with and without the gate, as Markdown.

    Args:
        gated, without: measured rates.
        sentences: sizes.
        shard: sentences of a job.
        factors: how many times as fast the models might run on another device; a pair of columns each.
    """
    pairs = [("", gated, without)] + [
        (f", models {factor:g} × as fast", gated.faster(factor), without.faster(factor)) for factor in factors
    ]
    heads = ["sentences", "jobs", "output, GB"]
    heads += [f"hours{label}, {kind}" for label, _, _ in pairs for kind in ("gate", "no gate")]
    lines = [f"| {' | '.join(heads)} |", "|" + "---:|" * len(heads)]
    for size in sentences:
        cells = [f"{size:,.0f}", f"{math.ceil(size / shard):,}", f"{size * gated.bytes / 1e9:,.1f}"]
        cells += [_hours(each.hours(size, shard)) for _, first, second in pairs for each in (first, second)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def worth(gated: Rates, without: Rates) -> str:
    """Say what the gate saves, and from which share of rejected sentences on it does."""
    first, second = 1e6 * gated.models, 1e6 * without.models
    change = f"the gate {'saves' if first < second else 'adds'} {100 * abs(1 - first / second):.0f} % there"
    text = f"The models take {first:.0f} µs a sentence with the gate and {second:.0f} µs without: {change}."
    most = (without.extraction - gated.gate) / gated.extraction if gated.extraction else 0.0
    if most <= 0:
        return f"{text} It costs as much as the extractor: only a gate with a smaller encoder can save time."
    return f"{text} It saves time where it lets through less than {100 * min(most, 1.0):.0f} % of the sentences."


def _hours(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
