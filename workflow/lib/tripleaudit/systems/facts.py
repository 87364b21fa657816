"""Facts of trainings and systems: times and scores, for tables and the summary."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json, read_jsonl, sha256, write_json
from tripleaudit.core.provenance import digest
from tripleaudit.corpora.store import load_sentences
from tripleaudit.protocols.noising import NoiseSettings
from tripleaudit.scoring import gate
from tripleaudit.scoring.bootstrap import difference_intervals
from tripleaudit.scoring.matching import PRIMARY, check_matching, sentence_counts
from tripleaudit.training.convergence import convergence, doubled

FACTS = (
    "seconds",
    "seconds_per_epoch",
    "validation_seconds",
    "epochs",
    "steps",
    "best_epoch",
    "best_f1",
    "counts",
    "convergence",
    "doubled",
)
GAIN_LEVEL: Final = 0.9
"""Level of the interval of what twice the epochs gain: its upper end is a one-sided bound of 95
%.
"""
HISTORIES = ("history.jsonl", "history.jsonl.gz")
FORMER_LAYOUTS = {
    "onerel": "marker"
}  # of trainings that do not record theirs; all others had "subword"
SETTINGS = ("batch_size", "accumulation", "encoder_learning_rate", "head_learning_rate")


def history_of(provenance: str | Path) -> Path | None:
    """Return the history next to a provenance, if there is one."""
    return next(
        (path for name in HISTORIES if (path := Path(provenance).with_name(name)).is_file()), None
    )


def check_stored(provenance: str | Path) -> None:
    """Verify the files next to a provenance by their SHA-256 under ``stored``, if any.

    Raises:
        UserError: one is missing or has another digest.
    """
    record = read_json(provenance)
    stored = record.get("stored") if isinstance(record, dict) else None
    for name, expected in (stored or {}).items():
        path = Path(provenance).with_name(name)
        if not path.is_file():
            raise UserError(
                f"{path}: no such file, expected it next to {Path(provenance).name}, which names it"
            )
        if (found := sha256(path)) != expected:
            raise UserError(
                f"{path}: sha256 is {found}, expected {expected} as {Path(provenance).name} has it"
            )


def training_fact(provenance: str | Path, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return a training's keys, times (seconds), epochs, best F1, settings and device.

    Older trainings do not say how sure their slope is; the history next to them does, else nothing
    is known.

    Raises:
        UserError: the file is no provenance of a training, or what lies next to it is no history of
            one.
    """
    record = read_json(provenance)
    training = record.get("training") if isinstance(record, dict) else None
    settings = training.get("settings") or {} if isinstance(training, dict) else None
    if (
        training is None
        or not isinstance(settings, dict)
        or not {"device", "finished"} <= record.keys()
    ):
        raise UserError(
            f"{provenance}: not the provenance of a training; expected its 'training' and 'device'"
        )
    found = {name: training.get(name) for name in FACTS}
    history = history_of(provenance)
    if "flat" not in (found["convergence"] or {}):
        rows = [] if history is None else [row for _, row in read_jsonl(history)]
        try:
            found["convergence"] = (
                convergence(rows, _stopped(rows, settings.get("patience", 0))) if rows else None
            )
        except (KeyError, TypeError) as error:
            raise UserError(
                f"{history}: not the history of a training; expected rows with 'step' and 'f1'"
            ) from error
    return {
        "keys": dict(keys),
        "device": record["device"],
        "finished": record["finished"],
        "made_of": made_of(record),
        "extractor": record.get("extractor"),
        "noise_probability": _noise_probability(record),
        "encoder": record.get("encoder"),
        "layout": _layout(record),
        **found,
        "settings": {name: settings[name] for name in SETTINGS if name in settings},
    }


def _layout(record: Mapping[str, Any]) -> str:
    """Return a training's token layout; until version 0.3 it was among the settings."""
    if "layout" in record["training"]:
        return record["training"]["layout"]
    model = (record.get("settings") or {}).get("model") or {}
    return model.get("layout") or FORMER_LAYOUTS.get(record.get("extractor"), "subword")


def _noise_probability(record: Mapping[str, Any]) -> float | None:
    """Return the noising probability of a training; None without Entity Noising."""
    noising = (record.get("settings") or {}).get("noising")
    if noising is None:
        return None
    return noising.get("probability", NoiseSettings().probability)


def made_of(record: Mapping[str, Any]) -> str | None:
    """Return a digest of data, encoder, extractor and settings, equal for doubled epochs.

    None for older trainings, which do not name their encoder.
    """
    inputs = {role: file["sha256"] for role, file in (record.get("inputs") or {}).items()}
    settings = {
        name: value for name, value in (record.get("settings") or {}).items() if name != "double"
    }
    if "encoder" not in inputs:
        return None
    return digest(
        [record.get("extractor"), inputs, settings, (record.get("training") or {}).get("layout")]
    )


