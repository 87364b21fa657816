# MINEA: needles in documents, extraction by language models, and their scores and tables.
#
# Some params are in no shell command. They rerun a job when the settings (`made`), the code (`code`), the model's
# sampling (`identity`) or the contents of the user's files (`own_files`) change.
from tripleaudit.needles.schema import schema_file
from tripleaudit.study.needles import LENGTH_TABLE

NEEDLES = STUDY.needles
NEEDLE_SCHEMA = jobs.chosen_code("make-needles", files=[schema_file(NEEDLES.section["schema"])])


rule make_needles:
    """Make needles (by a model or from templates), validate them and insert them into the documents."""
    input:
        documents=NEEDLES.documents(),
        needles=[shipped(NEEDLES.config.needle_file)] if NEEDLES.config.needle_file else [],
        model=STUDY.language_models.served(NEEDLES.config.generator),
    output:
        documents=fill(PATHS.needle_corpus_file, name="documents.jsonl"),
        needles=fill(PATHS.needle_corpus_file, name="needles.jsonl"),
        infusions=fill(PATHS.needle_corpus_file, name="infusions.jsonl"),
        report=fill(PATHS.needle_corpus_file, name="corpus.json"),
    log:
        job="<logs>/make_needles.log",
        server="<logs>/make_needles.server.log",
    benchmark:
        "<benchmarks>/make_needles.jsonl"
    priority: 20
    localrule: STUDY.language_models.need_network(NEEDLES.config.generator)
    conda:
        "../../envs/light.yaml"
    threads: threads_to_serve
    resources:
        llm_requests=1,
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        made=NEEDLES.made_json,
        code=jobs.command_code("make-needles") | NEEDLE_SCHEMA,
        plan=lambda wildcards, input: NEEDLES.plan_json,
        options=["--max-chars", str(NEEDLES.config.max_chars)] if NEEDLES.config.max_chars else [],
        generator=["--endpoint", NEEDLES.config.generator] if NEEDLES.config.generator else [],
        identity=STUDY.language_models.sampling(NEEDLES.config.generator),
        own_files=content_of(
            NEEDLES.documents(),
            [shipped(NEEDLES.config.needle_file)] if NEEDLES.config.needle_file else [],
            STUDY.language_models.served(NEEDLES.config.generator),
        ),
        section=section_for_job,
        study=STUDY.name,
        own=lambda wildcards, input: ["--needle-file", *input.needles] if input.needles else [],
    shell:
        "python -P -m tripleaudit make-needles --plan {params.plan:q} --documents {input.documents:q} "
        "{params.options:q} {params.generator:q} {params.own:q} --section {params.section:q} "
        "--study {params.study:q} --gguf {input.model:q} --threads {threads} "
        '--server-log {log.server:q} --out "$(dirname -- {output.report:q})" > {log.job:q} 2>&1'


rule extract_needles:
    """Extract entities from the documents with one model, and match them with the needles."""
    input:
        corpus=rules.make_needles.output,
        model=NEEDLES.served,
        judge=NEEDLES.served_judge,
        tokenizer=[shipped(NEEDLES.config.tokenizer)] if NEEDLES.config.tokenizer else [],
    output:
        entities=fill(PATHS.needle_file, name="entities.jsonl"),
        deduplicated=fill(PATHS.needle_file, name="deduplicated.jsonl"),
        calls=fill(PATHS.needle_file, name="calls.jsonl"),
        matches=fill(PATHS.needle_file, name="matches.jsonl"),
        untouched=fill(PATHS.needle_file, name="untouched-matches.jsonl"),
        repetitions=fill(PATHS.needle_file, name="repetitions.jsonl"),
        parts=fill(PATHS.needle_file, name="parts.jsonl"),
        report=fill(PATHS.needle_file, name="report.json"),
    log:
        job="<logs>/extract_needles/{lm}.log",
        server="<logs>/extract_needles/{lm}.server.log",
    benchmark:
        "<benchmarks>/extract_needles/{lm}.jsonl"
    priority: 20
    localrule: STUDY.language_models.need_network(*NEEDLES.models, *map(NEEDLES.judge_of, NEEDLES.models))
    conda:
        "../../envs/light.yaml"
    threads: threads_to_serve
    resources:
        llm_requests=1,
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        made=NEEDLES.made_json,
        code=jobs.command_code("extract-needles") | NEEDLE_SCHEMA,
        plan=lambda wildcards, input: NEEDLES.plan_json,
        judge=NEEDLES.judge_options,
        identity=NEEDLES.identity,
        own_files=content_of(
            NEEDLES.served,
            NEEDLES.served_judge,
            [shipped(NEEDLES.config.tokenizer)] if NEEDLES.config.tokenizer else [],
        ),
        tokenizer=lambda wildcards, input: (
            ["--tokenizer", *input.tokenizer] if input.tokenizer else []
        ),
        section=section_for_job,
        study=STUDY.name,
    shell:
        'python -P -m tripleaudit extract-needles --plan {params.plan:q} --corpus "$(dirname -- {input.corpus[0]:q})" '
        "--section {params.section:q} --study {params.study:q} --endpoint {wildcards.lm:q} {params.judge:q} "
        "--gguf {input.model:q} --judge-gguf {input.judge:q} {params.tokenizer:q} --threads {threads} "
        '--server-log {log.server:q} --out "$(dirname -- {output.report:q})" > {log.job:q} 2>&1'


rule rate_needles:
    """Identify extracted needles by thresholds of shared keywords."""
    input:
        matches=fill(PATHS.needle_file, name="matches.jsonl"),
        untouched=fill(PATHS.needle_file, name="untouched-matches.jsonl"),
    output:
        criteria=fill(PATHS.needle_file, name="criteria.jsonl"),
        untouched=fill(PATHS.needle_file, name="untouched-criteria.jsonl"),
    log:
        "<logs>/rate_needles/{lm}.log",
    benchmark:
        "<benchmarks>/rate_needles/{lm}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("rate-needles"),
        thresholds=config["needles"]["thresholds"],
    shell:
        'python -P -m tripleaudit rate-needles --folder "$(dirname -- {input.matches:q})" --thresholds {params.thresholds} > {log:q} 2>&1'


rule score_needles:
    """Score one model: criteria, MINEA, scores without reference, redundancy by part, coverage."""
    input:
        corpus=rules.make_needles.output,
        result=rules.extract_needles.output,
        rated=rules.rate_needles.output,
    output:
        scores=fill(PATHS.needle_file, name="scores.csv"),
        provenance=fill(PATHS.needle_file, name="scores.provenance.json"),
    log:
        "<logs>/score_needles/{lm}.log",
    benchmark:
        "<benchmarks>/score_needles/{lm}.jsonl"
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        code=jobs.command_code("score-needles") | NEEDLE_SCHEMA,
        plan=NEEDLES.plan_json,
        name=NEEDLES.config.name,
        study=STUDY.name,
    shell:
        'python -P -m tripleaudit score-needles --plan {params.plan:q} --corpus "$(dirname -- {input.corpus[0]:q})" '
        '--result "$(dirname -- {input.result[0]:q})" --study {params.study:q} --name {params.name:q} '
        "--model {wildcards.lm:q} --out {output.scores:q} > {log:q} 2>&1"


rule needles:
    """All of MINEA: tables and plots."""
    input:
        [fill(PATHS.table, table=name, form="md") for name in STUDY.report.tables("needles")],
        fill(PATHS.plot, plot=LENGTH_TABLE, form="json") if LENGTH_TABLE in STUDY.tables else [],
    localrule: True
