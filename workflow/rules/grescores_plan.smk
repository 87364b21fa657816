# What the rules of grescores.smk need: the plan of the study's GREScores, with every file where it lies.
from tripleaudit.plan import grescores as gre_plan
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


GRE_PLAN = gre_plan.study_plan(config, STUDY.runs, LM_SYSTEMS, "<study>", gre_file)
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
    corpus, _ = gre_plan.corpus_of(GRE["datasets"][wildcards.dataset], config["generative"])
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
