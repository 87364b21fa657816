# What single rules read from the plan, where a provider of common.smk does not say it.


def pinned_file(wildcards):
    """What a raw file has to be."""
    return jobs.pinned(registry.raw_file(wildcards.file))


def pinned_model(wildcards):
    """What a model has to be."""
    return jobs.pinned(registry.find_model(STUDY.paths.source(wildcards.model)))


def reading_code(wildcards):
    """The code of the format that it reads."""
    corpus, split, protocol = wildcards.corpus, wildcards.split, wildcards.get("protocol")
    if protocol and STUDY.data.registered(corpus):
        return jobs.corpus_code([], STUDY.data.published(corpus, protocol), split)
    return jobs.corpus_code(STUDY.data.formats(corpus, split), STUDY.data.registered(corpus), split)


def protocol_code(wildcards):
    """The code of the protocol that a job builds."""
    return jobs.described_code("build-protocol", PROTOCOLS, spec_of(wildcards.protocol).name)


def training_code(wildcards):
    """The code of the extractor, and of the matching rule by which the best epoch is chosen."""
    matching = TRAININGS.matching(wildcards.corpus, wildcards.extractor)
    return jobs.extractor_code("train", wildcards.extractor) | jobs.described_code(
        "train", MATCHINGS, matching
    )


def attempt_of(path):
    """The number of a job's attempt, for one that failed is made again where its report says so."""
    return lambda wildcards: next_attempt(workflow.pathvars.apply(path(*wildcards)))


def system_code(wildcards):
    """The code of a system's kind, and of the formats of stored outputs."""
    name = wildcards.extractor
    kind = STUDY.systems.kinds[name].name
    formats = STUDY.systems.formats(name) if kind == "predictions" else []
    read = jobs.described_code("predict-system", FORMATS, *formats) if formats else {}
    return jobs.described_code("predict-system", SYSTEM_KINDS, kind) | read


def model_of_system(wildcards):
    """The model file of an extraction by a language model that its job serves itself."""
    return STUDY.language_models.served(STUDY.language_models.endpoint_of(wildcards.system))


def model_of_judge(wildcards):
    """The model file of a judge that its job serves itself."""
    return STUDY.language_models.served(wildcards.judge)


def judged_files(wildcards):
    """The triples that a judge is asked about, and their texts."""
    system = GRE.to_judge(wildcards.dataset)[wildcards.system]
    return [system.files["triples"], GRE.texts(wildcards.dataset, wildcards.system)]


def gre_files(wildcards):
    """The texts and triples of all systems of a data set."""
    return GRE.spec(wildcards.dataset)[1]


def collection_files(wildcards):
    """The texts of a collection, and the weights of its models."""
    return [*COLLECTIONS.texts(wildcards.collection), *COLLECTIONS.models(wildcards)]


def collection_code(wildcards):
    """The code of the extractor or system of a collection."""
    if COLLECTIONS.system(wildcards.collection):
        return jobs.described_code(
            "collection", SYSTEM_KINDS, COLLECTIONS.kind(wildcards.collection)
        )
    return jobs.extractor_code("collection", COLLECTIONS.extractor(wildcards.collection))


def plot_code(wildcards):
    """The code of the plots beyond that of the command that draws them."""
    modules = [f"tables.plots.{name.replace('-', '_')}" for name in STUDY.report.plots]
    return jobs.chosen_code("plots", *modules)
