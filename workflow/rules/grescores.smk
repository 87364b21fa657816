# GREScores: stored outputs, extractions by language models and trained extractors, all scored by the same code.
#
# The params `code`, `answering` and `own_files` are in no shell command; they rerun a job when its code, the settings
# of a model or the contents of the user's files change. Input functions are in functions.smk and common.smk.
GRE = STUDY.grescores


rule train_topics:
    """Train the topic model of one data set (gensim LDA, seeded)."""
    input:
        text=GRE.topic_text,
        evaluated=GRE.evaluated,
    output:
        weights=PATHS.topic_weights,
        vocabulary=PATHS.topic_vocabulary,
    log:
        "<logs>/train_topics/{dataset}.log",
    benchmark:
        "<benchmarks>/train_topics/{dataset}.jsonl"
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=jobs.command_code("gre-lda"),
        options=GRE.topic_options,
        own_files=content_of(GRE.topic_text, GRE.evaluated),
    shell:
        "python -P -m tripleaudit gre-lda --text {input.text:q} {params.options:q} "
        '--evaluated {input.evaluated:q} --out "$(dirname -- {output.weights:q})" > {log:q} 2>&1'


rule judge_triples:
    """Query the judge about the triples of one system; stored answers are reused."""
    input:
        triples=lambda wildcards: GRE.to_judge(wildcards.dataset)[wildcards.system].files["triples"],
        texts=lambda wildcards: GRE.texts(wildcards.dataset, wildcards.system),
        model=model_of_judge,
    output:
        factualness=fill(PATHS.judgements, kind="factualness"),
        granularity=fill(PATHS.judgements, kind="granularity"),
        report=fill(PATHS.judgements, kind="report"),
    log:
        job="<logs>/judge_triples/{dataset}/{system}/{judge}.log",
        server="<logs>/judge_triples/{dataset}/{system}/{judge}.server.log",
    benchmark:
        "<benchmarks>/judge_triples/{dataset}/{system}/{judge}.jsonl"
    priority: 20
    localrule: STUDY.language_models.need_network(GRE.judge)
    conda:
        "../../envs/light.yaml"
    threads: threads_to_serve
    resources:
        llm_requests=1,
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        code=jobs.command_code("gre-judge"),
        prompts=GRE.judge_options(),
        answering=GRE.judge_identity,
        own_files=content_of(judged_files, model_of_judge),
        kinds=lambda wildcards: GRE.to_judge(wildcards.dataset)[wildcards.system].judged,
        section=section_for_job,
        study=STUDY.name,
    shell:
        "python -P -m tripleaudit gre-judge --section {params.section:q} --study {params.study:q} --threads {threads} "
        "--endpoint {wildcards.judge:q} {params.prompts:q} --triples {input.triples:q} --texts {input.texts:q} --kinds {params.kinds:q} "
        "--factualness {output.factualness:q} --granularity {output.granularity:q} --report {output.report:q} "
        "--gguf {input.model:q} --server-log {log.server:q} > {log.job:q} 2>&1"


rule score_triples:
    """Compute the GREScores of all systems of a data set; each distinct string is embedded once."""
    input:
        files=gre_files,
        topics=GRE.topic_model,
        encoder=GRE.encoder(),
    output:
        scores=PATHS.gre_scores,
        provenance=PATHS.gre_provenance,
    log:
        "<logs>/score_triples/{dataset}.log",
    benchmark:
        "<benchmarks>/score_triples/{dataset}.jsonl"
    localrule: STUDY.language_models.need_network(GRE.embedding_endpoint)
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=jobs.command_code("gre-systems"),
        spec=gre_spec,
        embedding=GRE.embedding_options(),
        answering=GRE.embedding_identity(),
        own_files=content_of(gre_files, GRE.encoder()),
        section=section_for_job,
        study=STUDY.name,
    shell:
        "python -P -m tripleaudit gre-systems --spec {params.spec:q} --files {input.files:q} --study {params.study:q} "
        "--lda {input.topics:q} --embedder {input.encoder:q} {params.embedding:q} --section {params.section:q} "
        "--threads {threads} "
        "--out {output.scores:q} > {log:q} 2>&1"


rule gre_tables:
    """All tables of the GREScores."""
    input:
        [fill(PATHS.table, table=table, form="md") for table in STUDY.report.tables("gre")],
    localrule: True
