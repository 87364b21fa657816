# From prepared corpora to the training and test sets of every protocol and cardinality setting.


def protocol_inputs(wildcards):
    """The original nz splits, and the masked language model and vectors where the protocol needs them."""
    folder = f"<study>/protocols/{wildcards.corpus}/original/nz"
    return {split: f"{folder}/{split}.jsonl" for split in ("train", "valid", "test")}


rule original_split:
    input:
        "<study>/corpora/{corpus}/{split}.jsonl",
    output:
        "<study>/protocols/{corpus}/original/{setting}/{split}.jsonl",
    log:
        "<logs>/original_split/{corpus}/{setting}/{split}.log",
    """The original split of a corpus in one cardinality setting."""
    localrule: True
    conda:
        "../../envs/light.yaml"
    script:
        "../scripts/original_split.py"


rule build_protocol:
    """Rearranged or overlap-sifted training, validation and test sets (rte-generalization 3.1 and 3.2)."""
    input:
        unpack(protocol_inputs),
    output:
        train="<study>/protocols/{corpus}/{protocol}/nz/train.jsonl",
        valid="<study>/protocols/{corpus}/{protocol}/nz/valid.jsonl",
        test="<study>/protocols/{corpus}/{protocol}/nz/test.jsonl",
        report="<study>/protocols/{corpus}/{protocol}/report.json",
    log:
        "<logs>/build_protocol/{corpus}/{protocol}.log",
    benchmark:
        "<benchmarks>/build_protocol/{corpus}/{protocol}.jsonl"
    wildcard_constraints:
        protocol=r"rearranged|sift-\w+",
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        options=lambda wildcards: STUDY.protocol_json(wildcards.protocol),
        code=code_version("protocol"),
    shell:
        "{PYTHON} -m tripleaudit protocol --protocol {wildcards.protocol:q} --options {params.options:q} "
        "--train {input.train:q} --valid {input.valid:q} --test {input.test:q} "
        "--out-train {output.train:q} --out-valid {output.valid:q} --out-test {output.test:q} "
        "--report {output.report:q} > {log:q} 2>&1"
