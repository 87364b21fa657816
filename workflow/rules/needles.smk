# MINEA: needles in documents, extraction by language models, triples as needles, and their scores and tables.
import json as needles_json

from tripleaudit.needles import settings as needle_settings
from tripleaudit.needles.documents import document_files

NEEDLES = config["needles"]
NEEDLE_PLAN = needle_settings.plan_json(NEEDLES)
TRIPLE_NEEDLES = NEEDLES["triples"] or {}
TRIPLE_LMS = needle_settings.triple_models(NEEDLES)
if found := list(
    needle_settings.problems(
        NEEDLES,
        list(config["generative"]["endpoints"]),
        STUDY.corpora,
        STUDY.settings,
    )
):
    raise WorkflowError("Configuration is not usable:\n" + "\n".join(f"- {problem}" for problem in found))


def needle_documents(key, paths, limit=None):
    """Text files that the configuration names, single or as folders: under the raw root, shipped, or the user's own."""
    root = config["raw_root"]
    found = [f"{root}/{path}" if root and (Path(root) / path).exists() else shipped(path) for path in paths]
    for name, path in zip(paths, found):
        if not Path(path).exists():
            raise WorkflowError(
                f"Configuration is not usable:\n- needles/{key}: {name}: no such file or folder, neither here nor under "
                f"raw_root ({root}); name text files of your own, or set raw_root to a folder that has it"
            )
    try:
        return list(map(str, document_files(found, limit)))
    except UserError as error:
        raise WorkflowError(f"Configuration is not usable:\n- needles/{key}: {error}")


def needle_models(*endpoints):
    """The configuration files of the models that endpoints serve themselves."""
    return [path for name in endpoints if name for path in [served_model(name)] if path]


def judge_endpoint(wildcards):
    """The endpoint that judges what a model extracted, if it is another one."""
    judge = needle_settings.judge_of(NEEDLES, wildcards.lm)
    return judge if judge != wildcards.lm else None


def lm_identity(*endpoints):
    """What decides the answers of endpoints besides the requests: models and sampling, nothing about transport."""
    fields = ("model", "temperature", "seed", "top_p", "extra", "context")
    found = [generative_settings.endpoint(config["generative"], name) for name in endpoints if name]
    return [{field: getattr(endpoint, field) for field in fields} for endpoint in found]


def triple_runs():
    """The trained extractors that triple needles are shown to: those of the corpus, trained on the original split."""
    if not TRIPLE_NEEDLES or not TRIPLE_NEEDLES["extractors"]:
        return []
    return [run for run in STUDY.runs if run.corpus == TRIPLE_NEEDLES["corpus"] and run.protocol == "original"]


def needle_score_files():
    """Every scores file about needles."""
    return (
        [f"<study>/needles/models/{lm}/scores.csv" for lm in NEEDLES["models"]]
        + [f"<study>/needles/triples/models/{lm}/scores.csv" for lm in TRIPLE_LMS]
        + [f"<study>/needles/triples/extractors/{run.path}/scores.csv" for run in triple_runs()]
    )


def triple_haystacks(wildcards):
    """Haystacks of triple needles: text files, or the corpus's test set with its zero-triple sentences."""
    if TRIPLE_NEEDLES["text"]:
        return needle_documents("triples/text", TRIPLE_NEEDLES["text"], TRIPLE_NEEDLES["documents"])
    return [f"<study>/protocols/{TRIPLE_NEEDLES['corpus']}/original/wz/test.jsonl"]


NEEDLE_DOCUMENTS = needle_documents("documents", NEEDLES["documents"], NEEDLES["max_documents"])


wildcard_constraints:
    lm="|".join(map(re.escape, dict.fromkeys([*NEEDLES["models"], *TRIPLE_LMS]))) or "none",
    needle_table="|".join(needle_settings.tables(NEEDLES)) or "none",


rule make_needles:
    """Needles in the study's documents: invented by a model or taken from templates, validated, infused."""
    input:
        documents=NEEDLE_DOCUMENTS,
        needles=[shipped(NEEDLES["needle_file"])] if NEEDLES["needle_file"] else [],
        model=needle_models(NEEDLES["generator"]),
    output:
        documents="<study>/needles/corpus/documents.jsonl",
        needles="<study>/needles/corpus/needles.jsonl",
        infusions="<study>/needles/corpus/infusions.jsonl",
        report="<study>/needles/corpus/corpus.json",
    log:
        job="<logs>/make_needles.log",
        server="<logs>/make_needles.server.log",
    benchmark:
        "<benchmarks>/make_needles.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: 2 if needle_models(NEEDLES["generator"]) else 1
    resources:
        llm_requests=1,
        mem_mb=4000,
        runtime=120,
    params:
        plan=NEEDLE_PLAN,
        options=["--max-chars", str(NEEDLES["max_chars"])] if NEEDLES["max_chars"] else [],
        generator=["--endpoint", NEEDLES["generator"]] if NEEDLES["generator"] else [],
        identity=lm_identity(NEEDLES["generator"]),
        section=GENERATIVE,
        study=STUDY.name,
        own=lambda wildcards, input: ["--needle-file", str(input.needles)] if input.needles else [],
        code=code_version("needles"),
    shell:
        "python -m tripleaudit needles corpus --plan {params.plan:q} --documents {input.documents:q} "
        "{params.options:q} {params.generator:q} {params.own:q} --section {params.section:q} "
        "--budget-of {params.study:q} --model-config {input.model:q} --threads {threads} "
        "--server-log {log.server:q} --out $(dirname {output.report:q}) > {log.job:q} 2>&1"


