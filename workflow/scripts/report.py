from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake) as log:
    from tripleaudit.report.inputs import ReportFiles, StudyFacts, predicted_of
    from tripleaudit.report.make import make_report

    given = snakemake.input
    kinds = ("tables", "plots", "scores", "counts", "audits", "runs", "gre", "needles", "provenance")
    files = ReportFiles(
        predicted=[predicted_of(*paths) for paths in zip(given.predictions, given.gold, given.browsed, strict=True)],
        **{kind: getattr(given, kind) for kind in kinds},
    )
    size = make_report(files, StudyFacts(**snakemake.params.facts), snakemake.output[0])
    log.info("%s has %.1f MB", snakemake.output[0], size / 1e6)
