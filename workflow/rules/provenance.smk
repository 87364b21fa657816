# What every rule has, said once: a benchmark file that lies under <benchmarks> as its log does under <logs>; its software
# environment (--software-deployment-method conda); and the code that its result depends on, as parameters: what the
# rule's command imports inside the package (tripleaudit/core/code.py). What a job chooses by a name, such as its extractor or
# its table, is the rule's own `code`.
from snakemake.io import strip_wildcard_constraints

WITHOUT_TORCH = (
    "audit-protocol estimate extract-needles fetch generate gre-judge make-needles "
    "merge-scores original-split plots prepare "
    "predict-baseline rate-needles score-classifier score-needles score-run select-texts "
    "system-facts tables training-facts write-report"
).split()

jobs.export_study_folder(workflow.pathvars.apply("<study>"))

for every_rule in workflow.rules:
    if command := re.match(r"python -P -m tripleaudit (\S+)", every_rule.shellcmd or ""):
        every_rule.conda_env = (
            f"../../envs/{'light' if command[1] in WITHOUT_TORCH else 'torch'}.yaml"
        )
    if every_rule.output and every_rule.log:
        log = strip_wildcard_constraints(every_rule.log[0]).partition(
            workflow.pathvars.apply("<logs>/")
        )[2]
        every_rule.benchmark_modifier = every_rule.log_modifier
        every_rule.benchmark = f"<benchmarks>/{log.removesuffix('log')}jsonl"
    every_rule.set_params(*jobs.rule_code(every_rule.shellcmd or ""))
