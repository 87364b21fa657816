import json
from types import SimpleNamespace

import pytest

from support.workflow import problems
from tripleaudit.cli import build_parser
from tripleaudit.descriptors import EXTRACTORS, TABLES
from tripleaudit.errors import UserError
from tripleaudit.plan.paths import StudyPaths
from tripleaudit.plan.protocol_section import Augmented
from tripleaudit.plan.report import Table
from tripleaudit.plan.study import Run, Study
from tripleaudit.protocols.augmented.train_mlm import STEPS
from tripleaudit.sources import registry
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import OPTIONS, TableInputs

MINIMAL = {"study": "s", "corpora": {"webnlg": None}}
SETS = {"rearranged": {}, "sift-1": {"rule": "frequency", "max_count": 2, "train": False}, "augmented": {}}


def study(**changes) -> Study:
    return Study({**MINIMAL, **changes})


def test_the_trainings_are_the_product_without_repetition():
    both = {"noising": {}, "settings": ["nz", "wz"], "seeds": [1, 2]}
    plan = study(extractors={"casrel": {}}, **both, protocols=SETS | {"sift-1": {"rule": "frequency", "max_count": 2}})
    assert plan.trainsets == ["original-nz", "rearranged-nz", "sift-1-nz", "original-wz"]
    assert len(plan.runs) == len(set(plan.runs)) == (3 * 2 + 1) * 2
    assert plan.runs[0].path == "webnlg/original-nz/casrel/none/seed1"
    wz = [run for run in plan.runs if run.setting == "wz"]
    assert {run.noise for run in wz} == {"none"}


def test_each_kind_of_training_is_doubled_once_where_the_study_asks_so():
    asked = {"extractors": {"casrel": {}}, "noising": {}, "settings": ["nz", "wz"]}
    asked |= {"seeds": [3, 1], "zcc": {"binary": {}}}
    plan, single = study(**asked, double=True), study(**asked)
    kinds = ["original-nz/casrel/none", "original-nz/casrel/noising", "original-wz/casrel/none"]
    kinds.append("original-wz/zcc-binary/none")
    assert [run.path for run in plan.doubled_runs] == [f"webnlg/{kind}/seed3" for kind in kinds]
    assert single.doubled_runs == [] == single.report.doubles and plan.scored.keys() == single.scored.keys()
    of = ("webnlg", "casrel", "none")
    assert json.loads(plan.trainings.deciding_json(*of, double=True)) == {
        **json.loads(plan.trainings.deciding_json(*of)), "double": True
    }  # fmt: skip


def test_what_was_doubled_before_is_read_and_not_trained():
    plan = study(extractors={"casrel": {}}, double="resources/demo/trainings.json")
    assert plan.doubled_runs == [] and [path.rsplit("/", 1)[1] for path in plan.report.earlier] == ["trainings.json"]


def test_what_a_training_is_scored_on():
    plan = study(extractors={"casrel": {}}, settings=["nz", "wz"], protocols={"rearranged": {}, "augmented": {}})
    run = Run("webnlg", "original", "nz", "casrel", "none", 1)
    assert plan.testsets(run.trainset) == [("test", "nz"), ("test", "wz"), ("augmented", "nz")]
    assert plan.testsets("rearranged-nz") == [("test", "nz")]
    assert plan.testsets("original-wz") == [("test", "nz"), ("test", "wz")]
    for trainset, own in (("original-nz", "original/wz"), ("rearranged-nz", "rearranged/nz")):
        assert plan.testset_file(SimpleNamespace(corpus="webnlg", trainset=trainset)).endswith(f"/{own}/test.jsonl")


def test_a_row_of_scores_is_made_from_what_its_system_gives():
    systems, settings = {"mine": {"command": "python -"}}, ["nz", "wz"]
    plan = study(extractors={"casrel": {}}, settings=settings, zcc={"binary": {}}, systems=systems, baselines=[])
    made = {path.removeprefix("webnlg/original-"): (set(row.inputs), row.options) for path, row in plan.scored.items()}
    own, nz = {"gold", "predictions", "train"}, ["--only-with-triples"]
    assert made == {
        "nz/casrel/none/seed1/test-nz": (own, nz),
        "nz/casrel/none/seed1/test-wz": (own, []),
        "wz/casrel/none/seed1/test-nz": (own, nz),
        "wz/casrel/none/seed1/test-wz": (own, []),
        "wz/zcc-binary/none/seed1/classification": ({"gold", "decisions"}, []),
        "nz/casrel/none/seed1/zcc-binary": (own | {"decisions"}, []),
        "nz/mine/zcc-binary-seed1": (own | {"decisions", "report"}, []),
        "nz/mine/test-nz": (own | {"report"}, nz),
        "nz/mine/test-wz": (own | {"report"}, []),
    }


