# From the tidy scores, the audits of the data and the facts of the trainings to paper-style tables and the report.


rule training_facts:
    """Collect time, device and outcome of all trainings, also of stored predictions."""
    input:
        **STUDY.facts.gain_files,
        provenances=STUDY.facts.trainings,
        histories=STUDY.facts.stored_histories,
        doubles=STUDY.facts.doubles,
        earlier=STUDY.facts.earlier,
    output:
        PATHS.training_facts,
    log:
        "<logs>/training_facts.log",
    benchmark:
        "<benchmarks>/training_facts.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("training-facts"),
        run_keys=lambda wildcards: json.dumps(STUDY.facts.training_keys),
        double_keys=lambda wildcards: json.dumps(STUDY.facts.double_keys),
    shell:
        "python -P -m tripleaudit training-facts --provenances {input.provenances:q} --keys {params.run_keys:q} "
        "--doubles {input.doubles:q} --double-keys {params.double_keys:q} "
        "--validation {input.validation:q} --single-predictions {input.single_predictions:q} "
        "--double-predictions {input.double_predictions:q} "
        "--earlier {input.earlier:q} --out {output:q} > {log:q} 2>&1"


rule audit:
    """Audit a test set against its training set: triple types, strata and sizes."""
    input:
        unpack(STUDY.protocol_sets.audited_files),
    output:
        PATHS.audit,
    log:
        "<logs>/audit/{corpus}/{protocol}.log",
    benchmark:
        "<benchmarks>/audit/{corpus}/{protocol}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("audit-protocol"),
        run_keys=lambda wildcards: json.dumps({"study": STUDY.name, **wildcards}),
    shell:
        "python -P -m tripleaudit audit-protocol --keys {params.run_keys:q} --splits {input.train:q} {input.valid:q} "
        "{input.test:q} --with-zero {input.zero:q} --counts {input.counts:q} "
        "--original {input.original:q} --out {output:q} > {log:q} 2>&1"


rule tables:
    """Make all tables of the study in five formats, with reported next to measured values."""
    input:
        unpack(lambda wildcards: STUDY.report.table_inputs(*STUDY.tables)),
    output:
        [
            fill(PATHS.table, table=name, form=form)
            for name in STUDY.tables
            for form in ("csv", "md", "tex", "json")
        ],
        html=[
            report(
                fill(PATHS.table, table=name, form="html"),
                caption="../report/table.rst",
                category="Tables",
                labels={"table": name},
            )
            for name in STUDY.tables
        ],
    log:
        "<logs>/tables.log",
    benchmark:
        "<benchmarks>/tables.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        files=as_options,
        tables=STUDY.report.options(*STUDY.tables),
        folder=lambda wildcards, output: str(Path(output.html[0]).parent) if output else "",
        code=table_code,
    shell:
        "python -P -m tripleaudit tables --tables {params.tables:q} {params.files:q} --out {params.folder:q} "
        "> {log:q} 2>&1"


# One target per table: `snakemake --cores 2 sifted` makes this table only (`collection` is a rule of its own).
for table_name in (name for name in STUDY.tables if name != "collection"):

    rule:
        name:
            table_name.replace("-", "_")
        input:
            unpack(files_of_table(table_name)),
        log:
            f"<logs>/tables/{table_name}.log",
        localrule: True
        conda:
            "../../envs/light.yaml"
        params:
            files=as_options,
            tables=STUDY.report.options(table_name),
            folder=lambda wildcards: f"{STUDY_FOLDER}/tables",
        shell:
            "python -P -m tripleaudit tables --tables {params.tables:q} {params.files:q} --out {params.folder:q} "
            "> {log:q} 2>&1"
