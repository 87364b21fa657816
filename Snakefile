# `snakemake --cores 2` at the top of the project runs workflow/Snakefile on the demo study. (The directive `include:`
# would leave the target of that file behind.)
workflow.include("workflow/Snakefile", overwrite_default_target=True)
