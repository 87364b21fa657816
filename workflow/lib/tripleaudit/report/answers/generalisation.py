"""Answers of the tables about recall of seen triples and about other test sets."""

from collections.abc import Iterable

from tripleaudit.report.answers._words import Pair, contrast, overlap, sentences
from tripleaudit.tables import labels
from tripleaudit.tables.grid import is_extractor
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import number

FEW = 30  # sentences; a percentile bootstrap of fewer says little


def type_f1(inputs: TableInputs) -> str:
    runs = list(base_runs(inputs))
    cells = [
        Pair(_name(run, runs), _f1(inputs, run, "entirely_seen"), _f1(inputs, run, "unseen"))
        for run in runs
        if run.noise == "none"
    ]
    answer = contrast(cells, "on entirely seen triples", "on unseen triples")
    return sentences(answer, _noising(inputs, runs), _few(inputs, runs))


def rearranged(inputs: TableInputs) -> str:
    return _against_original(inputs, "rearranged", "on the rearranged split")


def augmented(inputs: TableInputs) -> str:
    return _against_original(inputs, "augmented", "on the augmented test set")


def sifted(inputs: TableInputs) -> str:
    runs = list(base_runs(inputs))
    found = {run.protocol for run in inputs.scores.runs if run.protocol.startswith("sift-")}
    pairs = [
        Pair(
            f"{_name(run, runs)} ({labels.protocol(protocol)})",
            _f1(inputs, run),
            _f1(inputs, run._replace(protocol=protocol)),
        )
        for run in runs
        if run.noise == "none"
        for protocol in labels.ordered(found, labels.PROTOCOL_ORDER)
    ]
    return contrast(pairs, "on the original split", "on the overlap-sifted split")


def base_runs(inputs: TableInputs) -> Iterable[RunKey]:
    """The runs that were trained and tested on the original nz split, as the table's options choose them."""
    runs = [run for run in inputs.scores.runs if is_extractor(run.extractor)]
    corpora = inputs.names("corpora", [run.corpus for run in runs], tuple(labels.CORPORA))
    extractors = inputs.names("extractors", [run.extractor for run in runs], labels.RTE_ORDER)
    noises = inputs.names("noises", [run.noise for run in runs], ("none", "noising"))
    known = set(runs)
    for corpus in corpora:
        for extractor in extractors:
            for noise in noises:
                run = RunKey(corpus, "original", "nz", "nz", extractor, noise)
                if run in known:
                    yield run


def _against_original(inputs: TableInputs, protocol: str, words: str) -> str:
    runs = list(base_runs(inputs))
    pairs = [
        Pair(_name(run, runs), _f1(inputs, run), _f1(inputs, run._replace(protocol=protocol)))
        for run in runs
        if run.noise == "none"
    ]
    return contrast(pairs, "on the original split", words)


def _noising(inputs: TableInputs, runs: list[RunKey]) -> str:
    """One sentence on what Entity Noising does to unseen triples, at the pair where it does most."""
    changes = []
    for run in runs:
        plain = run._replace(noise="none")
        if run.noise != "noising" or plain not in runs:
            continue
        before, after = _f1(inputs, plain, "unseen"), _f1(inputs, run, "unseen")
        if before.value is not None and after.value is not None:
            changes.append((round(after.value - before.value, 1), plain, before, after))
    if not changes:
        return ""
    change, run, before, after = max(changes, key=lambda item: abs(item[0]))
    if not change:
        return f"Entity Noising does not move F1 on unseen triples ({before.shown} %)."
    where = "" if len(changes) == 1 else f", most for {_name(run, runs)},"
    return (
        f"Entity Noising moves F1 on unseen triples{where} by {number(change, 1, sign=True)} points, from "
        f"{before.shown} % to {after.shown} %{overlap(before, after)}."
    )


def _few(inputs: TableInputs, runs: list[RunKey]) -> str:
    """Warn of strata that are too small to tell much, with the smallest of them."""
    sizes = [
        (int(value), labels.TYPES[stratum].lower(), labels.corpus(run.corpus))
        for run in runs
        for stratum in ("entirely_seen", "unseen")
        for value in inputs.scores.values(run, stratum, inputs.matching, "sentences").values()
    ]
    if not sizes or min(sizes)[0] >= FEW:
        return ""
    size, stratum, corpus = min(sizes)
    plural = "sentence has" if size == 1 else "sentences have"
    return f"Read this with care: only {size} test {plural} {stratum} triples alone ({corpus})."


def _f1(inputs: TableInputs, run: RunKey, stratum: str = "all"):
    return inputs.scores.cell(run, "f1", stratum=stratum, matching=inputs.matching)


def _name(run: RunKey, among: Iterable[RunKey]) -> str:
    name = labels.extractor(run.extractor)
    return name if len({one.corpus for one in among}) == 1 else f"{name} on {labels.corpus(run.corpus)}"


ANSWERS = {
    "type-f1": ("Does an extractor generalise, or does it recall triples that it was trained on?", type_f1),
    "rearranged": ("What is left of the scores when the split is rearranged to hold more unseen triples?", rearranged),
    "sifted": ("What is left of the scores when test triples that overlap with training are sifted out?", sifted),
    "augmented": ("What is left of the scores when entities of the test set are replaced by new ones?", augmented),
}
