# Triples of large text collections, on Ray Data: one job a collection, which goes on from its finished blocks.
COLLECTIONS = STUDY.collections


rule extract_collection:
    """Triples of one collection: the gate reads every sentence, the extractor what passes."""
    input:
        texts=of(COLLECTIONS.texts, "collection"),
        model=of(COLLECTIONS.model, "collection"),
        gate=of(COLLECTIONS.gate, "collection"),
        folders=files_of(COLLECTIONS.models, "collection"),
    output:
        "<study>/collections/{collection}/collection.json",
    log:
        "<logs>/extract_collection/{collection}.log",
    threads: of(COLLECTIONS.threads, "collection")
    resources:
        gpu=0 if config["gpu"] == 0 else of(COLLECTIONS.gpus, "collection"),
        mem_mb=growing(COLLECTIONS.mem_mb, "collection"),
        runtime=of(COLLECTIONS.runtime, "collection"),
    params:
        addresses=of(COLLECTIONS.addresses, "collection"),
        deciding=of(COLLECTIONS.deciding_options, "collection"),
        speed=aside(COLLECTIONS.speed_options, "collection"),
        who=lambda wildcards, input, threads: COLLECTIONS.who_options(wildcards.collection, threads),
        gate=lambda wildcards, input: ["--gate", str(Path(input.gate[0]).parent)] if input.gate else [],
        system=of(COLLECTIONS.identity, "collection"),
        code=of(collection_code, "collection"),
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
