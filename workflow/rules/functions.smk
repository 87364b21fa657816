# Input and parameter functions of single rules.
from tripleaudit.protocols.build import spec_of


def pinned_file(wildcards):
    """Return the expected digest of a raw file."""
    return jobs.pinned(registry.raw_file(wildcards.file))


def pinned_model(wildcards):
    """Return the expected digest of a model."""
    return jobs.pinned(registry.find_model(STUDY.paths.source(wildcards.model)))


def reading_code(wildcards):
    """Return digests of the code that reads a split: the command and its formats."""
    corpus, split, protocol = wildcards.corpus, wildcards.split, wildcards.get("protocol")
    if protocol and STUDY.data.registered(corpus):
        readers = jobs.corpus_code([], STUDY.protocol_sets.published(corpus, protocol), split)
    else:
        formats = STUDY.data.formats(corpus, split)
        readers = jobs.corpus_code(formats, STUDY.data.registered(corpus), split)
    return jobs.command_code("prepare") | readers


def protocol_code(wildcards):
    """Return digests of the code that builds a protocol."""
    protocol = spec_of(wildcards.protocol).name
    return jobs.command_code("build-protocol") | jobs.described_code(
        "build-protocol", PROTOCOLS, protocol
    )


def augmentation_code(wildcards):
    """Return digests of the code that builds augmented test sets."""
    return jobs.command_code("build-protocol") | jobs.described_code(
        "build-protocol", PROTOCOLS, "augmented"
    )


def training_code(wildcards):
    """Return digests of the code of a training: command, extractor, and rule of the best epoch."""
    matching = TRAININGS.matching(wildcards.corpus, wildcards.extractor)
    return (
        jobs.command_code("train")
        | jobs.extractor_code("train", wildcards.extractor)
        | jobs.described_code("train", MATCHINGS, matching)
    )


def prediction_code(wildcards):
    """Return digests of the code that predicts with an extractor."""
    return jobs.command_code("predict") | jobs.extractor_code("predict", wildcards.extractor)


def system_attempt(wildcards):
    """Return the number of the next attempt of a system, which reruns a job whose report failed."""
    path = fill(PATHS.prediction_report, run=UNTRAINED_RUN).format(**wildcards)
    return next_attempt(path.replace("<study>", str(STUDY_FOLDER), 1))


def system_code(wildcards):
    """Return digests of the code of a system: command, kind, and formats of stored outputs."""
    name = wildcards.extractor
    kind = STUDY.systems.kinds[name].name
    formats = STUDY.systems.formats(name) if kind == "predictions" else []
    code = jobs.command_code("predict-system")
    code |= jobs.described_code("predict-system", SYSTEM_KINDS, kind)
    if formats:
        code |= jobs.described_code("predict-system", FORMATS, *formats)
    return code


def model_of_system(wildcards):
    """Return the model file of an extraction whose job serves its language model itself."""
    return STUDY.language_models.served(STUDY.language_models.endpoint_of(wildcards.system))


def model_of_judge(wildcards):
    """Return the model file of a judge that its job serves itself."""
    return STUDY.language_models.served(wildcards.judge)


def judged_files(wildcards):
    """Return the triples to judge and their texts."""
    system = GRE.to_judge(wildcards.dataset)[wildcards.system]
    return [system.files["triples"], GRE.texts(wildcards.dataset, wildcards.system)]


def gre_spec(wildcards):
    """Return the settings of the scores of a data set as JSON."""
    spec, _ = GRE.spec(wildcards.dataset)
    return spec


def gre_files(wildcards):
    """Return the texts and triples of all systems of a data set."""
    _, files = GRE.spec(wildcards.dataset)
    return files


def collection_files(wildcards):
    """Return the texts of a collection and the weights of its models."""
    return [*COLLECTIONS.texts(wildcards.collection), *COLLECTIONS.models(wildcards)]


def collection_code(wildcards):
    """Return digests of the code of a collection's extractor or system."""
    collection = wildcards.collection
    if COLLECTIONS.system(collection):
        kind = COLLECTIONS.kind(collection)
        chosen = jobs.described_code("collection", SYSTEM_KINDS, kind)
    else:
        chosen = jobs.extractor_code("collection", COLLECTIONS.extractor(collection))
    return jobs.command_code("collection") | chosen


def table_code(wildcards):
    """Return digests of the code of all tables."""
    return jobs.command_code("tables") | jobs.described_code("tables", TABLES, *STUDY.tables)


def plot_code(wildcards):
    """Return digests of the code of all plots."""
    names = [f"tables.plots.{name.replace('-', '_')}" for name in STUDY.report.plots]
    return jobs.command_code("plots") | jobs.chosen_code("plots", *names)


def files_of_table(name):
    """Return an input function for the files that one table is made from."""
    return lambda wildcards: STUDY.report.table_inputs(name)
