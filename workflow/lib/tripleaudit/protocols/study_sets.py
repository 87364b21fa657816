"""The sets of one protocol of a study, from files to files."""

import contextlib
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.devices import gpu_slot
from tripleaudit.core.files import write_json
from tripleaudit.core.memory import out_of_memory_advice
from tripleaudit.corpora.store import load_sentences, load_set, save_sentences
from tripleaudit.protocols.build import build_protocol
from tripleaudit.protocols.splits import Splits


def write_sets(
    protocol: str,
    options: Mapping[str, Any],
    train: str | Path,
    valid: str | Path,
    test: str | Path,
    report: str | Path,
    out_train: str = "",
    out_valid: str = "",
    out_test: str = "",
    masked_lm: str = "",
    vectors: str = "",
    encoder: str = "",
    original: str = "",
) -> None:
    """Write a protocol's sets and report (:func:`~tripleaudit.protocols.build.build_protocol`).

    Args:
        options: of the protocol, as a study has them: models by source, which reach this as files,
            and rarer options nested.
        masked_lm, vectors, encoder: folder of a masked language model, file of word vectors, and
            folder of an encoder that makes what of the two is missing.
        original: the test sentences whose variants ``test`` holds.
    """
    logging.getLogger("gensim").setLevel(logging.WARNING)
    given = {
        key: value
        for key, value in options.items()
        if key not in ("masked_lm", "vectors", "options")
    }
    given |= options.get("options") or {}
    splits = Splits(load_set(train), load_sentences(valid), load_set(test))
    with contextlib.ExitStack() as stack:
        if masked_lm or encoder:
            stack.enter_context(gpu_slot(os.environ.get("TRIPLEAUDIT_GPU", "auto")))
            stack.enter_context(
                out_of_memory_advice(
                    "filling masks", "options/batch_size", given.get("batch_size", 64)
                )
            )
        files = {
            "masked_lm": masked_lm or None,
            "vectors": vectors or None,
            "encoder": encoder or None,
        }
        known = load_sentences(original) if original else None
        built, done = build_protocol(protocol, splits, given, **files, original=known)
    for path, (_, sentences) in zip((out_train, out_valid, out_test), built, strict=True):
        if path:
            save_sentences(path, sentences)
    write_json(report, done)
