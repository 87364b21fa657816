# Plots, and the report: one self-contained HTML page of everything that the study found.


rule plots:
    """Draw all plots of the study as SVG and as Vega-Lite specifications."""
    input:
        unpack(STUDY.report.plot_inputs),
    output:
        json=[fill(PATHS.plot, plot=name, form="json") for name in STUDY.report.plots],
        svg=[
            report(
                fill(PATHS.plot, plot=name, form="svg"),
                caption="../report/plot.rst",
                category="Plots",
                labels={"plot": name},
            )
            for name in STUDY.report.plots
        ],
    log:
        "<logs>/plots.log",
    benchmark:
        "<benchmarks>/plots.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        files=as_options,
        plots=STUDY.report.plot_options(),
        folder=lambda wildcards, output: str(Path(output.svg[0]).parent) if output else "",
        code=plot_code,
    shell:
        "python -P -m tripleaudit plots --plots {params.plots:q} {params.files:q} --out {params.folder:q} > {log:q} 2>&1"


rule write_report:
    """Write the report: one HTML page of headlines, tables, plots, errors and provenance."""
    input:
        STUDY.report.sentence_files(),
        unpack(STUDY.report.inputs),
    output:
        report(PATHS.report, caption="../report/report.rst", category="Report"),
    log:
        "<logs>/report.log",
    benchmark:
        "<benchmarks>/report.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("write-report"),
        deciding=lambda wildcards: STUDY.report.compared_facts(STUDY_FILES),
        facts=lambda wildcards, input: json.dumps(
            STUDY.report.study_facts(config, STUDY_FILES), sort_keys=True
        ),
        files=as_options,
    shell:
        "python -P -m tripleaudit write-report --facts {params.facts:q} {params.files:q} --out {output:q} > {log:q} 2>&1"


rule report:
    """The report of the study, with all tables and plots."""
    input:
        rules.write_report.output if STUDY.tables else [],
        rules.frames.output if STUDY.runs.scores else [],
    localrule: True
