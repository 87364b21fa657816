# Triples of large text collections, on Ray Data: one job a collection, which goes on from its finished blocks.
COLLECTIONS = STUDY.collections


rule extract_collection:
    """Triples of one collection: the gate reads every sentence, the extractor what passes."""
    input:
        texts=lambda wildcards: COLLECTIONS.texts(wildcards.collection),
        model=lambda wildcards: COLLECTIONS.model(wildcards.collection),
        gate=lambda wildcards: COLLECTIONS.gate(wildcards.collection),
        folders=files_of(COLLECTIONS.models),
    output:
        "<study>/collections/{collection}/collection.json",
    log:
        "<logs>/extract_collection/{collection}.log",
    threads: COLLECTIONS.threads
    resources:
        gpu=0 if config["gpu"] == 0 else COLLECTIONS.gpus,
        mem_mb=COLLECTIONS.mem_mb,
        runtime=COLLECTIONS.runtime,
    params:
        addresses=COLLECTIONS.addresses,
        deciding=COLLECTIONS.deciding_options,
        speed=COLLECTIONS.speed_options,
        who=lambda wildcards, input, threads: COLLECTIONS.who_options(wildcards.collection, threads),
        gate=lambda wildcards, input: ["--gate", str(Path(input.gate[0]).parent)] if input.gate else [],
        system=COLLECTIONS.identity,
        code=collection_code,
    shell:
        "python -m tripleaudit collection run {input.texts:q} {params.addresses:q} {params.who:q} "
        "{params.gate:q} {params.deciding:q} {params.speed:q} --gpus {resources.gpu} --replace "
        "--name {wildcards.collection:q} --out $(dirname {output:q}) > {log:q} 2>&1"


rule collection:
    """Triples of all text collections of the study, and their table."""
    input:
        [f"<study>/tables/{name}.md" for name in STUDY.report.tables("collection")],
        COLLECTIONS.files(),
    localrule: True
