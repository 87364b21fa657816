# From predictions to one tidy scores file.
from tripleaudit.scoring.rows import two_step_name

RESAMPLING = ["--replicates", config["scoring"]["bootstrap"], "--seed", config["scoring"]["seed"]]
GATE = ["--threshold", config["scoring"]["gate"]] if "gate" in config["scoring"] else []


rule score:
    """Micro and type P/R/F1 with intervals of one prediction file, under every matching rule."""
    input:
        gold=STUDY.gold_file,
        predictions="<study>/predictions/<run>/{testset}.jsonl",
        train=STUDY.seen_file,
        provenance="<study>/models/<run>/provenance.json",
    output:
        scores="<study>/scores/<run>/{testset}-{testing}.csv",
        counts="<study>/counts/<run>/{testset}-{testing}.csv",
    log:
        "<logs>/score/<run>/{testset}-{testing}.log",
    benchmark:
        "<benchmarks>/score/<run>/{testset}-{testing}.jsonl"
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        run_keys=tested_keys,
        options=lambda wildcards: ["--only-with-triples"] if wildcards.testing == "nz" else [],
        resampling=RESAMPLING,
    shell:
        "python -m tripleaudit score-run --gold {input.gold:q} --predictions {input.predictions:q} "
        "--train {input.train:q} --keys {params.run_keys:q} {params.options} {params.resampling} "
        "--out-scores {output.scores:q} --out-counts {output.counts:q} > {log:q} 2>&1"


rule score_classifier:
    """P/R/F1 of a zero-cardinality classifier on the class "has triples", and its precision-recall curve."""
    input:
        gold="<study>/protocols/{corpus}/original/wz/test.jsonl",
        decisions="<study>/predictions/<run>/test.jsonl",
    output:
        scores="<study>/scores/<run>/classification.csv",
        counts="<study>/counts/<run>/classification.csv",
        curve="<study>/scores/<run>/curve.json",
    log:
        "<logs>/score_classifier/<run>.log",
    benchmark:
        "<benchmarks>/score_classifier/<run>.jsonl"
    wildcard_constraints:
        extractor="|".join(STUDY.classifiers) or "none",
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        run_keys=lambda wildcards: score_keys(wildcards, protocol="original", training="wz", testing="wz"),
        resampling=[*RESAMPLING, *GATE],
    shell:
        "python -m tripleaudit score-classifier --gold {input.gold:q} --decisions {input.decisions:q} "
        "--keys {params.run_keys:q} {params.resampling} --out-scores {output.scores:q} --out-counts {output.counts:q} "
        "--out-curve {output.curve:q} > {log:q} 2>&1"


rule score_two_step:
    """Two-step extraction: what an nz-trained extractor predicts on the sentences that a classifier lets through."""
    input:
        gold="<study>/protocols/{corpus}/original/wz/test.jsonl",
        predictions="<study>/predictions/{corpus}/original-nz/{extractor}/{noise}/seed{seed}/test.jsonl",
        decisions="<study>/predictions/{corpus}/original-wz/{gate}/none/seed{seed}/test.jsonl",
        train="<study>/protocols/{corpus}/original/nz/train.jsonl",
    output:
        scores="<study>/scores/{corpus}/original-nz/{extractor}/{noise}/seed{seed}/{gate}.csv",
        counts="<study>/counts/{corpus}/original-nz/{extractor}/{noise}/seed{seed}/{gate}.csv",
    log:
        "<logs>/score_two_step/{corpus}/{extractor}/{noise}/seed{seed}/{gate}.log",
    benchmark:
        "<benchmarks>/score_two_step/{corpus}/{extractor}/{noise}/seed{seed}/{gate}.jsonl"
    wildcard_constraints:
        gate="zcc-(binary|mcml)",
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        run_keys=lambda wildcards: score_keys(
            wildcards,
            protocol="original",
            training="nz",
            testing="wz",
            extractor=two_step_name(wildcards.gate, wildcards.extractor),
        ),
        resampling=[*RESAMPLING, *GATE],
        report=[],
    shell:
        "python -m tripleaudit score-run --gold {input.gold:q} --predictions {input.predictions:q} "
        "--decisions {input.decisions:q} --train {input.train:q} --keys {params.run_keys:q} {params.resampling} {params.report} "
        "--out-scores {output.scores:q} --out-counts {output.counts:q} > {log:q} 2>&1"


