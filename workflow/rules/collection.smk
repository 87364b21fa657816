# Triples of large text collections, on Ray Data: one job a collection, which goes on from its finished blocks.
COLLECTIONS = STUDY.collections


rule extract_collection:
    """Triples of one collection: the gate reads every sentence, the extractor what it lets through."""
    input:
        texts=of(COLLECTIONS.texts, "collection"),
        model=of(COLLECTIONS.model, "collection"),
        gate=of(COLLECTIONS.gate, "collection"),
        folders=lambda wildcards: beside(
            COLLECTIONS.model(wildcards.collection) + COLLECTIONS.gate(wildcards.collection)
        ),
    output:
        "<study>/collections/{collection}/collection.json",
    log:
        "<logs>/extract_collection/{collection}.log",
    benchmark:
        "<benchmarks>/extract_collection/{collection}.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: lambda wildcards: COLLECTIONS[wildcards.collection].workers + 1
    resources:
        gpu=lambda wildcards: 0 if config["gpu"] == 0 else COLLECTIONS.gpus(wildcards.collection),
        mem_mb=lambda wildcards, attempt: attempt * COLLECTIONS.mem_mb(wildcards.collection),
        runtime=lambda wildcards: COLLECTIONS[wildcards.collection].runtime,
    params:
        addresses=of(COLLECTIONS.addresses, "collection"),
        deciding=of(COLLECTIONS.deciding_options, "collection"),
        speed=lambda wildcards, input: COLLECTIONS.speed_options(wildcards.collection),
        who=lambda wildcards, input, threads: COLLECTIONS.who_options(wildcards.collection, threads),
        gate=lambda wildcards, input: ["--gate", str(Path(str(input.gate)).parent)] if input.gate else [],
        system=of(COLLECTIONS.identity, "collection"),
        code=lambda wildcards: (
            jobs.described_code("collection", SYSTEM_KINDS, COLLECTIONS.kind(wildcards.collection))
            if COLLECTIONS.system(wildcards.collection)
            else jobs.extractor_code("collection", COLLECTIONS.extractor(wildcards.collection))
        ),
    shell:
        "python -m tripleaudit collection run {input.texts:q} {params.addresses:q} {params.who:q} "
        "{params.gate:q} {params.deciding:q} {params.speed:q} --gpus {resources.gpu} --replace "
        "--name {wildcards.collection:q} --out $(dirname {output:q}) > {log:q} 2>&1"


rule collection:
    """Triples of all text collections of the study, and their table."""
    input:
        [f"<study>/tables/{name}.md" for name in COLLECTIONS.tables()],
        COLLECTIONS.files(),
    localrule: True
