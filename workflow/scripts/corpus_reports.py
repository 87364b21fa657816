from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake) as log:
    from pathlib import Path

    from tripleaudit.corpora.store import load_sentences
    from tripleaudit.corpora.truncation import count_truncated, tokenizer_file
    from tripleaudit.files import read_json, write_json

    tokenizer = tokenizer_file(Path(snakemake.input.encoder).parent)
    if tokenizer is None:
        log.warning("the encoder has no tokenizer.json; what it would cut is left open")
    limit = snakemake.params.max_length
    for sentences, counts, report in zip(
        snakemake.input.sentences, snakemake.input.counts, snakemake.output, strict=True
    ):
        found = read_json(counts)
        if tokenizer is not None:
            found["truncated_triples"] = count_truncated(load_sentences(sentences), tokenizer, limit)
            found["truncated_at"] = limit
        write_json(report, found)
