# Extraction by language models. A job that needs a local model starts its server itself, when the first request is not
# answered by the cache, and stops it: no request, no server, and no group of jobs that succeeds or fails together.


envvars:
    *STUDY.language_models.keys_present(),


rule fetch_lm:
    """Fetch one language model as a GGUF file and verify it."""
    output:
        "<downloads>/lm/{model}.gguf",
    log:
        "<logs>/fetch_lm/{model}.log",
    benchmark:
        "<benchmarks>/fetch_lm/{model}.jsonl"
    wildcard_constraints:
        model=r"[A-Za-z0-9._-]+",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("fetch"),
        source=lambda wildcards, input: STUDY.paths.source(wildcards.model),
        pinned=pinned_model,
    shell:
        "python -P -m tripleaudit fetch --model {params.source:q} --out {output:q} > {log:q} 2>&1"


rule select_texts:
    """Select the texts of a data set, with gold triples under plain relation names."""
    input:
        STUDY.language_models.texts,
    output:
        texts=PATHS.texts,
        reference=PATHS.reference,
    log:
        "<logs>/select_texts/{dataset}.log",
    benchmark:
        "<benchmarks>/select_texts/{dataset}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("select-texts"),
        dataset=lambda wildcards: json.dumps(config["generative"]["datasets"][wildcards.dataset]),
    shell:
        "python -P -m tripleaudit select-texts --sentences {input:q} --dataset {params.dataset:q} "
        "--texts {output.texts:q} --reference-out {output.reference:q} > {log:q} 2>&1"


rule generate:
    """Extract triples from a data set with a language model; answered requests come from the cache."""
    input:
        texts=PATHS.texts,
        model=model_of_system,
        examples=lambda wildcards: STUDY.language_models.examples(
            wildcards.dataset, wildcards.system
        ),
    output:
        answers=PATHS.answers,
        predictions=PATHS.extractions,
        report=PATHS.extraction_report,
    log:
        job="<logs>/generate/{dataset}/{system}.log",
        server="<logs>/generate/{dataset}/{system}.server.log",
    benchmark:
        "<benchmarks>/generate/{dataset}/{system}.jsonl"
    priority: 20
    localrule: STUDY.language_models.need_network(*STUDY.language_models.queried())
    conda:
        "../../envs/light.yaml"
    threads: threads_to_serve
    resources:
        llm_requests=1,
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        code=jobs.command_code("generate"),
        identity=lambda wildcards: STUDY.language_models.identity(
            wildcards.dataset, wildcards.system
        ),
        own_files=content_of(model_of_system),
        section=section_for_job,
        study=STUDY.name,
    shell:
        "python -P -m tripleaudit generate --section {params.section:q} --study {params.study:q} --threads {threads} "
        "--dataset {wildcards.dataset:q} --system {wildcards.system:q} --texts {input.texts:q} "
        "--examples {input.examples:q} "
        "--answers {output.answers:q} --predictions {output.predictions:q} --report {output.report:q} "
        "--gguf {input.model:q} --server-log {log.server:q} > {log.job:q} 2>&1"


rule generative:
    """All extractions by language models."""
    input:
        STUDY.language_models.files(),
    localrule: True


rule estimate:
    """Print an estimate of the requests and costs that remain, without sending anything."""
    input:
        sorted(
            {
                fill(PATHS.texts, dataset=dataset)
                for dataset, _ in STUDY.language_models.extractions
            }
        ),
    log:
        "<logs>/estimate.log",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("estimate"),
        config=json.dumps(STUDY.given),
    shell:
        'python -P -m tripleaudit estimate {params.config:q} --results "$(dirname -- "$(dirname -- {log:q})")" 2>&1 '
        "| tee {log:q}"
