from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.scoring.scores import merge_scores

    merge_scores(list(snakemake.input), snakemake.output.scores, snakemake.output.provenance)
