# From the tidy scores, the audits of the data and the facts of the trainings to paper-style tables and the report.


rule training_facts:
    """How long every training took, on what, and how it went; those behind stored predictions too."""
    input:
        **STUDY.report.gain_files,
        provenances=STUDY.report.trainings,
        histories=STUDY.systems.histories(),
        doubles=STUDY.report.doubles,
        earlier=STUDY.report.earlier,
    output:
        "<study>/trainings.json",
    log:
        "<logs>/training_facts.log",
    localrule: True
    params:
        run_keys=lambda wildcards: json.dumps(STUDY.report.training_keys),
        double_keys=lambda wildcards: json.dumps(list(map(STUDY.run_keys, STUDY.doubled_runs))),
    shell:
        "python -P -m tripleaudit training-facts --provenances {input.provenances:q} --keys {params.run_keys:q} "
        "--doubles {input.doubles:q} --double-keys {params.double_keys:q} "
        "--validation {input.validation:q} --single-predictions {input.single_predictions:q} "
        "--double-predictions {input.double_predictions:q} "
        "--earlier {input.earlier:q} --out {output:q} > {log:q} 2>&1"


rule audit:
    """Triple types, strata and sizes of a test set against its training set."""
    input:
        unpack(STUDY.audited_files),
    output:
        "<study>/audits/{corpus}/{protocol}.json",
    log:
        "<logs>/audit/{corpus}/{protocol}.log",
    localrule: True
    params:
        run_keys=lambda wildcards: json.dumps({"study": STUDY.name, **wildcards}),
    shell:
        "python -P -m tripleaudit audit-protocol --keys {params.run_keys:q} --splits {input.train:q} {input.valid:q} "
        "{input.test:q} --with-zero {input.zero:q} --counts {input.counts:q} "
        "--original {input.original:q} --out {output:q} > {log:q} 2>&1"


rule table:
    """One paper-style table in five formats, reported values next to measured ones."""
    input:
        unpack(STUDY.report.table_inputs),
    output:
        csv="<study>/tables/{table}.csv",
        md="<study>/tables/{table}.md",
        tex="<study>/tables/{table}.tex",
        json="<study>/tables/{table}.json",
        html=report(
            "<study>/tables/{table}.html",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        "<logs>/table/{table}.log",
    wildcard_constraints:
        table="|".join(STUDY.report.possible) or "none",
    localrule: True
    params:
        files=as_options,
        options=STUDY.report.options,
        code=lambda wildcards: jobs.described_code("table", TABLES, wildcards.table),
    shell:
        "python -P -m tripleaudit table --name {wildcards.table:q} {params.files:q} --options {params.options:q} "
        '--out-prefix "$(dirname -- {output.md:q})"/{wildcards.table} > {log:q} 2>&1'


rule tables:
    """All tables of the study."""
    input:
        [f"<study>/tables/{name}.md" for name in STUDY.tables],
    localrule: True


# a target for every table by its name: `snakemake --cores 2 sifted` makes that table and what it needs
# (the rule `collection` has the name of its table)
for table_name in (name for name in STUDY.tables if name != "collection"):

    rule:
        name:
            table_name.replace("-", "_")
        input:
            f"<study>/tables/{table_name}.md",
        localrule: True
