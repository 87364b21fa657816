# From the tidy scores, the audits of the data and the facts of the trainings to paper-style tables and the report.


rule training_facts:
    """How long every training took, on what, and how it went."""
    input:
        [f"<study>/models/{run.path}/provenance.json" for run in STUDY.runs + STUDY.classifier_runs],
    output:
        "<study>/trainings.json",
    log:
        "<logs>/training_facts.log",
    benchmark:
        "<benchmarks>/training_facts.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        runs=lambda wildcards: STUDY.run_keys(STUDY.runs + STUDY.classifier_runs),
    script:
        "../scripts/training_facts.py"


rule audit:
    """Triple types, strata and sizes of a test set against its training set."""
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
    benchmark:
        "<benchmarks>/audit/{corpus}/{protocol}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        study=STUDY.name,
    script:
        "../scripts/audit.py"


rule table:
    """One paper-style table in four formats, reported values beside measured ones."""
    input:
        unpack(table_inputs),
    output:
        csv="<study>/tables/{table}.csv",
        md="<study>/tables/{table}.md",
        tex="<study>/tables/{table}.tex",
        html=report(
            "<study>/tables/{table}.html",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        "<logs>/table/{table}.log",
    benchmark:
        "<benchmarks>/table/{table}.jsonl"
    wildcard_constraints:
        table="|".join(STUDY.possible_tables) or "none",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        study=STUDY.name,
        options=lambda wildcards: STUDY.table_options(wildcards.table),
    script:
        "../scripts/table.py"


rule tables:
    """All tables of the study."""
    input:
        [f"<study>/tables/{name}.md" for name in STUDY.tables],
    localrule: True


# a target for every table by its name: `snakemake --cores 2 sifted` makes that table and what it needs
for table_name in STUDY.tables:

    rule:
        name:
            table_name.replace("-", "_")
        input:
            f"<study>/tables/{table_name}.md",
        localrule: True
