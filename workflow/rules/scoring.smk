# From predictions to one tidy scores file.


def gold_file(wildcards):
    """The gold test set in one testing setting."""
    protocol = "augmented" if wildcards.testset == "augmented" else wildcards.trainset.rsplit("-", 1)[0]
    return f"<study>/protocols/{wildcards.corpus}/{protocol}/{wildcards.testing}/test.jsonl"


def seen_file(wildcards):
    """The training triples that decide which test triples count as seen: those of the nz training set."""
    protocol = wildcards.trainset.rsplit("-", 1)[0]
    return f"<study>/protocols/{wildcards.corpus}/{protocol}/nz/train.jsonl"


def score_files(kind="scores"):
    """Every scores file of the study's extractors."""
    return [
        f"<study>/{kind}/{run.path}/{testset}-{testing}.csv"
        for run in STUDY.runs
        for testset, testing in STUDY.testsets(run)
    ]


rule score:
    """Micro and type P/R/F1 with intervals of one prediction file, under every matching rule."""
    input:
        gold=gold_file,
        predictions="<study>/predictions/<run>/{testset}.jsonl",
        train=seen_file,
        provenance="<study>/models/<run>/provenance.json",
    output:
        scores="<study>/scores/<run>/{testset}-{testing}.csv",
        counts="<study>/counts/<run>/{testset}-{testing}.csv",
    log:
        "<logs>/score/<run>/{testset}-{testing}.log",
    conda:
        "../../envs/light.yaml"
    params:
        study=STUDY.name,
        scoring=config["scoring"],
    script:
        "../scripts/score.py"


rule merge_scores:
    """One tidy scores file of the whole study."""
    localrule: True
    input:
        score_files(),
    output:
        scores="<study>/scores.csv",
        provenance="<study>/scores.provenance.json",
    log:
        "<logs>/merge_scores.log",
    conda:
        "../../envs/light.yaml"
    script:
        "../scripts/merge_scores.py"