use rule score_two_step as score_two_step_system with:
    input:
        gold="<study>/protocols/{corpus}/original/wz/test.jsonl",
        predictions="<study>/predictions/{corpus}/original-nz/{extractor}/test.jsonl",
        decisions="<study>/predictions/{corpus}/original-wz/{gate}/none/seed{seed}/test.jsonl",
        train="<study>/protocols/{corpus}/original/nz/train.jsonl",
        report="<study>/predictions/{corpus}/original-nz/{extractor}/test.report.json",
    output:
        scores="<study>/scores/{corpus}/original-nz/{extractor}/{gate}-seed{seed}.csv",
        counts="<study>/counts/{corpus}/original-nz/{extractor}/{gate}-seed{seed}.csv",
    log:
        "<logs>/score_two_step/{corpus}/{extractor}/{gate}-seed{seed}.log",
    benchmark:
        "<benchmarks>/score_two_step/{corpus}/{extractor}/{gate}-seed{seed}.jsonl"
    wildcard_constraints:
        gate="zcc-(binary|mcml)",
        extractor=SYSTEMS,
    params:
        run_keys=lambda wildcards: score_keys(
            wildcards,
            protocol="original",
            training="nz",
            testing="wz",
            extractor=two_step_name(wildcards.gate, wildcards.extractor),
        ),
        resampling=[*RESAMPLING, *GATE],
        report=lambda wildcards, input: ["--report", input.report],


rule predict_baseline:
    """What a system that learns nothing says of a test set: nothing, memorised triples, always yes."""
    input:
        unpack(STUDY.baseline_inputs),
    output:
        "<study>/predictions/{corpus}/{trainset}/{extractor}/{testset}.jsonl",
    log:
        "<logs>/predict_baseline/{corpus}/{trainset}/{extractor}/{testset}.log",
    benchmark:
        "<benchmarks>/predict_baseline/{corpus}/{trainset}/{extractor}/{testset}.jsonl"
    wildcard_constraints:
        extractor="|".join(STUDY.baselines) or "none",
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=lambda wildcards: jobs.described_code("predict-baseline", BASELINES, wildcards.extractor),
    shell:
        "python -m tripleaudit predict-baseline --baseline {wildcards.extractor:q} --train {input.train:q} "
        "--test {input.test:q} --out {output:q} > {log:q} 2>&1"


use rule score as score_baseline with:
    input:
        gold=STUDY.gold_file,
        predictions="<study>/predictions/{corpus}/{trainset}/{extractor}/{testset}.jsonl",
        train=STUDY.seen_file,
    output:
        scores="<study>/scores/{corpus}/{trainset}/{extractor}/{testset}-{testing}.csv",
        counts="<study>/counts/{corpus}/{trainset}/{extractor}/{testset}-{testing}.csv",
    log:
        "<logs>/score/{corpus}/{trainset}/{extractor}/{testset}-{testing}.log",
    benchmark:
        "<benchmarks>/score/{corpus}/{trainset}/{extractor}/{testset}-{testing}.jsonl"
    wildcard_constraints:
        extractor="|".join(STUDY.baselines) or "none",


use rule score as score_system with:
    input:
        gold=STUDY.gold_file,
        predictions="<study>/predictions/{corpus}/{trainset}/{extractor}/{testset}.jsonl",
        train=STUDY.seen_file,
        report="<study>/predictions/{corpus}/{trainset}/{extractor}/{testset}.report.json",
    output:
        scores="<study>/scores/{corpus}/{trainset}/{extractor}/{testset}-{testing}.csv",
        counts="<study>/counts/{corpus}/{trainset}/{extractor}/{testset}-{testing}.csv",
    log:
        "<logs>/score/{corpus}/{trainset}/{extractor}/{testset}-{testing}.log",
    benchmark:
        "<benchmarks>/score/{corpus}/{trainset}/{extractor}/{testset}-{testing}.jsonl"
    wildcard_constraints:
        extractor=SYSTEMS,
    params:
        run_keys=tested_keys,
        options=lambda wildcards, input: [
            *(["--only-with-triples"] if wildcards.testing == "nz" else []),
            *["--report", input.report],
        ],
        resampling=RESAMPLING,


use rule score_classifier as score_baseline_classifier with:
    input:
        gold="<study>/protocols/{corpus}/original/wz/test.jsonl",
        decisions="<study>/predictions/{corpus}/original-wz/{extractor}/test.jsonl",
    output:
        scores="<study>/scores/{corpus}/original-wz/{extractor}/classification.csv",
        counts="<study>/counts/{corpus}/original-wz/{extractor}/classification.csv",
        curve="<study>/scores/{corpus}/original-wz/{extractor}/curve.json",
    log:
        "<logs>/score_classifier/{corpus}/original-wz/{extractor}.log",
    benchmark:
        "<benchmarks>/score_classifier/{corpus}/original-wz/{extractor}.jsonl"
    wildcard_constraints:
        extractor="|".join(STUDY.baselines) or "none",


rule merge_scores:
    """One tidy scores file of the whole study."""
    input:
        STUDY.score_files(),
    output:
        scores="<study>/scores.csv",
        provenance="<study>/scores.provenance.json",
    log:
        "<logs>/merge_scores.log",
    benchmark:
        "<benchmarks>/merge_scores.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    shell:
        "python -m tripleaudit merge-scores --paths {input:q} --out {output.scores:q} "
        "--provenance {output.provenance:q} > {log:q} 2>&1"
