# The workflow, and one rule that shows what a job on a cluster sees and asks for.
include: "../../Snakefile"


rule probe:
    output:
        "probe.txt",
    log:
        "probe.log",
    resources:
        gpu=1,
        mem_mb=lambda wildcards, attempt: 100 * attempt,
        runtime=lambda wildcards, attempt: 5 * attempt,
    shell:
        "echo memory={resources.mem_mb} runtime={resources.runtime} offline=${{HF_HUB_OFFLINE:-}} "
        "gpus=${{CUDA_VISIBLE_DEVICES:-}} >> attempts.txt; "
        "test {resources.mem_mb} -gt 100 || exit 1; cp attempts.txt {output} 2> {log}"
