from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake) as log:
    from tripleaudit.collection.join import join_shards

    joined = join_shards(snakemake.wildcards.collection, snakemake.input.facts, snakemake.output[0])
    log.info("%d rows in %d shards", joined["rows"], len(joined["shards"]))
