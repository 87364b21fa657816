from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake) as log:
    from tripleaudit.corpora import load_sentences, save_sentences
    from tripleaudit.protocols.cardinality import apply_setting

    sentences = load_sentences(snakemake.input[0])
    kept = apply_setting(sentences, snakemake.wildcards.setting)
    save_sentences(snakemake.output[0], kept)
    log.info("%d of %d sentences belong to setting %s", len(kept), len(sentences), snakemake.wildcards.setting)
