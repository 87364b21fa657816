# From raw files of any format to sentences with spans, one file and one report for each split.
SPLITS = ("train", "valid", "test")


rule prepare_corpus:
    """Read one split of a corpus, locate entities, and report those that cannot be located."""
    input:
        STUDY.data.raw_inputs,
    output:
        sentences=PATHS.sentences,
        counts=PATHS.sentence_counts,
    log:
        "<logs>/prepare_corpus/{corpus}/{split}.log",
    benchmark:
        "<benchmarks>/prepare_corpus/{corpus}/{split}.jsonl"
    priority: 40  # trainings wait for it
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        options=STUDY.data.prepare_options,
        code=reading_code,
        own_files=content_of(STUDY.data.raw_inputs),
        origin=STUDY.data.prepare_origin,
    shell:
        "python -P -m tripleaudit prepare {params.origin:q} {params.options:q} "
        "--out {output.sentences:q} --report {output.counts:q} > {log:q} 2>&1"


rule corpora:
    """All corpora with the reports on reading them."""
    input:
        STUDY.data.counts(),
    localrule: True
