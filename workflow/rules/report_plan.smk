# What the plots and the report are made from; the rules themselves are in report.smk.
import os

from tripleaudit.provenance import digest as json_digest

PLOT_SCORES = ("type-f1", "cardinality-drop")


def study_plots():
    """The plots that the study can fill, in the order of the report."""
    names = []
    if STUDY.extractors:
        names += ["type-f1"]
        names += ["cardinality-drop"] if "wz" in STUDY.settings else []
    names += ["zcc-curves"] if STUDY.classifiers else []
    names += ["training-curves"] if STUDY.runs else []
    names += ["time-memory"] if STUDY.runs or STUDY.classifier_runs else []
    return names + (["gre-scores"] if GRE_PLAN.tables else [])


PLOTS = study_plots()


def plot_inputs(wildcards):
    """What one plot is made from."""
    with_scores = wildcards.plot in PLOT_SCORES
    scores = ["<study>/scores.csv"] if with_scores else []
    return {
        "scores": ["<study>/gre/scores.csv"] if wildcards.plot == "gre-scores" else scores,
        "counts": score_files("counts") if with_scores else [],
        "curves": curve_files() if wildcards.plot == "zcc-curves" else [],
        "history": [
            f"<study>/models/{run.path}/history.jsonl" for run in STUDY.runs if wildcards.plot == "training-curves"
        ],
        # the benchmark files beside these are read where they exist: a lost one must not train anything again
        "predictions": [
            f"<study>/predictions/{run.path}/test.jsonl"
            for run in [*STUDY.runs, *STUDY.classifier_runs]
            if wildcards.plot == "time-memory"
        ],
    }


def browsed_runs():
    """One training of every extractor, noise and setting on the original protocol: that of the first seed."""
    return [run for run in STUDY.runs if run.protocol == "original" and run.seed == STUDY.seeds[0]]


def report_tables():
    """All tables of the study, as the report embeds them."""
    return [f"<study>/tables/{name}.html" for name in [*STUDY.tables, *needle_settings.tables(NEEDLES)]]


def report_inputs(wildcards):
    """Everything that the report shows or computes its sentences from."""
    tables = report_tables()
    testing = STUDY.settings[-1]
    needles = needle_settings.tables(NEEDLES)
    curves = rules.needle_plot.output if needle_settings.LENGTH_TABLE in needles else []
    return {
        "tables": tables,
        "csv": [path.removesuffix(".html") + ".csv" for path in tables],
        "plots": [*(f"<study>/plots/{name}.svg" for name in PLOTS), *curves],
        "scores": ["<study>/scores.csv"] if STUDY.runs or STUDY.classifier_runs else [],
        "counts": score_files("counts"),
        "audits": audit_files(),
        "runs": ["<study>/trainings.json"] if STUDY.runs or STUDY.classifier_runs else [],
        "gre": ["<study>/gre/scores.csv"] if GRE_PLAN.tables else [],
        "needles": ["<study>/needles/scores.csv"] if needles else [],
        "predictions": [f"<study>/predictions/{run.path}/test.jsonl" for run in browsed_runs()],
        "gold": [f"<study>/protocols/{run.corpus}/original/{testing}/test.jsonl" for run in browsed_runs()],
        "browsed": [f"<study>/counts/{run.path}/test-{testing}.csv" for run in browsed_runs()],
        "provenance": [f"<study>/models/{run.path}/provenance.json" for run in [*STUDY.runs, *STUDY.classifier_runs]],
    }


def study_facts():
    """What the report says about the study itself, as JSON."""
    paths = [os.path.relpath(path) for path in workflow.overwrite_configfiles]
    return {
        "name": STUDY.name,
        "description": config["description"],
        "config_sha256": json_digest(config),
        "configfiles": paths,
        "seeds": STUDY.seeds,
        "settings": STUDY.settings,
        "table_options": STUDY.tables,
    }
