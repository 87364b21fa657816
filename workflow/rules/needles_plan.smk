# What the rules of needles.smk need: the plan of the study's needles, its documents and models.
import json as needles_json

from tripleaudit.plan import needles as needle_settings
from tripleaudit.needles.haystack import document_files

NEEDLES = config["needles"]
NEEDLE_PLAN = needle_settings.plan_json(NEEDLES)
NEEDLES_MADE = needle_settings.made_json(NEEDLES)
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
