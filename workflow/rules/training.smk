# Training and prediction: one rule for all extractors and classifiers; differences are in the package.
TRAININGS = STUDY.trainings
ORIGINAL_NZ_RUN = "{corpus}/original-nz/{extractor}/{noise}/seed{seed}"


rule train:
    """Train one extractor or classifier on one training set with one seed."""
    input:
        unpack(STUDY.protocol_sets.trainset_files),
        encoder_files=files_of(STUDY.protocol_sets.encoder_file),
    output:
        weights=fill(PATHS.model_file, name="model.safetensors"),
        config=fill(PATHS.model_file, name="config.json"),
        history=fill(PATHS.model_file, name="history.jsonl"),
        provenance=fill(PATHS.model_file, name="provenance.json"),
        tokenizer=[fill(PATHS.model_file, name=name) for name in TOKENIZER],
    log:
        "<logs>/train/<run>.log",
    benchmark:
        "<benchmarks>/train/<run>.jsonl"
    priority: 30  # the longest jobs, so that none is left for the end
    conda:
        "../../envs/torch.yaml"
    threads: config["threads"]
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=TRAININGS.mem_mb,
        runtime=TRAININGS.runtime,
    params:
        settings=TRAININGS.settings_json,
        unaffecting=TRAININGS.unaffecting_options,
        code=training_code,
        own_files=content_of(STUDY.protocol_sets.encoder_file),
    shell:
        "python -P -m tripleaudit train --train {input.train:q} --valid {input.valid:q} "
        '--encoder "$(dirname -- {input.encoder:q})" --extractor {wildcards.extractor:q} '
        "--settings {params.settings:q} {params.unaffecting:q} --seed {wildcards.seed} --threads {threads} --gpus {resources.gpu} "
        '--out "$(dirname -- {output.provenance:q})" > {log:q} 2>&1'


use rule train as double with:
    output:
        weights=temp(fill(PATHS.doubled_file, name="model.safetensors")),
        config=temp(fill(PATHS.doubled_file, name="config.json")),
        history=fill(PATHS.doubled_file, name="history.jsonl"),
        provenance=fill(PATHS.doubled_file, name="provenance.json"),
        tokenizer=[temp(fill(PATHS.doubled_file, name=name)) for name in TOKENIZER],
    log:
        "<logs>/double/<run>.log",
    benchmark:
        "<benchmarks>/double/<run>.jsonl"
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=TRAININGS.mem_mb,
        runtime=TRAININGS.runtime,
    params:
        settings=partial(TRAININGS.settings_json, double=True),
        unaffecting=TRAININGS.unaffecting_options,
        code=training_code,


rule predict:
    """Predict the triples of the test set of a training's own protocol."""
    input:
        weights=fill(PATHS.model_file, name="model.safetensors"),
        folder=model_files([fill(PATHS.model_file, name="model.safetensors")]),
        test=STUDY.protocol_sets.testset_file,
    output:
        test=fill(PATHS.predictions, testset="test"),
    log:
        "<logs>/predict/<run>.log",
    benchmark:
        "<benchmarks>/predict/<run>.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: config["threads"]
    resources:
        gpu=0 if config["gpu"] == 0 else 1,
        mem_mb=TRAININGS.mem_mb,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        batch_size=lambda wildcards, input: config["prediction"]["batch_size"],
        schema=lambda wildcards: ["--schema-of-test"]
        * STUDY.protocol_sets.testset_gives_schema(wildcards.get("trainset", "original-nz")),
        code=prediction_code,
    shell:
        'python -P -m tripleaudit predict --model "$(dirname -- {input.weights:q})" '
        "--batch-size {params.batch_size} --threads {threads} --gpus {resources.gpu} {params.schema} "
        "--data {input.test:q} --out {output.test:q} > {log:q} 2>&1"


use rule predict as predict_validation with:
    input:
        weights=fill(PATHS.model_file, name="model.safetensors"),
        folder=model_files([fill(PATHS.model_file, name="model.safetensors")]),
        test=STUDY.protocol_sets.validation_file,
    output:
        test=fill(PATHS.predictions, testset="valid"),
    log:
        "<logs>/predict_validation/<run>.log",
    benchmark:
        "<benchmarks>/predict_validation/<run>.jsonl"


# weights of a training of twice the epochs are deleted after the predictions
use rule predict as predict_doubled with:
    input:
        weights=fill(PATHS.doubled_file, name="model.safetensors"),
        folder=[
            fill(PATHS.doubled_file, name="config.json"),
            *(fill(PATHS.doubled_file, name=name) for name in TOKENIZER),
        ],
        test=STUDY.protocol_sets.doubled_sets,
    output:
        test=[fill(PATHS.doubled_file, name=f"{split}.jsonl") for split in ("valid", "test")],
    log:
        "<logs>/predict_doubled/<run>.log",
    benchmark:
        "<benchmarks>/predict_doubled/<run>.jsonl"


if STUDY.protocol_sets.tests_only:

    use rule predict as predict_doubled_with_augmented with:
        input:
            weights=fill(PATHS.doubled_file, run=ORIGINAL_NZ_RUN, name="model.safetensors"),
            folder=[
                fill(PATHS.doubled_file, run=ORIGINAL_NZ_RUN, name=name)
                for name in ("config.json", *TOKENIZER)
            ],
            test=STUDY.protocol_sets.doubled_sets,
        output:
            test=[
                fill(PATHS.doubled_file, run=ORIGINAL_NZ_RUN, name=f"{name}.jsonl")
                for name in ("valid", "test", *STUDY.protocol_sets.tests_only)
            ],
        log:
            "<logs>/predict_doubled/{corpus}/original-nz/{extractor}/{noise}/seed{seed}.log",
        benchmark:
            "<benchmarks>/predict_doubled/{corpus}/original-nz/{extractor}/{noise}/seed{seed}.jsonl"

    ruleorder: predict_doubled_with_augmented > predict_doubled

    # one job for all test sets of the original nz training, so that its model is loaded once
    use rule predict as predict_with_augmented with:
        input:
            weights=fill(PATHS.model_file, run=ORIGINAL_NZ_RUN, name="model.safetensors"),
            folder=model_files(
                [fill(PATHS.model_file, run=ORIGINAL_NZ_RUN, name="model.safetensors")]
            ),
            test=STUDY.protocol_sets.testset_files,
        output:
            test=[
                fill(PATHS.predictions, run=ORIGINAL_NZ_RUN, testset=name)
                for name in ("test", *STUDY.protocol_sets.tests_only)
            ],
        log:
            "<logs>/predict/{corpus}/original-nz/{extractor}/{noise}/seed{seed}.log",
        benchmark:
            "<benchmarks>/predict/{corpus}/original-nz/{extractor}/{noise}/seed{seed}.jsonl"

    ruleorder: predict_with_augmented > predict
