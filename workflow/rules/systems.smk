# Systems that the study does not train: stored outputs, programs, classes, language models. One rule runs them all.
from tripleaudit.study.systems import next_attempt

SYSTEMS = "|".join(map(re.escape, STUDY.systems.kinds)) or "none"


rule predict_system:
    """Predict one test set with a system, and report its costs; a failure affects only its own row."""
    input:
        unpack(STUDY.systems.inputs),
    output:
        predictions=fill(PATHS.predictions, run=UNTRAINED_RUN),
        report=fill(PATHS.prediction_report, run=UNTRAINED_RUN),
    log:
        job="<logs>/predict_system/{corpus}/{trainset}/{extractor}/{testset}.log",
        server="<logs>/predict_system/{corpus}/{trainset}/{extractor}/{testset}.server.log",
    benchmark:
        "<benchmarks>/predict_system/{corpus}/{trainset}/{extractor}/{testset}.jsonl"
    wildcard_constraints:
        extractor=SYSTEMS,
        testset="|".join(map(re.escape, ["test", *STUDY.protocol_sets.tests_only])),
    conda:
        "../../envs/torch.yaml"
    threads: STUDY.systems.threads
    resources:
        gpu=STUDY.systems.gpus,
        llm_requests=lambda wildcards: int(
            STUDY.systems.kinds[wildcards.extractor].name == "endpoint"
        ),
        mem_mb=STUDY.systems.mem_mb,
        runtime=STUDY.systems.runtime,
    params:
        deciding=lambda wildcards: STUDY.systems.identity(
            wildcards.corpus, wildcards.extractor, wildcards.trainset
        ),
        attempt=system_attempt,
        settings=STUDY.systems.json,
        job=STUDY.systems.job_param,
        schema=lambda wildcards: ["--schema-of-test"] * STUDY.systems.gives_schema(wildcards),
        code=system_code,
        train=lambda wildcards, input: ["--train", input.train] if input.train else [],
        own_files=content_of(STUDY.systems.inputs),
    shell:
        "python -P -m tripleaudit predict-system --name {wildcards.extractor:q} --settings {params.settings:q} "
        "--job {params.job:q} --test {input.test:q} {params.train:q} --files {input.files:q} "
        "--model {input.model:q} --server-log {log.server:q} --attempt {params.attempt} {params.schema} "
        "--out {output.predictions:q} --report {output.report:q} > {log.job:q} 2>&1"


if STUDY.systems.networked():

    # Runs on the submitting machine: compute nodes may have no network.
    use rule predict_system as query_system with:
        wildcard_constraints:
            extractor="|".join(map(re.escape, STUDY.systems.networked())),
            testset="|".join(map(re.escape, ["test", *STUDY.protocol_sets.tests_only])),
        localrule: True

    ruleorder: query_system > predict_system


rule system_facts:
    """Collect the costs of all systems, and which of them failed."""
    input:
        reports=STUDY.facts.reports(),
        predictions=[*STUDY.facts.timed],
    output:
        PATHS.system_facts,
    log:
        "<logs>/system_facts.log",
    benchmark:
        "<benchmarks>/system_facts.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("system-facts"),
        run_keys=json.dumps(STUDY.facts.report_keys()),
        trained=lambda wildcards: json.dumps([*STUDY.facts.timed.values()]),
    shell:
        "python -P -m tripleaudit system-facts --reports {input.reports:q} --keys {params.run_keys:q} "
        "--predictions {input.predictions:q} --trained {params.trained:q} --out {output:q} "
        "> {log:q} 2>&1"