def test_baselines_are_scored_wherever_extractors_and_classifiers_are():
    plan = study(extractors={"casrel": {}}, settings=["nz", "wz"], zcc={"binary": {}}, protocols=SETS, seeds=[1, 2])
    files, both = [file.partition("/webnlg/")[2] for file in plan.score_files()], ("memorise", "nothing")
    assert [file for file in files if "casrel" not in file and "zcc" not in file] == [
        *(f"original-nz/{name}/{test}.csv" for name in both for test in ("test-nz", "test-wz", "augmented-nz")),
        *(f"rearranged-nz/{name}/test-nz.csv" for name in both),
        *(f"original-wz/{name}/test-{testing}.csv" for name in both for testing in ("nz", "wz")),
        "original-wz/always-yes/classification.csv",
    ]
    assert study(extractors={"casrel": {}}, baselines=[]).baseline_runs == []
    assert {name for *_, name in study(zcc={"binary": {}}, settings=["nz", "wz"]).baseline_runs} == {"always-yes"}


def test_settings_are_merged_from_general_to_special_and_noise_may_differ_by_corpus():
    general = {"training": {"epochs": 3, "batch_size": 4}, "noising": {"probability": 0.1}}
    plan = study(extractors={"casrel": {"epochs": 5}}, **general)
    settings = json.loads(plan.trainings.training_json("webnlg", "casrel", "none"))
    assert (settings["epochs"], settings["batch_size"]) == (5, 4) and "noising" not in settings
    assert json.loads(plan.trainings.training_json("webnlg", "casrel", "noising"))["noising"]["probability"] == 0.1
    plan = study(corpora={"webnlg": {"noise_probability": 0.05}}, extractors={"casrel": {}}, **general)
    assert json.loads(plan.trainings.training_json("webnlg", "casrel", "noising"))["noising"]["probability"] == 0.05


def test_what_only_a_scheduler_reads_does_not_decide_a_result():
    plain, greedy = study(extractors={"casrel": {}}), study(extractors={"casrel": {"mem_mb": 9000, "runtime": "3h"}})
    first, second = (one.trainings.training_json("webnlg", "casrel", "none") for one in (plain, greedy))
    assert first == second
    assert greedy.trainings.mem_mb("casrel") == 9000


def test_a_preset_may_be_named_for_each_corpus():
    presets = {"webnlg": "webnlg", "nyt24": "nyt24-en"}
    plan = study(corpora=dict.fromkeys([*presets, "scierc"]), extractors={"casrel": {"preset": presets}})
    epochs = {name: plan.trainings.settings_of(name, "casrel").get("epochs") for name in plan.corpora}
    assert epochs == {"webnlg": 100, "nyt24": 300, "scierc": None}


def test_an_extractor_from_outside_the_project(tmp_path):
    file = tmp_path / "mine.py"
    with pytest.raises(UserError, match="own_extractors/mine: .*mine.py: no such file"):
        study(own_extractors={"mine": f"{file}:Mine"}, extractors={"mine": {}})
    file.write_text(
        "from tripleaudit.extractors.declared import ExtractorSettings\nclass Mine: settings = ExtractorSettings"
    )
    with pytest.raises(UserError, match="own_extractors/casrel: the name 'casrel' is a built-in extractor's"):
        study(own_extractors={"casrel": f"{file}:Mine"})
    study(own_extractors={"mine": f"{file}:Mine"}, extractors={"mine": {}, "casrel": {}})
    assert EXTRACTORS["mine"].model == f"{file}:Mine"


def test_tables_follow_from_the_parts_of_a_study():
    assert study().report.possible == ["triple-types", "split-sizes", "strata-sizes", "leakage"]
    sets = SETS | {"sift-1": {"rule": "frequency", "max_count": 2}}
    everything = study(extractors={"casrel": {}}, settings=["nz", "wz"], zcc={"binary": {}}, protocols=sets)
    assert set(everything.report.possible) >= {"sifted", "rearranged", "augmented", "end-to-end", "zcc", "two-step"}


