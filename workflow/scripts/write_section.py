from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake) as log:
    from tripleaudit.files import write_json

    write_json(snakemake.output[0], snakemake.params.section)
    log.info("%d endpoints, %d systems", *(len(snakemake.params.section[name]) for name in ("endpoints", "systems")))
