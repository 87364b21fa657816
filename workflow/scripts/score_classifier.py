from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.scoring.gate import THRESHOLD
    from tripleaudit.scoring.run import score_classifier

    wildcards = snakemake.wildcards
    score_classifier(
        gold=snakemake.input.gold,
        decisions=snakemake.input.decisions,
        keys={
            "study": snakemake.params.study,
            "corpus": wildcards.corpus,
            "protocol": "original",
            "training": "wz",
            "testing": "wz",
            "extractor": wildcards.extractor,
            "noise": "none",
            "seed": wildcards.seed,
        },
        out_scores=snakemake.output.scores,
        out_counts=snakemake.output.counts,
        out_curve=snakemake.output.curve,
        replicates=snakemake.params.scoring["bootstrap"],
        seed=snakemake.params.scoring["seed"],
        threshold=snakemake.params.scoring.get("gate", THRESHOLD),
    )