def test_the_choices_of_the_rearranged_protocol_reach_its_builder():
    chosen = {"rule": "every-triple", "test_size": 5}
    plan = study(protocols={"rearranged": chosen})
    options = '{"rule": "every-triple", "seed": 0, "test_size": 5}'
    assert plan.data.protocol_json("rearranged") == options


def test_published_sets_stand_in_for_those_made_here():
    plan = study(protocols={"rearranged": {"source": "published", "seed": 3}, "augmented": {"source": "published"}})
    assert plan.data.published("webnlg", "rearranged").name == "webnlg-rearranged"
    assert plan.data.published("webnlg", "original") is None
    assert json.loads(plan.data.protocol_json("rearranged")) == {"source": "published"}
    valid = plan.data.files_of_split("webnlg", "valid", "rearranged")
    assert valid == ["rte-eval/rearranged_WebNLG_all/valid_data.json"]
    parts = plan.data.files_of_split("webnlg", "test", "augmented")
    assert [path.split("/")[-1][:2] for path in parts] == ["ss", "su", "us", "uu"]
    assert plan.data.files_of_split("webnlg", "test") == ["webnlg/test_triples.json"]


def test_rewritten_test_sentences_of_ones_own_need_no_model(tmp_path):
    for name in ("train", "test", "names"):
        (tmp_path / f"{name}.jsonl").write_text('{"text": "A B", "triples": [["A", "r", "B"]]}\n')
    files = {name: f"{tmp_path}/{name}.jsonl" for name in ("train", "test")} | {"augmented": f"{tmp_path}/names.jsonl"}
    mine = {"corpora": {"mine": {"files": files}}, "protocols": {"augmented": None}}
    plan = study(**mine)
    wanted = SimpleNamespace(corpus="mine", protocol="augmented", split="test", get=lambda name, other: "augmented")
    assert plan.data.raw_inputs(wanted) == [f"{tmp_path}/names.jsonl"]
    assert json.loads(plan.data.protocol_json("augmented", "mine")) == {"source": "files"}
    assert plan.data.augmentation_models(wanted) == {}
    found = plan.protocol_inputs(wanted)
    assert found["test"].endswith("published/mine/augmented/test.jsonl") and "/original/nz/test" in found["original"]
    for changes, problem in (
        ({"protocols": {"original": None}}, "files/augmented: nothing is tested on it; expected 'augmented' under"),
        ({"protocols": {"augmented": {"roles": "text"}}}, "roles: has no meaning with corpora/mine/files/augmented"),
        ({"corpora": {"mine": {"files": files, "limit": {"test": 1}}}}, "limit/test: would cut sentences whose varia"),
    ):
        assert problem in "\n".join(problems({**MINIMAL, **mine, **changes}))


def test_a_published_test_set_is_whole_also_where_the_corpus_is_cut():
    mine = {"registry": "webnlg", "limit": {"train": 9, "test": 5}, "uncased": True}
    plan = study(corpora={"mine": mine}, protocols={"rearranged": {"source": "published"}})
    options = "--occurrence first --corpus webnlg-rearranged --split train --uncased --limit 9"
    assert plan.data.prepare_options("mine", "train", "rearranged") == options.split()
    assert "--limit" not in plan.data.prepare_options("mine", "test", "rearranged")
    assert plan.data.prepare_options("mine", "test")[-1] == "5"


def test_published_variants_are_cut_like_the_test_set_whose_variants_they_are():
    plan = study(corpora={"webnlg": {"limit": {"test": 5}}}, protocols={"augmented": {"source": "published"}})
    assert plan.data.prepare_options("webnlg", "test", "augmented")[-2:] == ["--limit-each", "5"]


def test_kept_relations_decide_a_split_and_an_untrained_original_trains_nothing():
    ten = {"corpora": {"webnlg": {"only_relations": ["country", "capital"]}}, "extractors": {"casrel": {}}}
    plan = study(**ten, protocols={"original": {"train": False}, "rearranged": {"test_size": 9}})
    kept = ["--only-relation", "country", "--only-relation", "capital"]
    assert plan.data.prepare_options("webnlg", "train")[-4:] == kept
    assert plan.data.prepare_options("webnlg", "test")[-5:] == [*kept, "--some-absent"]
    assert plan.data.sizes("webnlg") == {}
    assert {run.trainset for run in plan.runs} == {"rearranged-nz"}
    untrained = {"settings": ["nz", "wz"], "protocols": {"original": {"train": False}, "augmented": {}}}
    found = "\n".join(problems({**MINIMAL, **ten, **untrained}))
    for what in ("protocol 'augmented'", "setting 'wz'"):
        assert f"protocols/original/train: false, but the {what} is tested by trainings" in found


