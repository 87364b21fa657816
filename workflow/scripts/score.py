from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.scoring.run import score_run

    wildcards = snakemake.wildcards
    protocol, training = wildcards.trainset.rsplit("-", 1)
    score_run(
        gold=snakemake.input.gold,
        predictions=snakemake.input.predictions,
        train=snakemake.input.train,
        keys={
            "study": snakemake.params.study,
            "corpus": wildcards.corpus,
            "protocol": "augmented" if wildcards.testset == "augmented" else protocol,
            "training": training,
            "testing": wildcards.testing,
            "extractor": wildcards.extractor,
            "noise": wildcards.noise,
            "seed": wildcards.seed,
        },
        out_scores=snakemake.output.scores,
        out_counts=snakemake.output.counts,
        only_with_triples=wildcards.testing == "nz",
        replicates=snakemake.params.scoring["bootstrap"],
        seed=snakemake.params.scoring["seed"],
    )
