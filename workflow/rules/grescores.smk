# The GREScores: stored outputs, extractions by language models and trained extractors, all scored by the same code.


rule train_topics:
    """Train the topic model of one data set (gensim LDA, seeded)."""
    input:
        gre_topic_text,
    output:
        weights="<study>/gre/{dataset}/topics/lda.safetensors",
        vocabulary="<study>/gre/{dataset}/topics/lda.json",
    log:
        "<logs>/train_topics/{dataset}.log",
    benchmark:
        "<benchmarks>/train_topics/{dataset}.jsonl"
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        options=gre_topic_options,
    shell:
        "python -m tripleaudit gre-lda --text {input:q} {params.options:q} "
        "--out $(dirname {output.weights:q}) > {log:q} 2>&1"


rule judge_triples:
    """Ask a language model about the triples of one system; answered requests come from the cache."""
    input:
        triples=lambda wildcards: gre_judged(wildcards).files["triples"],
        model=lambda wildcards: served_model(GRE["judge"]["endpoint"]),
    output:
        factualness="<study>/gre/{dataset}/judged/{system}/factualness.json",
        granularity="<study>/gre/{dataset}/judged/{system}/granularity.json",
        report="<study>/gre/{dataset}/judged/{system}/report.json",
    log:
        job="<logs>/judge_triples/{dataset}/{system}.log",
        server="<logs>/judge_triples/{dataset}/{system}.server.log",
    benchmark:
        "<benchmarks>/judge_triples/{dataset}/{system}.jsonl"
    priority: 20
    localrule: needs_network((GRE["judge"] or {}).get("endpoint"))
    conda:
        "../../envs/torch.yaml"
    threads: lambda wildcards: config["threads"] if served_model(GRE["judge"]["endpoint"]) else 1
    resources:
        llm_requests=1,
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        judge=lambda wildcards: GRE["judge"],
        answering=lambda wildcards: gre_judging(),
        kinds=lambda wildcards: gre_judged(wildcards).asked,
        section=section_for_job,
        study=STUDY.name,
    shell:
        "python -m tripleaudit gre-judge --section {params.section:q} --study {params.study:q} --threads {threads} "
        "--endpoint {params.judge[endpoint]:q} --most-unreadable {params.judge[most_unreadable]} --triples {input.triples:q} --kinds {params.kinds:q} "
        "--factualness-prompt {params.judge[factualness_prompt]:q} "
        "--granularity-prompt {params.judge[granularity_prompt]:q} "
        "--factualness {output.factualness:q} --granularity {output.granularity:q} --report {output.report:q} "
        "--model-config {input.model:q} --server-log {log.server:q} > {log.job:q} 2>&1"


rule score_triples:
    """All GREScores of all systems of one data set; every distinct string is embedded once."""
    input:
        files=lambda wildcards: gre_spec(wildcards.dataset)[1],
        topics=gre_topic_model,
        encoder=gre_encoder(),
    output:
        scores="<study>/gre/{dataset}/scores.csv",
        provenance="<study>/gre/{dataset}/scores.provenance.json",
    log:
        "<logs>/score_triples/{dataset}.log",
    benchmark:
        "<benchmarks>/score_triples/{dataset}.jsonl"
    localrule: needs_network(GRE_EMBEDDER.get("endpoint"))
    conda:
        "../../envs/torch.yaml"
    threads: 2
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        spec=lambda wildcards: gre_spec(wildcards.dataset)[0],
        embedding=gre_embedding_options(),
        answering=gre_embedding_model(),
        section=section_for_job,
        study=STUDY.name,
    shell:
        "python -m tripleaudit gre-systems --spec {params.spec:q} --files {input.files:q} --study {params.study:q} "
        "--lda {input.topics:q} --embedder {input.encoder:q} {params.embedding:q} --section {params.section:q} "
        "--threads {threads} "
        "--out {output.scores:q} > {log:q} 2>&1"


rule merge_gre_scores:
    """One tidy file of the study's GREScores."""
    input:
        [f"<study>/gre/{dataset}/scores.csv" for dataset in GRE_PLAN.datasets],
    output:
        scores="<study>/gre/scores.csv",
        provenance="<study>/gre/scores.provenance.json",
    log:
        "<logs>/merge_gre_scores.log",
    benchmark:
        "<benchmarks>/merge_gre_scores.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    shell:
        "python -m tripleaudit merge-scores --paths {input:q} --out {output.scores:q} "
        "--provenance {output.provenance:q} > {log:q} 2>&1"


rule gre_tables:
    """All tables of the GREScores."""
    input:
        [f"<study>/tables/{table}.md" for table in GRE_PLAN.tables],
    localrule: True
