# What the rules of collection.smk need: the files, shards and models of each text collection.
from tripleaudit.plan import collections as collection_settings
from tripleaudit.collection.files import collection_files
from tripleaudit.collection.index import shard_names

COLLECTIONS = config["collections"]


def collection_problems():
    """What cannot work, one sentence each."""
    runs = [run.path for run in STUDY.runs]
    classifiers = [run.path for run in STUDY.classifier_runs]
    for name, section in COLLECTIONS.items():
        yield from collection_settings.problems(name, section, runs, classifiers, STUDY.corpora, STUDY.seeds)
        try:
            texts_of(name)
        except UserError as error:
            yield f"collections/{name}/files: {error}"


def texts_of(name):
    """The text files of a collection."""
    files = COLLECTIONS[name]["files"]
    return collection_files([files] if isinstance(files, str) else files)


def collection_model(wildcards):
    """The weights of the extractor."""
    section = COLLECTIONS[wildcards.collection]
    run = collection_settings.model_run(section, STUDY.corpora, STUDY.seeds)
    folder = f"<study>/models/{run}" if run else shipped(section["extractor"])
    return f"{folder}/model.safetensors"


def collection_gate(wildcards):
    """The weights of the classifier before it, if there is one."""
    section = COLLECTIONS[wildcards.collection]
    if section["gate"] is None:
        return []
    run = collection_settings.gate_run(section, STUDY.corpora, STUDY.seeds)
    folder = f"<study>/models/{run}" if run else shipped(section["gate"])
    return f"{folder}/model.safetensors"


def collection_extractor(wildcards):
    """The name of the extractor, where the study knows it."""
    extractor = COLLECTIONS[wildcards.collection]["extractor"]
    return "" if collection_settings.is_folder(extractor) else extractor


def shard_files(collection, ending):
    """The files of all shards of a collection."""
    names = shard_names(COLLECTIONS[collection]["shards"])
    return [f"<study>/collections/{collection}/{name}.{ending}" for name in names]


if found := list(collection_problems()):
    raise WorkflowError("Configuration is not usable:\n" + "\n".join(f"- {problem}" for problem in found))


wildcard_constraints:
    collection="|".join(map(re.escape, COLLECTIONS)) or "none",
    shard=r"\d{5}-of-\d{5}",
