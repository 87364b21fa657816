from typing import TYPE_CHECKING

from tripleaudit.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake) as log:
    from tripleaudit.corpora import load_sentences, save_sentences
    from tripleaudit.generative.extraction import reference, relations_of, select_texts

    dataset = snakemake.params.dataset
    sentences = load_sentences(snakemake.input[0])
    chosen = select_texts(sentences, dataset["limit"], dataset["sample_seed"])
    save_sentences(snakemake.output.texts, chosen)
    save_sentences(snakemake.output.reference, reference(chosen, relations_of(dataset, chosen)))
    log.info("%d of %d texts, %d triples", len(chosen), len(sentences), sum(len(item.triples) for item in chosen))
