# From the tidy scores, the audits of the data and the facts of the trainings to paper-style tables and the report.


def audit_files():
    """One audit of each corpus and protocol."""
    return [
        f"<study>/audits/{corpus}/{protocol}.json"
        for corpus in STUDY.corpora
        for protocol in STUDY.protocols
    ]


def table_inputs(wildcards):
    """What one table is made from; the tables about data need no training."""
    needs = STUDY.needs_of_table(wildcards.table)
    return {
        "audits": audit_files() if needs == "audits" else [],
        "scores": ["<study>/scores.csv"] if needs == "scores" else [],
        "counts": score_files("counts") if needs == "scores" else [],
        "runs": ["<study>/trainings.json"] if needs == "runs" else [],
    }


rule training_facts:
    input:
        [
            f"<study>/models/{run.path}/provenance.json"
            for run in STUDY.runs + STUDY.classifier_runs
        ],
    output:
        "<study>/trainings.json",
    log:
        "<logs>/training_facts.log",
    """How long every training took, on what, and how it went."""
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        runs=lambda wildcards: STUDY.run_keys(STUDY.runs + STUDY.classifier_runs),
    script:
        "../scripts/training_facts.py"


rule audit:
    input:
        train=lambda wildcards: f"<study>/protocols/{{corpus}}/{STUDY.trained_on(wildcards.protocol)}/nz/train.jsonl",
        valid=lambda wildcards: f"<study>/protocols/{{corpus}}/{STUDY.trained_on(wildcards.protocol)}/nz/valid.jsonl",
        test="<study>/protocols/{corpus}/{protocol}/nz/test.jsonl",
        zero=lambda wildcards: [
            f"<study>/protocols/{{corpus}}/original/wz/{split}.jsonl"
            for split in ("train", "valid", "test")
            if wildcards.protocol == "original" and "wz" in STUDY.settings
        ],
    output:
        "<study>/audits/{corpus}/{protocol}.json",
    log:
        "<logs>/audit/{corpus}/{protocol}.log",
    """Triple types, strata and sizes of a test set against its training set."""
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        study=STUDY.name,
    script:
        "../scripts/audit.py"


rule table:
    input:
        unpack(table_inputs),
    output:
        csv="<study>/tables/{table}.csv",
        md="<study>/tables/{table}.md",
        tex="<study>/tables/{table}.tex",
        html=report(
            "<study>/tables/{table}.html",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        "<logs>/table/{table}.log",
    wildcard_constraints:
        table="|".join(STUDY.possible_tables),
    """One paper-style table in four formats, reported values beside measured ones."""
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        study=STUDY.name,
        options=lambda wildcards: STUDY.table_options(wildcards.table),
    script:
        "../scripts/table.py"


rule tables:
    input:
        [f"<study>/tables/{name}.md" for name in STUDY.tables],
    """All tables of the study."""
    localrule: True
