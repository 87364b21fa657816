# The workflow; says which of its rules run in Snakemake's own process, which a dry-run does not show.
include: "../../Snakefile"


print("local:", *sorted(workflow._localrules))
