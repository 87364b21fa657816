# tripleaudit: audit relational-triple extraction, from raw corpora to paper-style tables.
#   snakemake --cores 2                                   the demo study of config/config.yaml
#   snakemake --cores 8 --configfile config/webnlg.yaml   another study
#   snakemake --list-target-rules                         every table and stage by name
from snakemake.utils import min_version

min_version("9.20")


# A study named with --configfile stands alone; Snakemake would otherwise merge it into the demo's configuration.
if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


pathvars:
    study=f"<results>/{STUDY.name}",
    logs=f"<results>/{STUDY.name}/logs",
    benchmarks=f"<results>/{STUDY.name}/benchmarks",
    temp=f"<results>/{STUDY.name}/tmp",
    downloads="<resources>/downloads",
    run="{corpus}/{trainset}/{extractor}/{noise}/seed{seed}",


include: "workflow/rules/sources.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/protocols.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/scoring.smk"
include: "workflow/rules/generative_plan.smk"
include: "workflow/rules/generative.smk"
include: "workflow/rules/grescores_plan.smk"
include: "workflow/rules/grescores.smk"
include: "workflow/rules/needles_plan.smk"
include: "workflow/rules/needles.smk"
include: "workflow/rules/collection_plan.smk"
include: "workflow/rules/collection.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/report_plan.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/summary.smk"


rule all:
    """Everything that the study asks for: tables, plots and the report."""
    default_target: True
    input:
        rules.corpora.input,
        rules.tables.input,
        rules.needles.input,
        rules.collection.input,
        rules.report.input,
