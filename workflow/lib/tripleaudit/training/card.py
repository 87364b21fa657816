"""The model card of a trained extractor: what it was trained on and how, how good it was, how it is loaded."""

import json
from collections.abc import Mapping
from typing import Any

SHOWN = 40  # relations
KINDS = {
    "extractor": "joint extractor of relational triples",
    "classifier": "classifier of sentences with and without relational triples",
}
USE = {"extractor": "extract", "classifier": "decide"}
REST = {
    True: "the training had converged",
    False: "the training had not converged, so that its scores say little about the extractor",
    None: "too few evaluations to know whether the training had converged",
}


def model_card(record: Mapping[str, Any], kind: str, relations: list[str]) -> str:
    """Return ``README.md`` with a hub's metadata in front.

    Args:
        record: the training's provenance (:func:`tripleaudit.provenance.provenance`) with its part ``training``.
        kind: of the model, ``extractor`` or ``classifier``.
        relations: that the model knows.
    """
    training = record["training"]
    settings = {name: value for name, value in record["settings"].items() if name != "module"}  # a place of a machine
    best = training["best_f1"]
    names = ", ".join(f"`{name}`" for name in relations[:SHOWN])
    lines = [
        "---",
        "library_name: transformers",
        "license: other",
        "tags:",
        "- relation-extraction",
        "- tripleaudit",
        f"- {json.dumps(record['extractor'])}",
        "---",
        "",
        f"# {record['extractor']}",
        "",
        f"A {KINDS[kind]}, trained by tripleaudit {record['version']}. It knows "
        f"{len(relations)} relations: {names}{', …' if len(relations) > SHOWN else ''}.",
        "",
        "## Use",
        "",
        "```python",
        "from transformers import AutoModel",
        "import tripleaudit.extractors.auto",
        "",
        'model = AutoModel.from_pretrained("FOLDER")',
        f'model.{USE[kind]}(["Ada Lund was born in Harrow."])',
        "```",
        "",
        "## Training",
        "",
        f"- validation F1: {'not measured' if best is None else f'{100 * best:.1f} %'} (exact strings), after "
        f"{training['best_epoch']:g} of {training['epochs']:g} epochs; {REST[training['convergence']['converged']]}",
        f"- seed: {record['seed']}; device: {record['device']}",
        *(f"- {role}: `{file['name']}`, SHA-256 `{file['sha256']}`" for role, file in record["inputs"].items()),
        f"- code: {_commit(record.get('git'))}",
        f"- packages: {', '.join(f'{name} {version}' for name, version in record['packages'].items() if version)}",
        "",
        "The study set:",
        "",
        "```json",
        json.dumps(settings, indent=2, sort_keys=True),
        "```",
        "",
        "## Limits",
        "",
        "Scores on a benchmark's test set say little about triples that training has not shown; see the strata of the "
        "study. The model finds only the relations above, and only entities that stand in the sentence.",
        "",
    ]
    return "\n".join(lines)


def _commit(state: Mapping[str, Any] | None) -> str:
    if not state:
        return "no checkout"
    return f"commit {state['commit']}" + ("" if state.get("clean") else " with uncommitted changes")
