from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.tables.facts import write_training_facts

    write_training_facts(list(snakemake.input), snakemake.params.runs, snakemake.output[0])
