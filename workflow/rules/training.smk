# Training and prediction: one rule for all extractors and classifiers; their differences live in the package.


rule train:
    """Train one extractor or classifier on one training set with one seed."""
    input:
        unpack(trainset_files),
    output:
        weights="<study>/models/<run>/model.safetensors",
        config="<study>/models/<run>/config.json",
        history="<study>/models/<run>/history.jsonl",
        provenance="<study>/models/<run>/provenance.json",
    log:
        "<logs>/train/<run>.log",
    benchmark:
        "<benchmarks>/train/<run>.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: 4
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=lambda wildcards, attempt: STUDY.resource(wildcards.extractor, "mem_mb", 8000) * attempt,
        runtime=lambda wildcards: STUDY.resource(wildcards.extractor, "runtime", "8h"),
    params:
        settings=lambda wildcards: STUDY.training_json(wildcards.corpus, wildcards.extractor, wildcards.noise),
        code=lambda wildcards: code_version("train", wildcards.extractor),
    shell:
        "python -m tripleaudit train --train {input.train:q} --valid {input.valid:q} "
        "--encoder $(dirname {input.encoder:q}) --extractor {wildcards.extractor:q} "
        "--settings {params.settings:q} --seed {wildcards.seed} --threads {threads} "
        "--out $(dirname {output.weights:q}) > {log:q} 2>&1"


rule predict:
    """Predict the triples of the test set of a training's own protocol."""
    input:
        weights="<study>/models/<run>/model.safetensors",
        test=testset_files,
    output:
        test="<study>/predictions/<run>/test.jsonl",
    log:
        "<logs>/predict/<run>.log",
    benchmark:
        "<benchmarks>/predict/<run>.jsonl"
    wildcard_constraints:
        trainset="|".join(t for t in STUDY.trainsets if t != "original-nz" or "augmented" not in STUDY.protocols)
        or "none",
    conda:
        "../../envs/torch.yaml"
    threads: 4
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=lambda wildcards, attempt: STUDY.resource(wildcards.extractor, "mem_mb", 8000) * attempt,
        runtime="1h",
    params:
        batch_size=config["prediction"]["batch_size"],
        code=lambda wildcards: code_version("predict", wildcards.extractor),
    shell:
        "python -m tripleaudit predict --model $(dirname {input.weights:q}) --batch-size {params.batch_size} "
        "--threads {threads} --data {input.test:q} --out {output.test:q} > {log:q} 2>&1"


use rule predict as predict_with_augmented with:
    input:
        weights="<study>/models/<run>/model.safetensors",
        test=lambda wildcards: [testset_files(wildcards), "<study>/protocols/{corpus}/augmented/nz/test.jsonl"],
    output:
        test=[
            "<study>/predictions/<run>/test.jsonl",
            "<study>/predictions/<run>/augmented.jsonl",
        ],
    wildcard_constraints:
        trainset="original-nz" if "augmented" in STUDY.protocols else "none",
