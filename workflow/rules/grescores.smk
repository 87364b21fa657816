# The GREScores: stored outputs, extractions by language models and trained extractors, all scored by the same code.
import json

from tripleaudit.grescores import plan as gre_plan
from tripleaudit.sources.registry import raw_files

GRE = config["grescores"]
if found := gre_plan.problems(GRE, STUDY.corpora, config["generative"]):
    raise WorkflowError("Configuration is not usable:\n" + "\n".join(f"- {problem}" for problem in found))


def gre_file(path):
    """A file that the configuration names: under the raw root, registered there, or the user's own."""
    root = config["raw_root"]
    if root and (Path(root) / path).exists():
        return f"{root}/{path}"
    return f"{raw_root()}/{path}" if path in raw_files() else shipped(path)


def gre_located(value):
    """The section with every file of the configuration where it lies."""
    if isinstance(value, dict):
        return {
            key: (gre_file(part) if key in GRE_FILES and isinstance(part, str) else gre_located(part))
            for key, part in value.items()
        }
    return value


GRE_FILES = ("triples", "factualness", "granularity", "similarities", "text")


def gre_corpus(settings):
    """The corpus of a data set whose texts are the study's own, with its split."""
    if settings.get("generative"):
        dataset = config["generative"]["datasets"][settings["generative"]]
        return dataset["corpus"], dataset["split"]
    return settings.get("corpus"), "test"


def gre_gold(settings):
    """The gold file of a data set whose texts are the study's own."""
    if settings.get("generative"):
        return f"<study>/generative/{settings['generative']}/reference.jsonl"
    return f"<study>/protocols/{settings['corpus']}/original/nz/test.jsonl"


def gre_runs(settings):
    """The trained extractors that a data set scores: those of its corpus, trained on the original split."""
    corpus, split = gre_corpus(settings)
    return [
        (
            run.path.replace("/", "-"),
            {
                "extractor": run.extractor,
                "training": run.setting,
                "noise": run.noise,
                "seed": str(run.seed),
            },
            f"<study>/predictions/{run.path}/test.jsonl",
        )
        for run in STUDY.runs
        if run.corpus == corpus and run.protocol == "original" and split == "test"
    ]


def gre_extractions():
    """The systems of every generative data set."""
    found = {}
    for dataset, system in LM_SYSTEMS:
        setting = config["generative"]["systems"][system]["setting"]
        path = f"<study>/generative/{dataset}/{system}/answers.jsonl"
        found.setdefault(dataset, []).append((system, {"extractor": system, "setting": setting}, path))
    return found


GRE_OWN = {name: settings for name, settings in GRE["datasets"].items() if not settings.get("gold")}
GRE_PLAN = gre_plan.GrePlan(
    {**GRE, "datasets": gre_located(GRE["datasets"])},
    runs={name: gre_runs(settings) for name, settings in GRE_OWN.items()},
    extractions=gre_extractions(),
    golds={name: gre_gold(settings) for name, settings in GRE_OWN.items()},
    originals={
        name: f"<study>/generative/{settings['generative']}/texts.jsonl"
        for name, settings in GRE_OWN.items()
        if settings.get("generative")
    },
)
GRE_JUDGED = {
    (
        dataset,
        system.name,
        kind,
    ): f"<study>/gre/{dataset}/judged/{system.name}/{kind}.json"
    for dataset in GRE_PLAN.datasets
    for system in GRE_PLAN.asked(dataset)
    for kind in system.asked
}
GRE_EMBEDDER = GRE["embedder"] or {}


def gre_spec(dataset):
    """What decides the scores of a data set, and the files that it refers to."""
    return GRE_PLAN.spec(
        dataset,
        {key[1:]: path for key, path in GRE_JUDGED.items() if key[0] == dataset},
    )


def gre_topic_text(wildcards):
    """Texts to train a topic model on: the configured ones, else the corpus's training set, else the gold file."""
    topics = GRE_PLAN.topics(wildcards.dataset)
    corpus, _ = gre_corpus(GRE["datasets"][wildcards.dataset])
    if topics["text"] or corpus is None:
        return GRE_PLAN.topic_text(wildcards.dataset)
    return f"<study>/corpora/{corpus}/train.jsonl"


def gre_topic_options(wildcards):
    """The settings of a topic model as command-line options."""
    topics = GRE_PLAN.topics(wildcards.dataset)
    options = ["--topics", str(topics["number"]), "--seed", str(GRE["seed"])]
    options += ["--lowercase"] if topics["lowercase"] else []
    options += [] if topics["stop_words"] else ["--keep-stop-words"]
    return options + ([] if topics["alphanumeric"] else ["--keep-punctuation"])


def gre_encoder():
    """The configuration file of the model that embeds strings, else nothing."""
    if not GRE_EMBEDDER or GRE_EMBEDDER["endpoint"]:
        return []
    return f"{model_folder(GRE_EMBEDDER['model'])}/config.json"


