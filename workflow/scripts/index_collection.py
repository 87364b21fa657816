from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake) as log:
    from tripleaudit.collection.index import build_index, write_index

    index = build_index(snakemake.input, snakemake.params.shards, strict=snakemake.params.strict)
    write_index(snakemake.output[0], index)
    log.info("%d lines of %d files in %d shards", index["lines"], index["files"], len(index["shards"]))
