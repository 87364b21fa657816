# Everything that comes from elsewhere is fetched and verified here, in local rules; no other rule uses the network.


def raw_root():
    """The folder with raw files: the study's own, or where the rule below fetches them to."""
    return config["raw_root"] or "<downloads>/raw"


def model_folder(model):
    """The folder of a model named in the configuration, fetched unless it is a local folder already."""
    local = STUDY.local_model(model)
    return local or f"<downloads>/models/{STUDY.model_slug(model)}"


ENCODER = f"{model_folder(config['encoder']['model'])}/config.json"


rule fetch_raw:
    """Fetch one registered raw file and verify it."""
    localrule: True
    output:
        protected("<downloads>/raw/{file}"),
    log:
        "<logs>/fetch_raw/{file}.log",
    wildcard_constraints:
        file=".+",
    conda:
        "../../envs/light.yaml"
    shell:
        "{PYTHON} -m tripleaudit fetch --raw {wildcards.file:q} --out {output:q} > {log:q} 2>&1"


rule fetch_model:
    output:
        "<downloads>/models/{model}/config.json",
    log:
        "<logs>/fetch_model/{model}.log",
    wildcard_constraints:
        model=r"[A-Za-z0-9._-]+",
    """Fetch one pretrained model and verify it."""
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        source=lambda wildcards: STUDY.model_of_slug(wildcards.model),
    shell:
        "{PYTHON} -m tripleaudit fetch --model {params.source:q} --out $(dirname {output:q}) > {log:q} 2>&1"
