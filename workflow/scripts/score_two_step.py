from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.scoring.gate import THRESHOLD
    from tripleaudit.scoring.run import score_run, two_step_name

    wildcards = snakemake.wildcards
    score_run(
        gold=snakemake.input.gold,
        predictions=snakemake.input.predictions,
        decisions=snakemake.input.decisions,
        train=snakemake.input.train,
        keys={
            "study": snakemake.params.study,
            "corpus": wildcards.corpus,
            "protocol": "original",
            "training": "nz",
            "testing": "wz",
            "extractor": two_step_name(wildcards.gate, wildcards.extractor),
            "noise": wildcards.noise,
            "seed": wildcards.seed,
        },
        out_scores=snakemake.output.scores,
        out_counts=snakemake.output.counts,
        replicates=snakemake.params.scoring["bootstrap"],
        seed=snakemake.params.scoring["seed"],
        threshold=snakemake.params.scoring.get("gate", THRESHOLD),
    )
