# Triples of large text collections: the texts are divided into blocks, which several jobs extract.
COLLECTIONS = STUDY.collections


rule divide_collection:
    """Divide one collection into blocks: file, first row, number of rows, digest."""
    input:
        texts=lambda wildcards: COLLECTIONS.texts(wildcards.collection),
    output:
        fill(PATHS.collection_file, name="division.json"),
    log:
        "<logs>/divide_collection/{collection}.log",
    benchmark:
        "<benchmarks>/divide_collection/{collection}.jsonl"
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=COLLECTIONS.runtime,
    params:
        code=jobs.command_code("collection"),
        addresses=COLLECTIONS.addresses,
        reading=COLLECTIONS.reading_options,
        own_files=content_of(lambda wildcards: COLLECTIONS.texts(wildcards.collection)),
    shell:
        "python -P -m tripleaudit collection divide {input.texts:q} {params.addresses:q} {params.reading:q} "
        '--out "$(dirname -- {output:q})" > {log:q} 2>&1'


rule extract_collection:
    """Extract the triples of one part of the blocks; a restarted job keeps finished blocks."""
    input:
        division=fill(PATHS.collection_file, name="division.json"),
        texts=lambda wildcards: COLLECTIONS.texts(wildcards.collection),
        model=lambda wildcards: COLLECTIONS.model(wildcards.collection),
        gate=lambda wildcards: COLLECTIONS.gate(wildcards.collection),
        folders=files_of(COLLECTIONS.models),
    output:
        PATHS.collection_part,
    log:
        "<logs>/extract_collection/{collection}/{part}-of-{parts}.log",
    benchmark:
        "<benchmarks>/extract_collection/{collection}/{part}-of-{parts}.jsonl"
    wildcard_constraints:
        part=r"\d+",
        parts=r"\d+",
    conda:
        "../../envs/torch.yaml"
    threads: COLLECTIONS.threads
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=COLLECTIONS.mem_mb,
        runtime=COLLECTIONS.runtime,
    params:
        addresses=COLLECTIONS.addresses,
        reading=COLLECTIONS.reading_options,
        deciding=COLLECTIONS.deciding_options,
        speed=COLLECTIONS.speed_options,
        extractor=lambda wildcards, input, threads: COLLECTIONS.extractor_options(
            wildcards.collection, threads, input.model
        ),
        gate=lambda wildcards, input: (
            ["--gate", str(Path(input.gate[0]).parent)] if input.gate else []
        ),
        system=COLLECTIONS.identity,
        code=collection_code,
        own_files=content_of(collection_files),
    shell:
        "python -P -m tripleaudit collection part {input.texts:q} {params.addresses:q} {params.reading:q} {params.extractor:q} "
        "{params.gate:q} {params.deciding:q} {params.speed:q} --gpus {resources.gpu} "
        "--number {wildcards.part} --parts {wildcards.parts} "
        '--name {wildcards.collection:q} --out "$(dirname -- {input.division:q})" > {log:q} 2>&1'


rule finish_collection:
    """Write the manifest of one collection after all parts, and remove unused blocks."""
    input:
        division=fill(PATHS.collection_file, name="division.json"),
        parts=lambda wildcards: COLLECTIONS.parts(wildcards.collection),
        texts=lambda wildcards: COLLECTIONS.texts(wildcards.collection),
        model=lambda wildcards: COLLECTIONS.model(wildcards.collection),
        gate=lambda wildcards: COLLECTIONS.gate(wildcards.collection),
        folders=files_of(COLLECTIONS.models),
    output:
        fill(PATHS.collection_file, name="collection.json"),
    log:
        "<logs>/finish_collection/{collection}.log",
    benchmark:
        "<benchmarks>/finish_collection/{collection}.jsonl"
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=30,
    params:
        addresses=COLLECTIONS.addresses,
        reading=COLLECTIONS.reading_options,
        deciding=COLLECTIONS.deciding_options,
        extractor=lambda wildcards, input: COLLECTIONS.extractor_options(
            wildcards.collection, 1, input.model
        ),
        gate=lambda wildcards, input: (
            ["--gate", str(Path(input.gate[0]).parent)] if input.gate else []
        ),
        system=COLLECTIONS.identity,
        code=collection_code,
    shell:
        "python -P -m tripleaudit collection finish {input.texts:q} {params.addresses:q} {params.reading:q} "
        "{params.extractor:q} {params.gate:q} {params.deciding:q} --gpus 0 "
        '--name {wildcards.collection:q} --out "$(dirname -- {output:q})" > {log:q} 2>&1'


rule collection:
    """Triples of all text collections of the study, and their table."""
    input:
        [fill(PATHS.table, table=name, form="md") for name in STUDY.report.tables("collection")],
        COLLECTIONS.files(),
    localrule: True