def gain_interval(
    validation: str | Path, single: str | Path, double: str | Path, matching: str
) -> tuple[float, float] | None:
    """Return the paired 90 % interval of the gain from doubled epochs.

    None under ten sentences.

    Args:
        validation: gold sentences.
        single, double: predictions, or decisions of a classifier, by either training.
        matching: rule by which the trainings chose their best epoch.
    """
    gold = load_sentences(validation)
    counts = []
    for path in (single, double):
        if _holds_decisions(path):
            scores = gate.scores_for(gold, gate.load_decisions(path))
            counts.append(gate.classification_counts(gold, scores))
        else:
            counts.append(sentence_counts(gold, load_sentences(path), check_matching(matching)))
    bounds = difference_intervals(*counts, level=GAIN_LEVEL)
    return (bounds["f1"].low, bounds["f1"].high) if bounds else None


def _holds_decisions(path: str | Path) -> bool:
    first = next((row for _, row in read_jsonl(path)), {})
    return "score" in first


def _stopped(rows: Sequence[Mapping[str, Any]], patience: int) -> bool:
    """Whether a training that does not say so was ended by patience."""
    scores = [row["f1"] for row in rows if "f1" in row]
    return 0 < patience < len(scores) and max(scores[:-patience]) >= max(scores[-patience:])


def write_training_facts(
    provenances: Sequence[str | Path],
    keys: Sequence[Mapping[str, Any]],
    out: str | Path,
    doubles: Sequence[str | Path] = (),
    double_keys: Sequence[Mapping[str, Any]] = (),
    validation: Sequence[str | Path] = (),
    single_predictions: Sequence[str | Path] = (),
    double_predictions: Sequence[str | Path] = (),
    earlier: Sequence[str | Path] = (),
) -> None:
    """Write a JSON list with the :func:`training_fact` of every training, in order.

    Args:
        provenances, keys: of each training.
        doubles, double_keys: of trainings of twice the epochs. What one gained is stated of every
            training of its kind, whatever the seed.
        validation: validation set of each of these.
        single_predictions, double_predictions: of these sets, by the training and by that of twice
            the epochs; for the interval of the gain.
        earlier: what was written here before; where a training of the same data, encoder and
            settings was doubled then, its gain is stated.

    Raises:
        UserError: a file is none of these.
    """
    facts = [training_fact(path, named) for path, named in zip(provenances, keys, strict=True)]
    predicted = list(zip(validation, single_predictions, double_predictions, strict=True)) or [
        None
    ] * len(doubles)
    for path, named, files in zip(doubles, double_keys, predicted, strict=True):
        longer = training_fact(path, named)
        (single,) = (fact for fact in facts if fact["keys"] == longer["keys"])
        matching = read_json(path)["training"]["settings"].get("matching", PRIMARY)
        gained = doubled(single, longer, gain_interval(*files, matching) if files else None)
        for fact in facts:
            if {**fact["keys"], "seed": named["seed"]} == longer["keys"]:
                fact["doubled"] = gained
    for path in earlier:
        before = read_json(path)
        if not isinstance(before, list) or not all(
            isinstance(fact, dict) and "made_of" in fact for fact in before
        ):
            raise UserError(
                f"{path}: not the facts of trainings; expected trainings.json of a study with double: true"
            )
        known = {
            fact["made_of"]: fact["doubled"]
            for fact in before
            if fact["made_of"] and fact["doubled"]
        }
        for fact in facts:
            if fact["made_of"] in known and not fact["doubled"]:
                fact["doubled"] = {**known[fact["made_of"]], "earlier": True}
    write_json(out, facts)


def write_system_facts(
    reports: Sequence[str | Path],
    keys: Sequence[Mapping[str, Any]],
    predictions: Sequence[str | Path],
    trained: Sequence[Mapping[str, Any]],
    out: str | Path,
) -> None:
    """Write facts of all predictions as JSON: systems' reports, and trained extractors.

    ``predictions`` are files of the latter, whose sidecars say what they took, ``trained`` the keys
    of each.
    """
    facts = [
        {"keys": dict(named), **read_json(path)} for path, named in zip(reports, keys, strict=True)
    ]
    for path, named in zip(predictions, trained, strict=True):
        record = read_json(f"{path}.provenance.json")
        took = {name: record.get(name) for name in ("seconds", "sentences", "peak_mb", "device")}
        facts.append({"keys": dict(named), "predicted": took})
    write_json(out, facts)
