from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.tables.make import make_table

    make_table(
        snakemake.wildcards.table,
        snakemake.output.csv.removesuffix(".csv"),
        scores=snakemake.input.scores,
        counts=snakemake.input.counts,
        audits=snakemake.input.audits,
        runs=snakemake.input.runs,
        options=snakemake.params["options"],
    )
