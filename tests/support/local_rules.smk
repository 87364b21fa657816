# The workflow; says which of its rules run beside Snakemake, which a dry-run does not show.
include: "../../Snakefile"


print("local:", *sorted(workflow._localrules))
