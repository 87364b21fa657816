# The code that a result depends on, as parameters of every rule: what the rule's command imports inside the package
# (tripleaudit/code.py). What a job chooses by a name, such as its extractor or its table, is the rule's own `code`.
for every_rule in workflow.rules:
    every_rule.set_params(*jobs.rule_code(every_rule.shellcmd or ""))
