# Downloads with verification, in local rules; no other rule needs the network, except for services.
from tripleaudit.sources import registry


rule fetch_raw:
    """Fetch one registered raw file and verify it."""
    output:
        # not protected(): a run killed between the protection and its own bookkeeping could not make the file again
        "<downloads>/raw/{file}",
    log:
        "<logs>/fetch_raw/{file}.log",
    benchmark:
        "<benchmarks>/fetch_raw/{file}.jsonl"
    wildcard_constraints:
        file=".+",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("fetch"),
        pinned=pinned_file,
    shell:
        "python -P -m tripleaudit fetch --raw {wildcards.file:q} --out {output:q} > {log:q} 2>&1"


rule fetch_model:
    """Fetch one pretrained model and verify it."""
    output:
        model_files(["<downloads>/models/{model}/config.json"]),
        config="<downloads>/models/{model}/config.json",
    log:
        "<logs>/fetch_model/{model}.log",
    benchmark:
        "<benchmarks>/fetch_model/{model}.jsonl"
    wildcard_constraints:
        model=r"[A-Za-z0-9._-]+",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("fetch"),
        source=lambda wildcards, input: STUDY.paths.source(wildcards.model),
        pinned=pinned_model,
    shell:
        'python -P -m tripleaudit fetch --model {params.source:q} --out "$(dirname -- {output.config:q})" > {log:q} 2>&1'


rule fetch_data_set:
    """Fetch one split of a data set of the Hugging Face hub."""
    output:
        "<downloads>/datasets/{data_set}/{hub_split}.parquet",
    log:
        "<logs>/fetch_data_set/{data_set}/{hub_split}.log",
    benchmark:
        "<benchmarks>/fetch_data_set/{data_set}/{hub_split}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("fetch"),
        data_set=lambda wildcards: STUDY.data.data_set(wildcards.data_set),
    shell:
        "python -P -m tripleaudit fetch {params.data_set:q} --split {wildcards.hub_split:q} --out {output:q} > {log:q} 2>&1"
