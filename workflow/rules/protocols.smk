# From prepared corpora to the training and test sets of every protocol and cardinality setting.
# Functions of inputs and parameters are in functions.smk and common.smk; `code` is explained in scoring.smk.


rule original_split:
    """Write one split of a corpus in one cardinality setting."""
    input:
        PATHS.sentences,
    output:
        fill(PATHS.protocol_set, protocol="original"),
    log:
        "<logs>/original_split/{corpus}/{setting}/{split}.log",
    benchmark:
        "<benchmarks>/original_split/{corpus}/{setting}/{split}.jsonl"
    priority: 40
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("original-split"),
    shell:
        "python -P -m tripleaudit original-split --sentences {input:q} --setting {wildcards.setting} --out {output:q} "
        "> {log:q} 2>&1"


use rule prepare_corpus as prepare_published with:
    # one split of the published sets of a protocol, in place of sets made here
    output:
        sentences=PATHS.published_sentences,
        counts=PATHS.published_counts,
    log:
        "<logs>/prepare_published/{corpus}/{protocol}/{split}.log",
    benchmark:
        "<benchmarks>/prepare_published/{corpus}/{protocol}/{split}.jsonl"
    params:
        options=STUDY.data.prepare_options,


rule build_protocol:
    """Build training, validation and test sets of a protocol (rte-generalization 3.1, 3.2)."""
    input:
        unpack(STUDY.protocol_sets.protocol_inputs),
    output:
        train=fill(PATHS.protocol_set, setting="nz", split="train"),
        valid=fill(PATHS.protocol_set, setting="nz", split="valid"),
        test=fill(PATHS.protocol_set, setting="nz", split="test"),
        report=PATHS.protocol_report,
    log:
        "<logs>/build_protocol/{corpus}/{protocol}.log",
    benchmark:
        "<benchmarks>/build_protocol/{corpus}/{protocol}.jsonl"
    wildcard_constraints:
        protocol="|".join(map(re.escape, STUDY.protocol_sets.built)) or "none",
    priority: 40
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        options=STUDY.protocol_sets.protocol_json,
        code=protocol_code,
    shell:
        "python -P -m tripleaudit build-protocol --protocol {wildcards.protocol:q} --options {params.options:q} "
        "--train {input.train:q} --valid {input.valid:q} --test {input.test:q} "
        "--out-train {output.train:q} --out-valid {output.valid:q} --out-test {output.test:q} "
        "--report {output.report:q} > {log:q} 2>&1"


rule train_masked_lm:
    """Train a masked-LM head on the encoder over the training text, for augmented test sets."""
    input:
        train=fill(PATHS.protocol_set, protocol="original", setting="nz", split="train"),
        encoder=STUDY.protocol_sets.encoder_file,
        encoder_files=files_of(STUDY.protocol_sets.encoder_file),
    output:
        weights=fill(PATHS.masked_lm_file, name="model.safetensors"),
        config=fill(PATHS.masked_lm_file, name="config.json"),
        tokenizer=[fill(PATHS.masked_lm_file, name=name) for name in TOKENIZER],
    log:
        "<logs>/train_masked_lm/{corpus}.log",
    benchmark:
        "<benchmarks>/train_masked_lm/{corpus}.jsonl"
    priority: 10
    conda:
        "../../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        code=jobs.command_code("train-mlm"),
        options=STUDY.protocol_sets.masked_lm_options(STUDY.typed.encoder.layers),
        own_files=content_of(STUDY.protocol_sets.encoder_file),
    shell:
        'python -P -m tripleaudit train-mlm --encoder "$(dirname -- {input.encoder:q})" --train {input.train:q} '
        '{params.options:q} --out "$(dirname -- {output.weights:q})" > {log:q} 2>&1'


rule build_augmented:
    """Build the augmented test set by replacing entities (rte-generalization 3.3)."""
    input:
        unpack(STUDY.protocol_sets.protocol_inputs),
        unpack(STUDY.protocol_sets.augmentation_models),
        folders=files_of(STUDY.protocol_sets.augmentation_models),
    output:
        test=fill(PATHS.protocol_set, protocol="augmented", setting="nz", split="test"),
        report=fill(PATHS.protocol_report, protocol="augmented"),
    log:
        "<logs>/build_augmented/{corpus}.log",
    benchmark:
        "<benchmarks>/build_augmented/{corpus}.jsonl"
    priority: 10
    conda:
        "../../envs/torch.yaml"
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        options=STUDY.protocol_sets.protocol_json,
        code=augmentation_code,
        models=STUDY.protocol_sets.augmentation_options,
        own_files=content_of(STUDY.protocol_sets.augmentation_models),
        original=lambda wildcards, input: (
            ["--original", input.original] if "original" in input.keys() else []
        ),
    shell:
        "python -P -m tripleaudit build-protocol --protocol augmented --options {params.options:q} "
        "--train {input.train:q} --valid {input.valid:q} --test {input.test:q} "
        "{params.models:q} {params.original:q} --out-test {output.test:q} --report {output.report:q} > {log:q} 2>&1"
