"""The section ``collections``: text collections and the models that process them."""

from typing import Literal

from pydantic import Field

from tripleaudit.core.fields import Batch, Number, Paths, Runtime, Section, Seed, Share, Text
from tripleaudit.scoring.gate import THRESHOLD


class Collection(Section):
    """One collection."""

    files: Paths
    """Files, folders, patterns or addresses of a store (s3://…); plain text with a sentence a line (.txt), JSON lines
    (.jsonl), tables (.csv, .tsv), each also as .gz or .zst, and .parquet."""
    text_column: Text = "text"
    """Column of a table, or key of a JSON line, that holds the text."""
    id_column: Text = "id"
    """The same for the id; rows without one are called by file and number."""
    extractor: Text
    """An extractor that the study trains, the folder of a trained one, or one of its `systems`
    that reads texts.
    """
    gate: str | None
    """The zero-cardinality classifier that reads every sentence first, zcc-binary or zcc-mcml of the study or the
    folder of a trained one; null for none."""
    corpus: str | None = None
    """The corpus that extractor and gate are trained on; by default the study's only one."""
    trainset: str = "original-nz"
    """The training set of the extractor, protocol and setting; behind a gate, original-nz is the
    usual one.
    """
    noise: Literal["none", "noising"] = "none"
    """Whether the extractor is the one trained with Entity Noising."""
    seed: Seed | None = None
    """Seed of the trainings; by default the study's first one."""
    threshold: Share = THRESHOLD
    """A sentence passes the gate above this score."""
    batch_size: Batch = 64
    """Sentences at a time."""
    block: int = Field(20000, ge=1)
    """Rows that are read, extracted, written and, if they are lost, made again together; each
    block is a file.
    """
    jobs: Number = 1
    """Jobs that the blocks are divided among; on a cluster each runs on a node and a GPU of its
    own.
    """
    workers: Number = 1
    """Processes of a job that hold gate and extractor; they share the job's GPU."""
    max_chars: Number = 10000
    """Longer texts are counted and left out."""
    write: Literal["all", "triples"] = "all"
    """Write every sentence (as scoring needs it), or only those with triples."""
    on_error: Literal["stop", "skip"] = "stop"
    """Lines that are not UTF-8, not JSON or without text: stop with an error, or count and skip
    them.
    """
    mem_mb: int = Field(4000, ge=500)
    """Memory that a job on a cluster asks for, for each worker."""
    runtime: Runtime = "4h"
    """Time that a job on a cluster asks for, minutes or '4h'."""
