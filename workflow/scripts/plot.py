from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake):
    from tripleaudit.tables.inputs import load_inputs
    from tripleaudit.tables.plots import write_plot
    from tripleaudit.tables.plots.time_memory import benchmarks_of

    inputs = load_inputs(
        scores=snakemake.input.scores,
        counts=snakemake.input.counts,
        options=snakemake.params["options"],
        files={
            "curves": snakemake.input.curves,
            "history": snakemake.input.history,
            "benchmarks": benchmarks_of(snakemake.input.predictions),
        },
    )
    write_plot(snakemake.wildcards.plot, inputs, snakemake.output[0])
