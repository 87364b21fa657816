"""Systems of a data set: read, scored, and written as tidy rows of one file."""

import contextlib
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripleaudit.core.devices import gpu_slot
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json
from tripleaudit.core.memory import out_of_memory_advice
from tripleaudit.corpora.verbaliser import Verbaliser
from tripleaudit.grescores.evaluate import Inputs, Result, Settings, evaluate, strings_of
from tripleaudit.grescores.judgements import read_splits, read_verdicts
from tripleaudit.grescores.similarity import (
    PUBLISHED_PHI,
    Elements,
    EndpointEncoder,
    FolderEncoder,
    Matching,
    default_phi,
    read_similarities,
)
from tripleaudit.grescores.systems import System, read_system
from tripleaudit.grescores.topics import TopicModel
from tripleaudit.llm.section import Access
from tripleaudit.scoring.scores import Score, keys_of, provenance_of, sidecar_of, write_scores

TRAINED, SYSTEM = (
    "trained",
    "system",
)  # settings of what the study trained, and of what it queried (section systems)

log = logging.getLogger(__name__)


def write_dataset_scores(
    spec: Mapping[str, Any],
    files: Sequence[str | Path],
    access: Access,
    out: str | Path,
    lda: Sequence[str | Path] = (),
    embedder: Sequence[str | Path] = (),
    batch_size: int = 64,
) -> None:
    """Score the systems of a data set; write tidy scores with a sidecar of their provenance.

    Args:
        spec: systems and settings, as returned by
            :meth:`tripleaudit.study.grescores.GreScores.spec`.
        files: files that the spec refers to by number.
        access: its endpoint, if it names one, embeds strings.
        out: file to write.
        lda: lda.json of a topic model's folder.
        embedder: config.json of an encoder's folder.
        batch_size: number of strings that the encoder embeds at once.

    Raises:
        UserError: a file cannot be read, or a system does not answer the texts of the gold file.
    """
    topics = TopicModel.load(Path(lda[0]).parent) if lda else None
    with contextlib.ExitStack() as stack:
        elements = None
        if access.endpoint:
            client = stack.enter_context(access.client())
            elements = Elements(EndpointEncoder(client, client.endpoint.model))
        elif embedder:
            stack.enter_context(gpu_slot(os.environ.get("TRIPLEAUDIT_GPU", "auto")))
            stack.enter_context(
                out_of_memory_advice("embedding", "grescores/embedder/batch_size", batch_size)
            )
            if access.threads:
                import torch

                torch.set_num_threads(access.threads)
            elements = Elements(FolderEncoder(Path(embedder[0]).parent, batch_size))
        rows, records = _scored(spec, files, access.study, elements, topics)
    write_scores(out, rows)
    inputs = {f"file {number}": path for number, path in enumerate(files)}
    write_json(sidecar_of(out), {**provenance_of(inputs, dict(spec)), "records": records})


def _scored(
    spec: Mapping[str, Any],
    files: Sequence[str | Path],
    study: str,
    elements: Elements | None,
    topics: TopicModel | None,
) -> tuple[list[Score], list[dict[str, Any]]]:
    """Return the rows of all systems, and a record for each of how they were made."""
    gold, matching = (
        read_system(files[spec["gold"]], spec["order"]),
        _matching(spec["matching"], elements),
    )
    rows: list[Score] = []
    records: list[dict[str, Any]] = []
    for entry in spec["systems"]:
        keys, system = entry["keys"], _read(entry, spec, files, gold)
        result = Result({})
        if system.texts:
            found = Inputs(
                system,
                gold if keys["setting"] != SYSTEM else gold.restricted(system.texts),
                read_verdicts(files[entry["factualness"]]) if "factualness" in entry else None,
                read_splits(files[entry["granularity"]]) if "granularity" in entry else None,
                read_similarities(files[entry["similarities"]])
                if "similarities" in entry
                else None,
                topics,
                elements,
            )
            # relations must match, too: the published rule for a system that was given them
            own = replace(
                matching, closed=spec["mode"] == "official" and keys["setting"] == "closed"
            )
            result = evaluate(
                found, Settings(spec["mode"], own, resamples=spec["bootstrap"], seed=spec["seed"])
            )
        else:
            log.warning(
                "%s: %s has no answer about these texts, and so no scores",
                spec["corpus"],
                keys["extractor"],
            )
        rows += _rows(study, spec, keys, result)
        records.append({"keys": keys, **result.record})
        values = " ".join(f"{name}={score.value:.4f}" for name, score in result.scores.items())
        log.info("%s: %s %s", spec["corpus"], keys["extractor"], values)
    return rows, records


def strings_to_embed(spec: Mapping[str, Any], files: Sequence[str | Path]) -> set[str]:
    """Return the distinct strings that scores of the same arguments would have embedded."""
    gold = read_system(files[spec["gold"]], spec["order"])
    return strings_of([gold, *(_read(entry, spec, files, gold) for entry in spec["systems"])])


def _read(
    entry: Mapping[str, Any], spec: Mapping[str, Any], files: Sequence[str | Path], gold: System
) -> System:
    """Read one system; the study's predictions are cut to the data set's texts and verbalised.

    A system that was queried about some of the texts has these alone, and one that failed has none.
    """
    if entry["keys"]["setting"] == "gold":
        return gold
    system = read_system(files[entry["triples"]], order="sro")
    if entry["keys"]["setting"] not in (TRAINED, SYSTEM):
        return system
    is_queried = entry["keys"]["setting"] == SYSTEM
    shown = [text for text in gold.texts if text in system.texts] if is_queried else gold.texts
    system = system.restricted(shown)
    if "original" not in spec:
        return system
    plain = Verbaliser(())
    names = _plain_names(read_system(files[spec["original"]]), gold)
    texts = {
        text: [
            [subject, names.get(relation) or plain(relation), object_]
            for subject, relation, object_ in triples
        ]
        for text, triples in system.texts.items()
    }
    return replace(system, texts=texts)


def _plain_names(original: System, gold: System) -> dict[str, str]:
    """Return the corpus's relations with their names in the gold file, triple by triple."""
    return {
        before[1]: after[1]
        for text, triples in original.texts.items()
        for before, after in zip(triples, gold.texts.get(text, []), strict=False)
    }


def _matching(settings: Mapping[str, Any], elements: Elements | None) -> Matching:
    values = dict(settings)
    phi = values.pop("phi", None)
    if phi is None:
        # Stored similarities are the published ones, so their threshold is, too.
        phi = PUBLISHED_PHI if elements is None else default_phi(elements.encoder.name)
    try:
        return Matching(phi, **values)
    except TypeError as error:
        raise UserError(f"matching: {error}") from error


def _rows(
    study: str, spec: Mapping[str, Any], keys: Mapping[str, str], result: Result
) -> list[Score]:
    """Return a system's rows; protocols are level and setting, matchings are modes."""
    run = {name: value for name, value in keys.items() if name != "setting"}
    protocol = f"gre-{spec['level']}-{keys['setting']}"
    identity = keys_of({"study": study, "corpus": spec["corpus"], "protocol": protocol, **run})
    mode = spec["mode"]
    rows = [
        Score(identity, "all", mode, name, score.value, score.low, score.high)
        for name, score in result.scores.items()
    ]
    texts = max((score.texts for score in result.scores.values()), default=0)
    rows.append(Score(identity, "all", mode, "texts", texts))
    for name, score in result.scores.items():
        if 0 < score.texts < texts:
            rows.append(Score(identity, "all", mode, f"texts:{name}", score.texts))
    return rows
