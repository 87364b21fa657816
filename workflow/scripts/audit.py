from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.tables.audits import SPLITS, write_study_audit

    splits, zero = snakemake.input[:3], snakemake.input.zero
    write_study_audit(
        keys={
            "study": snakemake.params.study,
            "corpus": snakemake.wildcards.corpus,
            "protocol": snakemake.wildcards.protocol,
        },
        splits=dict(zip(SPLITS, splits, strict=True)),
        with_zero=dict(zip(SPLITS, zero, strict=True)) if zero else None,
        out=snakemake.output[0],
    )