def gre_embedding_options():
    """The settings of the embedder as command-line options."""
    if not GRE_EMBEDDER:
        return []
    if GRE_EMBEDDER["endpoint"]:
        return ["--embedding-endpoint", GRE_EMBEDDER["endpoint"]]
    return ["--batch-size", str(GRE_EMBEDDER["batch_size"])]


def gre_topic_model(wildcards):
    """The topic model of a data set, if it has one."""
    return f"<study>/gre/{wildcards.dataset}/topics/lda.json" if GRE_PLAN.topics(wildcards.dataset) else []


def gre_judged(wildcards):
    """A system that the judge is asked about."""
    return {system.name: system for system in GRE_PLAN.asked(wildcards.dataset)}[wildcards.system]


rule train_topics:
    """Train the topic model of one data set (gensim LDA, seeded)."""
    input:
        gre_topic_text,
    output:
        weights="<study>/gre/{dataset}/topics/lda.safetensors",
        vocabulary="<study>/gre/{dataset}/topics/lda.json",
    log:
        "<logs>/train_topics/{dataset}.log",
    benchmark:
        "<benchmarks>/train_topics/{dataset}.jsonl"
    conda:
        "../../envs/torch.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        options=gre_topic_options,
        code=code_version("gre-topics"),
    shell:
        "{PYTHON} -m tripleaudit gre-lda --text {input:q} {params.options:q} "
        "--out $(dirname {output.weights:q}) > {log:q} 2>&1"


rule judge_triples:
    """Ask a language model about the triples of one system; answered requests come from the cache."""
    input:
        triples=lambda wildcards: gre_judged(wildcards).files["triples"],
        model=lambda wildcards: served_model(GRE["judge"]["endpoint"]),
    output:
        factualness="<study>/gre/{dataset}/judged/{system}/factualness.json",
        granularity="<study>/gre/{dataset}/judged/{system}/granularity.json",
        report="<study>/gre/{dataset}/judged/{system}/report.json",
    log:
        job="<logs>/judge_triples/{dataset}/{system}.log",
        server="<logs>/judge_triples/{dataset}/{system}.server.log",
    benchmark:
        "<benchmarks>/judge_triples/{dataset}/{system}.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: lambda wildcards: 2 if served_model(GRE["judge"]["endpoint"]) else 1
    resources:
        llm_requests=1,
        mem_mb=4000,
        runtime=240,
    params:
        judge=lambda wildcards: {
            **GRE["judge"],
            "model": generative_settings.endpoint(config["generative"], GRE["judge"]["endpoint"]).model,
        },
        kinds=lambda wildcards: gre_judged(wildcards).asked,
        code=code_version("gre-judge"),
    shell:
        "{PYTHON} -m tripleaudit gre-judge --section {GENERATIVE:q} --study {STUDY.name:q} --threads {threads} "
        "--endpoint {params.judge[endpoint]:q} --triples {input.triples:q} --kinds {params.kinds:q} "
        "--factualness-prompt {params.judge[factualness_prompt]:q} "
        "--granularity-prompt {params.judge[granularity_prompt]:q} "
        "--factualness {output.factualness:q} --granularity {output.granularity:q} --report {output.report:q} "
        "--model-config {input.model:q} --server-log {log.server:q} > {log.job:q} 2>&1"


rule score_triples:
    """All GREScores of all systems of one data set; every distinct string is embedded once."""
    input:
        files=lambda wildcards: gre_spec(wildcards.dataset)[1],
        topics=gre_topic_model,
        encoder=gre_encoder(),
    output:
        scores="<study>/gre/{dataset}/scores.csv",
        provenance="<study>/gre/{dataset}/scores.provenance.json",
    log:
        "<logs>/score_triples/{dataset}.log",
    benchmark:
        "<benchmarks>/score_triples/{dataset}.jsonl"
    conda:
        "../../envs/torch.yaml"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        spec=lambda wildcards: gre_spec(wildcards.dataset)[0],
        embedding=gre_embedding_options(),
        code=code_version("gre-scores"),
    shell:
        "{PYTHON} -m tripleaudit gre-systems --spec {params.spec:q} --files {input.files:q} --study {STUDY.name:q} "
        "--lda {input.topics:q} --embedder {input.encoder:q} {params.embedding:q} --section {GENERATIVE:q} "
        "--threads {threads} "
        "--out {output.scores:q} > {log:q} 2>&1"


rule merge_gre_scores:
    """One tidy file of the study's GREScores."""
    input:
        [f"<study>/gre/{dataset}/scores.csv" for dataset in GRE_PLAN.datasets],
    output:
        scores="<study>/gre/scores.csv",
        provenance="<study>/gre/scores.provenance.json",
    log:
        "<logs>/merge_gre_scores.log",
    localrule: True
    conda:
        "../../envs/light.yaml"
    script:
        "../scripts/merge_scores.py"


rule gre_tables:
    """All tables of the GREScores."""
    input:
        [f"<study>/tables/{table}.md" for table in GRE_PLAN.tables],
    localrule: True
