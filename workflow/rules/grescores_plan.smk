# What the rules of grescores.smk need: the plan of the study's GREScores, with every file where it lies.
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
            "-".join(Path(run.path).parts),
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
    options += ["--chunk-size", str(topics["chunk_size"])]
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


def gre_embedding_model():
    """What decides the vectors of an endpoint that embeds strings."""
    endpoint = GRE_EMBEDDER.get("endpoint")
    return generative_settings.answering(config["generative"], endpoint) if endpoint else {}


def gre_judging():
    """What decides the judge's answers."""
    judge = GRE["judge"]
    prompts = judge["factualness_prompt"], judge["granularity_prompt"]
    return generative_settings.answering(config["generative"], judge["endpoint"], *prompts)


def gre_topic_model(wildcards):
    """The topic model of a data set, if it has one."""
    return f"<study>/gre/{wildcards.dataset}/topics/lda.json" if GRE_PLAN.topics(wildcards.dataset) else []


def gre_judged(wildcards):
    """A system that the judge is asked about."""
    return {system.name: system for system in GRE_PLAN.asked(wildcards.dataset)}[wildcards.system]
