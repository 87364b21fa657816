"""Answers of the tables about the data sets, from the audits."""

from tripleaudit.files import read_json
from tripleaudit.report.answers._words import NOT_MEASURED, several
from tripleaudit.tables import labels
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import number


def triple_types(inputs: TableInputs) -> str:
    found = [
        f"{_where(key)}: {_share(audit, 'entirely_seen')} entirely, {_share(audit, 'partially_seen')} partially and "
        f"{_share(audit, 'unseen')} not at all"
        for key, audit in _originals(inputs)
        if audit.get("triples")
    ]
    return f"Of the test triples, training has seen — {several(found)}." if found else NOT_MEASURED


def split_sizes(inputs: TableInputs) -> str:
    found = []
    for key, audit in _originals(inputs):
        sizes = audit.get("splits", {})
        if sizes:
            counts = " / ".join(f"{sizes[name]['sentences_with_triples']:,}" for name in labels.SPLITS if name in sizes)
            found.append(f"{_where(key)} {counts}")
    others = sorted({protocol for _, protocol in inputs.audits if protocol != "original"})
    if not found:
        return NOT_MEASURED
    more = f"; the table adds the sizes after {len(others)} further protocols" if len(others) > 1 else ""
    more = "; the table adds the sizes after one further protocol" if len(others) == 1 else more
    return (
        f"The original splits have (sentences with triples for training / validation / test): {several(found)}{more}."
    )


def strata_sizes(inputs: TableInputs) -> str:
    found = []
    for key, audit in _originals(inputs):
        strata = audit.get("strata", {})
        if "unseen" in strata:
            found.append(
                f"{_where(key)} {strata['entirely_seen']['count']:,} sentences whose triples are all entirely seen and "
                f"{strata['unseen']['count']:,} whose triples are all unseen"
            )
    return f"Type F1 rests, in the original test sets, on — {several(found)}." if found else NOT_MEASURED


def cardinality_sizes(inputs: TableInputs) -> str:
    found = []
    for key, audit in _originals(inputs):
        test = audit.get("cardinality", {}).get("test")
        if test and test["sentences"]:
            share = 100 * test["zero_triple_sentences"] / test["sentences"]
            found.append(
                f"{_where(key)} {number(share, 1)} % ({test['zero_triple_sentences']:,} of {test['sentences']:,})"
            )
    return f"Of the test sentences, these have nothing to extract: {several(found)}." if found else NOT_MEASURED


def collection(inputs: TableInputs) -> str:
    found = []
    for path in inputs.files.get("collection", []):
        one = read_json(path)
        counts = one["counts"]
        found.append(
            f"{one['collection']}: {counts['triples']:,} triples in {counts['with_triples']:,} of "
            f"{counts['sentences']:,} sentences"
        )
    return f"The extractor found — {several(found)}." if found else NOT_MEASURED


def _originals(inputs: TableInputs):
    names = inputs.names("corpora", [corpus for corpus, _ in inputs.audits], tuple(labels.CORPORA))
    for corpus in names:
        if (corpus, "original") in inputs.audits:
            yield corpus, inputs.audits[corpus, "original"]


def _where(corpus: str) -> str:
    return labels.corpus(corpus)


def _share(audit: dict, kind: str) -> str:
    return f"{number(100 * audit['triple_types'][kind]['share'], 1)} %"


ANSWERS = {
    "triple-types": ("How much of each test set was already in its training set?", triple_types),
    "split-sizes": ("How large are the training, validation and test sets of each protocol?", split_sizes),
    "strata-sizes": ("How many test sentences does each kind of triple rest on?", strata_sizes),
    "cardinality-sizes": ("How many sentences have no triple at all?", cardinality_sizes),
    "collection": ("What do the text collections hold, and how fast were they read?", collection),
}
