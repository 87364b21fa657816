# Plots, and the report: one self-contained HTML page of everything that the study found.


rule plot:
    """One plot of the study as SVG, and as the Vega-Lite specification that the report draws."""
    input:
        unpack(STUDY.report.plot_inputs),
    output:
        json="<study>/plots/{plot}.json",
        svg=report(
            "<study>/plots/{plot}.svg",
            caption="../report/plot.rst",
            category="Plots",
            labels={"plot": "{plot}"},
        ),
    log:
        "<logs>/plot/{plot}.log",
    wildcard_constraints:
        plot="|".join(STUDY.report.plots) or "none",
    localrule: True
    params:
        files=as_options,
        options=STUDY.report.plot_options,
        code=plot_code,
    shell:
        "python -P -m tripleaudit plots --name {wildcards.plot:q} {params.files:q} --options {params.options:q} --out {output.svg:q} "
        "> {log:q} 2>&1"


rule write_report:
    """One HTML page: systems by questions, answers, tables, plots, errors by sentence, provenance."""
    input:
        STUDY.report.sentence_files(),
        unpack(STUDY.report.inputs),
    output:
        report("<study>/report.html", caption="../report/report.rst", category="Report"),
    log:
        "<logs>/report.log",
    localrule: True
    params:
        deciding=lambda wildcards: STUDY.report.deciding_facts(workflow.overwrite_configfiles),
        facts=lambda wildcards, input: json.dumps(
            STUDY.report.facts(workflow.overwrite_configfiles), sort_keys=True
        ),
        files=as_options,
    shell:
        "python -P -m tripleaudit write-report --facts {params.facts:q} {params.files:q} --out {output:q} > {log:q} 2>&1"


rule report:
    """The study's report, and with it all tables and plots; none where nothing can be shown."""
    input:
        rules.write_report.output if STUDY.tables else [],
        rules.frames.output if STUDY.scored else [],
    localrule: True
