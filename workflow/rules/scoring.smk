# Rules from predictions to one file with all scores of a study (scores.csv), and to data frames.
#
# A run (wildcard `run`, class TrainingRun in study/runs.py) is one training, and `classifier_run` that of a
# classifier. A row is a run on one test set and has one line of scores: `row` is the run's path and the name of
# the test set. PATHS are in study/paths.py. scored_inputs, scored_keys, scored_options and as_options are in
# common.smk. The params `code` are in no command: Snakemake reruns a job when the code behind it has changed.
# Commands write the provenance of a result next to it (core/provenance.py).
RESAMPLING = ["--replicates", config["scoring"]["bootstrap"], "--seed", config["scoring"]["seed"]]
UNIT = ["--unit", config["scoring"]["unit"]]
GATE = ["--threshold", config["scoring"]["gate"]] if "gate" in config["scoring"] else []


rule score:
    """Score one prediction file under every matching rule, with counts and intervals."""
    input:
        unpack(scored_inputs),
    output:
        scores=PATHS.scores,
        counts=PATHS.counts,
        provenance=PATHS.score_provenance,
    log:
        "<logs>/score/{row}.log",
    benchmark:
        "<benchmarks>/score/{row}.jsonl"
    wildcard_constraints:
        # The test set `classification` belongs to score_classifier. The dot begins the rest of a file name.
        row=r".+/(?!classification\.)[^/]+",
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=jobs.command_code("score-run"),
        files=as_options,
        run_keys=scored_keys,
        options=scored_options,
        resampling=[*RESAMPLING, *UNIT],
    shell:
        "python -P -m tripleaudit score-run {params.files:q} --keys {params.run_keys:q} {params.options} "
        "{params.resampling} --out-scores {output.scores:q} --out-counts {output.counts:q} > {log:q} 2>&1"


rule score_classifier:
    """Score a zero-cardinality classifier on the class "has triples", with its curve."""
    input:
        unpack(scored_inputs),
    output:
        scores=fill(PATHS.scores, row="{classifier_run}/classification"),
        counts=fill(PATHS.counts, row="{classifier_run}/classification"),
        provenance=fill(PATHS.score_provenance, row="{classifier_run}/classification"),
        curve=PATHS.curve,
    log:
        "<logs>/score_classifier/{classifier_run}.log",
    benchmark:
        "<benchmarks>/score_classifier/{classifier_run}.jsonl"
    wildcard_constraints:
        classifier_run=".+",
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=jobs.command_code("score-classifier"),
        files=as_options,
        run_keys=scored_keys,
        resampling=[*RESAMPLING, *GATE],
    shell:
        "python -P -m tripleaudit score-classifier {params.files:q} --keys {params.run_keys:q} {params.resampling} "
        "--out-scores {output.scores:q} --out-counts {output.counts:q} --out-curve {output.curve:q} > {log:q} 2>&1"


rule predict_baseline:
    """Predict one test set with a baseline: no triples, memorised triples, or always yes."""
    input:
        unpack(STUDY.protocol_sets.baseline_inputs),
    output:
        fill(PATHS.predictions, run=UNTRAINED_RUN),
    log:
        "<logs>/predict_baseline/{corpus}/{trainset}/{extractor}/{testset}.log",
    benchmark:
        "<benchmarks>/predict_baseline/{corpus}/{trainset}/{extractor}/{testset}.jsonl"
    wildcard_constraints:
        extractor="|".join(STUDY.typed.baselines) or "none",  # no baseline has the name none
    conda:
        "../../envs/light.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        code=jobs.command_code("predict-baseline"),
    shell:
        "python -P -m tripleaudit predict-baseline --baseline {wildcards.extractor:q} --train {input.train:q} "
        "--test {input.test:q} --out {output:q} > {log:q} 2>&1"


rule merge_scores:
    """Merge scores into one file for extraction, GREScores (gre/) or needles (needles/)."""
    input:
        STUDY.report.scores_of,
    output:
        scores=PATHS.merged_scores,
        provenance=PATHS.merged_provenance,
    log:
        "<logs>/merge_scores/{part}log",  # such as merge_scores/gre/log
    benchmark:
        "<benchmarks>/merge_scores/{part}jsonl"
    wildcard_constraints:
        part="|gre/|needles/",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("merge-scores"),
    shell:
        "python -P -m tripleaudit merge-scores --paths {input:q} --out {output.scores:q} "
        "--provenance {output.provenance:q} > {log:q} 2>&1"


rule frames:
    """Write scores, counts, cells and contrasts of the study as data frames."""
    input:
        unpack(STUDY.report.frame_inputs),
    output:
        [fill(PATHS.frame, frame=name, form="parquet") for name in ("counts", "cells", "contrasts")],
        scores=fill(PATHS.frame, frame="scores", form="parquet"),
        csv=[fill(PATHS.frame, frame=name, form="csv") for name in ("cells", "contrasts")],
    log:
        "<logs>/frames.log",
    benchmark:
        "<benchmarks>/frames.jsonl"
    localrule: True
    conda:
        "../../envs/torch.yaml"  # pairs of systems are compared by PyTorch
    params:
        code=jobs.command_code("study-frames"),
        files=as_options,
    shell:
        'python -P -m tripleaudit study-frames {params.files:q} --out "$(dirname -- {output.scores:q})" > {log:q} 2>&1'