rule extract_needles:
    """Entities that one model extracts from the documents, and which needles are among them."""
    input:
        corpus=rules.make_needles.output,
        model=lambda wildcards: needle_models(wildcards.lm),
        judge=lambda wildcards: needle_models(judge_endpoint(wildcards)),
        tokenizer=[shipped(NEEDLES["tokenizer"])] if NEEDLES["tokenizer"] else [],
    output:
        entities="<study>/needles/models/{lm}/entities.jsonl",
        deduplicated="<study>/needles/models/{lm}/deduplicated.jsonl",
        calls="<study>/needles/models/{lm}/calls.jsonl",
        criteria="<study>/needles/models/{lm}/criteria.jsonl",
        untouched="<study>/needles/models/{lm}/untouched-criteria.jsonl",
        repetitions="<study>/needles/models/{lm}/repetitions.jsonl",
        parts="<study>/needles/models/{lm}/parts.jsonl",
        report="<study>/needles/models/{lm}/report.json",
    log:
        job="<logs>/extract_needles/{lm}.log",
        server="<logs>/extract_needles/{lm}.server.log",
    benchmark:
        "<benchmarks>/extract_needles/{lm}.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: lambda wildcards: 2 if needle_models(wildcards.lm) else 1
    resources:
        llm_requests=1,
        mem_mb=4000,
        runtime=240,
    params:
        plan=NEEDLE_PLAN,
        judge=lambda wildcards: ["--judge", judge] if (judge := judge_endpoint(wildcards)) else [],
        identity=lambda wildcards: lm_identity(wildcards.lm, judge_endpoint(wildcards)),
        tokenizer=lambda wildcards, input: ["--tokenizer", str(input.tokenizer)] if input.tokenizer else [],
        section=GENERATIVE,
        study=STUDY.name,
        code=code_version("needles"),
    shell:
        "python -m tripleaudit needles extract --plan {params.plan:q} --corpus $(dirname {input.corpus[0]:q}) "
        "--section {params.section:q} --budget-of {params.study:q} --endpoint {wildcards.lm:q} {params.judge:q} "
        "--model-config {input.model:q} --judge-config {input.judge:q} {params.tokenizer:q} --threads {threads} "
        "--server-log {log.server:q} --out $(dirname {output.report:q}) > {log.job:q} 2>&1"


rule score_needles:
    """Tidy scores of one model: criteria, MINEA, scores without reference, redundancy by part, coverage."""
    input:
        corpus=rules.make_needles.output,
        result=rules.extract_needles.output,
    output:
        scores="<study>/needles/models/{lm}/scores.csv",
        provenance="<study>/needles/models/{lm}/scores.provenance.json",
    log:
        "<logs>/score_needles/{lm}.log",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        plan=NEEDLE_PLAN,
        name=NEEDLES["name"],
        synonyms=["--synonyms"] if NEEDLES["synonyms"] else [],
        study=STUDY.name,
        code=code_version("needle-scores"),
    shell:
        "python -m tripleaudit needles score --plan {params.plan:q} --corpus $(dirname {input.corpus[0]:q}) "
        "--result $(dirname {input.result[0]:q}) --study {params.study:q} --name {params.name:q} "
        "--model {wildcards.lm:q} {params.synonyms:q} --out {output.scores:q} > {log:q} 2>&1"


include: "triple_needles.smk"


rule merge_needle_scores:
    """One tidy file of everything about needles."""
    input:
        needle_score_files(),
    output:
        scores="<study>/needles/scores.csv",
        provenance="<study>/needles/scores.provenance.json",
    log:
        "<logs>/merge_needle_scores.log",
    localrule: True
    conda:
        "../../envs/light.yaml"
    script:
        "../scripts/merge_scores.py"


rule needle_table:
    """One of MINEA's tables in four formats."""
    input:
        scores="<study>/needles/scores.csv",
        criteria=[f"<study>/needles/models/{lm}/criteria.jsonl" for lm in NEEDLES["models"]],
    output:
        csv="<study>/tables/{needle_table}.csv",
        md="<study>/tables/{needle_table}.md",
        tex="<study>/tables/{needle_table}.tex",
        html=report(
            "<study>/tables/{needle_table}.html",
            category="Tables",
            labels={"table": "{needle_table}"},
        ),
    log:
        "<logs>/needle_table/{needle_table}.log",
    localrule: True
    conda:
        "../../envs/light.yaml"
    params:
        options=lambda wildcards: needles_json.dumps((config["tables"] or {}).get(wildcards.needle_table) or {}),
        criteria=lambda wildcards, input: [part for path in input.criteria for part in ("--file", f"criteria={path}")],
    shell:
        "python -m tripleaudit table {wildcards.needle_table:q} --scores {input.scores:q} {params.criteria:q} "
        "--options {params.options:q} --out-prefix $(dirname {output.md:q})/{wildcards.needle_table} > {log:q} 2>&1"


rule needles:
    """All of MINEA: tables and plots."""
    input:
        [f"<study>/tables/{name}.md" for name in needle_settings.tables(NEEDLES)],
    localrule: True