def test_a_corpus_may_have_an_encoder_of_its_own():
    corpora = {"webnlg": None, "nyt29": {"encoder": "bert-base-uncased"}}
    plan = study(encoder={"model": "minilm"}, corpora=corpora)
    files = [plan.encoder_file(SimpleNamespace(corpus=corpus)) for corpus in plan.corpora]
    assert [file.split("/")[-2] for file in files] == ["minilm", "bert-base-uncased"]


def test_a_plot_takes_the_matching_rule_of_the_table_that_it_draws():
    tables = {"type-f1": {"digits": 2}, "end-to-end": {"matching": "exact-span", "digits": 3}}
    report = study(settings=["nz", "wz"], extractors={"casrel": {}}, tables=tables).report
    assert json.loads(report.plot_options("cardinality-drop")) == {"matching": "exact-span"}
    assert json.loads(report.plot_options("type-f1")) == {}


def test_the_masked_model_of_an_augmented_set_has_one_default_of_steps():
    parsed = build_parser().parse_args(["train-mlm", "--encoder", "e", "--train", "t", "--out", "o"])
    assert Augmented().mlm_steps == STEPS == parsed.steps


def test_options_of_tables_are_those_that_a_study_can_give_and_every_table_obeys_them():
    assert set(OPTIONS) == set(Table.model_fields)
    given = {"caption": "Mine.", "style": "paper"}
    for name in TABLES:
        table = build_table(name, TableInputs(options=given))
        assert (table.caption, table.style) == ("Mine.", "paper"), name
    tables = {name: {"matching": "exact-span"} for name in ("triple-types", "zcc", "co-occurrence", "matching-rules")}
    given = {"settings": ["nz", "wz"], "extractors": {"casrel": {}}, "zcc": {"binary": None}, "tables": tables}
    found = problems({**MINIMAL, **given})
    assert [line.partition(",")[0] for line in found] == [f"tables/{name}/matching: has no meaning" for name in tables]


def test_a_table_is_made_from_the_files_of_its_kind(root):
    report = Study.read(root / "config" / "config.yaml").report
    made = {}
    for name in report.tables():
        made.setdefault(TABLES[name].needs, set()).update(report.table_inputs(SimpleNamespace(table=name)))
    assert made == {
        "scores": {"scores", "counts", "runs"},
        "completion": {"runs"},
        "classifiers": {"curves"},
        "runs": {"runs"},
        "gre": {"scores", "runs"},
        "needles": {"scores", "criteria", "runs"},
        "audits": {"audits"},
    }


def test_a_registered_file_is_looked_for_below_the_folder_that_it_was_found_in():
    class Of(SimpleNamespace):
        def get(self, name, default):
            return getattr(self, name, default)

    data, of = study().data, Of(corpus="webnlg", split="train")
    (file,) = data.files_of_split("webnlg", "train", "original")
    for folder, said in (("some/raw/", "some/raw"), ("", ".")):
        assert data.prepare_origin(of, [folder + file]) == ["--raw-root", said]


def test_pages_are_named_with_their_files_that_are_neither_fetched_nor_there(tmp_path):
    fetched, *others = map(registry.raw_file, ("webnlg/val_triples.json", "nyt29/train.sent", "nyt29/dev.sent"))
    (said,) = StudyPaths("s", str(tmp_path)).to_get(fetched, *others)
    assert said.startswith("nyt29/train.sent, nyt29/dev.sent: cannot be fetched; get it from https://")
    assert list(StudyPaths("s", str(tmp_path), "raw").to_get(*others)) == []  # where all files are one's own
    path = others[0].below(tmp_path / "raw")
    path.parent.mkdir(parents=True)
    path.touch()
    assert [said.partition(":")[0] for said in StudyPaths("s", str(tmp_path)).to_get(*others)] == ["nyt29/dev.sent"]
