# Triples of large text collections: an index of shards, one job a shard, and the shards as one.
COLLECTIONS = STUDY.collections


wildcard_constraints:
    collection="|".join(map(re.escape, COLLECTIONS)) or "none",
    shard=r"\d{5}-of-\d{5}",


rule index_collection:
    """Which lines of which files each shard of a collection holds."""
    input:
        lambda wildcards: COLLECTIONS.texts(wildcards.collection),
    output:
        "<study>/collections/{collection}/index.json",
    log:
        "<logs>/index_collection/{collection}.log",
    benchmark:
        "<benchmarks>/index_collection/{collection}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        shards=lambda wildcards: COLLECTIONS[wildcards.collection].shards,
        broken=lambda wildcards: ([] if COLLECTIONS[wildcards.collection].on_error == "stop" else ["--skip-broken"]),
    shell:
        "python -m tripleaudit collection index {input:q} --shards {params.shards} {params.broken} --out {output:q} "
        "> {log:q} 2>&1"


rule extract_shard:
    """Triples of one shard: the gate reads every sentence, the extractor what it lets through."""
    input:
        index="<study>/collections/{collection}/index.json",
        model=lambda wildcards: COLLECTIONS.model(wildcards.collection),
        gate=lambda wildcards: COLLECTIONS.gate(wildcards.collection),
    output:
        triples="<study>/collections/{collection}/{shard}.jsonl.gz",
        facts="<study>/collections/{collection}/{shard}.json",
    log:
        "<logs>/extract_shard/{collection}/{shard}.log",
    benchmark:
        "<benchmarks>/extract_shard/{collection}/{shard}.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: config["threads"]
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=lambda wildcards, attempt: COLLECTIONS[wildcards.collection].mem_mb * attempt,
        runtime=lambda wildcards: COLLECTIONS[wildcards.collection].runtime,
    params:
        deciding=lambda wildcards: COLLECTIONS.deciding_json(wildcards.collection),
        settings=lambda wildcards, input: COLLECTIONS.settings_json(wildcards.collection),
        gate=lambda wildcards, input: ["--gate", str(Path(str(input.gate)).parent)] if input.gate else [],
        code=lambda wildcards: jobs.extractor_code("collection extract", COLLECTIONS.extractor(wildcards.collection)),
    shell:
        "python -m tripleaudit collection extract --index {input.index:q} --shard {wildcards.shard:q} "
        "--model $(dirname {input.model:q}) {params.gate:q} --settings {params.settings:q} "
        "--threads {threads} --gpus {resources.gpu} --out {output.triples:q} --facts {output.facts:q} > {log:q} 2>&1"


rule join_shards:
    """The list of a collection's shards, which makes its folder readable as one file, and their sums."""
    input:
        triples=lambda wildcards: COLLECTIONS.shards(wildcards.collection, "jsonl.gz"),
        facts=lambda wildcards: COLLECTIONS.shards(wildcards.collection, "json"),
    output:
        "<study>/collections/{collection}/shards.json",
    log:
        "<logs>/join_shards/{collection}.log",
    benchmark:
        "<benchmarks>/join_shards/{collection}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    shell:
        "python -m tripleaudit collection join {input.facts:q} --name {wildcards.collection:q} --out {output:q} "
        "> {log:q} 2>&1"


rule collection_table:
    """What was found in the study's text collections, and how fast, in four formats."""
    input:
        [f"<study>/collections/{name}/shards.json" for name in COLLECTIONS],
    output:
        csv="<study>/tables/collection.csv",
        md="<study>/tables/collection.md",
        tex="<study>/tables/collection.tex",
        html=report(
            "<study>/tables/collection.html",
            caption="../report/collection.rst",
            category="Tables",
            labels={"table": "collection"},
        ),
    log:
        "<logs>/table/collection.log",
    benchmark:
        "<benchmarks>/table/collection.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.described_code("table", TABLES, "collection"),
        files=lambda wildcards, input: [part for path in input for part in ("--file", f"collection={path}")],
    shell:
        "python -m tripleaudit table collection {params.files:q} --out-prefix $(dirname {output.md:q})/collection "
        "> {log:q} 2>&1"


rule collection:
    """Triples of all text collections of the study, and their table."""
    input:
        rules.collection_table.output.md if COLLECTIONS else [],
        COLLECTIONS.files(),
    localrule: True
