# What the extractions by language models are made from; the rules themselves are in generative.smk.
import json

from tripleaudit.generative import settings as generative_settings
from tripleaudit.plan import language_models

GENERATIVE = json.dumps(config["generative"])
if found := language_models.problems(config["generative"], config["corpora"]):
    raise WorkflowError("Configuration is not usable:\n" + "\n".join(f"- {problem}" for problem in found))

LM_SYSTEMS = language_models.systems_of(config["generative"])


def section_for_job(wildcards, input):
    """The section of the configuration. Snakemake does not compare params that are made from the input, so that a new
    price, address or time-out reruns nothing; what decides a result is in the other params of a rule."""
    return GENERATIVE


def is_gguf(source):
    """Whether a model comes as one GGUF file, which is converted before it is served."""
    return language_models.is_gguf(source)


def served_model(endpoint):
    """The configuration file of the model that an endpoint serves itself, else nothing."""
    serve = config["generative"]["endpoints"][endpoint]["serve"]
    if serve is None:
        return []
    if is_gguf(serve["source"]):
        return f"<downloads>/lm/{STUDY.model_slug(serve['source'])}/config.json"
    return f"{model_folder(serve['source'])}/config.json"


def endpoint_of(wildcards):
    """The endpoint of a system."""
    return config["generative"]["systems"][wildcards.system]["endpoint"]


def needs_network(*endpoints):
    """Whether one of the endpoints is a service elsewhere, not a model that a job serves itself; a rule that asks it
    is local, because compute nodes may have no network."""
    return any(config["generative"]["endpoints"][name]["serve"] is None for name in endpoints if name)
