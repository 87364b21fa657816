# From raw files of any format to sentences with spans, one file and one report for each split.


rule prepare_corpus:
    """Read one split of a corpus, find its spans, and report what was found and what was not."""
    input:
        raw_inputs,
    output:
        sentences="<study>/corpora/{corpus}/{split}.jsonl",
        report="<study>/corpora/{corpus}/{split}.report.json",
    log:
        "<logs>/prepare_corpus/{corpus}/{split}.log",
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        options=lambda wildcards: STUDY.prepare_options(wildcards.corpus, wildcards.split),
        code=code_version("prepare"),
        origin=lambda wildcards, input: STUDY.prepare_origin(wildcards.corpus, wildcards.split, input),
    shell:
        "python -m tripleaudit prepare {params.origin:q} {params.options:q} "
        "--out {output.sentences:q} --report {output.report:q} > {log:q} 2>&1"
