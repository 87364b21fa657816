import json

import pytest

from support.workflow import Wildcards, problems
from tripleaudit.cli import build_parser
from tripleaudit.core.errors import UserError
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.needles.plan import Plan
from tripleaudit.protocols.augmented.train_mlm import STEPS
from tripleaudit.scoring.breakdown import PARTS
from tripleaudit.sources import registry
from tripleaudit.study.config.needles import Needles
from tripleaudit.study.config.protocols import Augmented
from tripleaudit.study.config.tables import Table
from tripleaudit.study.paths import StudyPaths, with_contents
from tripleaudit.study.study import Study
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import OPTIONS, TableInputs
from tripleaudit.tables.spec import TABLES

MINIMAL = {"study": "s", "corpora": {"webnlg": None}}


def study(**changes) -> Study:
    return Study({**MINIMAL, **changes})


def test_an_extractor_from_outside_the_project(tmp_path):
    pytest.importorskip("torch")
    file = tmp_path / "mine.py"
    with pytest.raises(UserError, match="own_extractors/mine: .*mine.py: no such file"):
        study(own_extractors={"mine": f"{file}:Mine"}, extractors={"mine": {}})
    file.write_text(
        "from tripleaudit.extractors.casrel import CasRel\nclass Mine(CasRel): name = 'mine'"
    )
    with pytest.raises(
        UserError, match="own_extractors/casrel: the name 'casrel' is a built-in extractor's"
    ):
        study(own_extractors={"casrel": f"{file}:Mine"})
    study(own_extractors={"mine": f"{file}:Mine"}, extractors={"mine": {}, "casrel": {}})
    assert EXTRACTORS["mine"].model == f"{file}:Mine"


def test_the_masked_model_of_an_augmented_set_has_one_default_of_steps():
    parsed = build_parser().parse_args(
        ["train-mlm", "--encoder", "e", "--train", "t", "--out", "o"]
    )
    assert Augmented().mlm_steps == STEPS == parsed.steps


def test_options_of_tables_are_those_that_a_study_can_give_and_every_table_obeys_them():
    assert set(OPTIONS) == set(Table.model_fields)
    given = {"caption": "Mine.", "style": "paper"}
    for name in TABLES:
        table = build_table(name, TableInputs(options=given))
        assert (table.caption, table.style) == ("Mine.", "paper"), name
    tables = {
        name: {"matching": "exact-span"}
        for name in ("triple-types", "zcc", "co-occurrence", "matching-rules")
    }
    given = {
        "settings": ["nz", "wz"],
        "extractors": {"casrel": {}},
        "zcc": {"binary": None},
        "tables": tables,
    }
    found = problems({**MINIMAL, **given})
    assert [line.partition(",")[0] for line in found] == [
        f"tables/{name}/matching: has no meaning" for name in tables
    ]


def test_tables_that_divide_scores_take_every_part_of_score_by():
    given = {**MINIMAL, "extractors": {"casrel": {}}}
    config = {**given, "tables": {"type-f1": {"by": list(PARTS)}}}
    assert Study(config).tables == {"type-f1": {"by": list(PARTS)}}
    (refused,) = problems({**given, "tables": {"efficiency": {"by": ["overlap"]}}})
    assert refused.startswith("tables/efficiency/by: has no meaning for this table")
    assert "augmented, end-to-end, rearranged, sifted, two-step, type-f1" in refused
    (unknown,) = problems({**given, "tables": {"type-f1": {"by": ["genre"]}}})
    assert unknown.startswith("tables/type-f1/by/0") and "'overlap'" in unknown


def test_a_registered_file_is_looked_for_below_the_folder_that_it_was_found_in():
    data, wildcards = study().data, Wildcards(corpus="webnlg", split="train")
    (file,) = data.files_of_split("webnlg", "train", "original")
    for folder, said in (("some/raw/", "some/raw"), ("", ".")):
        assert data.prepare_origin(wildcards, [folder + file]) == ["--raw-root", said]


def test_pages_are_named_with_their_files_that_are_neither_fetched_nor_there(tmp_path):
    fetched, *others = map(
        registry.raw_file, ("webnlg/val_triples.json", "nyt29/train.sent", "nyt29/dev.sent")
    )
    (said,) = StudyPaths("s", str(tmp_path)).to_get(fetched, *others)
    assert said.startswith(
        "nyt29/train.sent, nyt29/dev.sent: cannot be fetched; get it from https://"
    )
    assert (
        list(StudyPaths("s", str(tmp_path), "raw").to_get(*others)) == []
    )  # where all files are one's own
    path = others[0].below(tmp_path / "raw")
    path.parent.mkdir(parents=True)
    path.touch()
    assert [said.partition(":")[0] for said in StudyPaths("s", str(tmp_path)).to_get(*others)] == [
        "nyt29/dev.sent"
    ]
    (tmp_path / "raw" / "own.txt").touch()  # a file of one's own may lie below the raw root, too
    assert StudyPaths("s", "d", str(tmp_path / "raw")).file("own.txt") == str(
        tmp_path / "raw" / "own.txt"
    )


def test_the_section_needles_is_made_from_the_settings_of_a_job():
    known = {field.alias or name for name, field in Needles.model_fields.items()}
    assert {field.alias or name for name, field in Plan.model_fields.items()} - {"context"} <= known
    of_job, without = (study(needles=said).needles.plan_json for said in ({}, {"judge": None}))
    assert Plan.from_mapping(json.loads(of_job)) == Plan()
    assert not Plan.from_mapping(json.loads(without)).judge


@pytest.mark.parametrize(
    ("change", "decides"),
    [
        ({"reasoning_effort": "low"}, True),
        ({"temperature": 0.5}, True),
        ({"context": 9000}, True),
        ({"max_tokens": 50}, False),  # threads are limited by needles/reserve
        ({"timeout": 9}, False),
    ],
)
def test_what_decides_the_answers_of_threads(change, decides):
    def identity(**settings):
        server = {"base_url": "http://127.0.0.1:9/v1", "model": "m", **settings}
        return study(generative={"endpoints": {"a": server}}).language_models.sampling("a")

    assert (identity(**change) != identity()) == decides


def test_the_files_of_a_folder_are_inputs_also_behind_links_to_folders(tmp_path):
    """A corpus may be a folder of links to where its files are stored."""
    stored = tmp_path / "stored"
    (stored / "deep").mkdir(parents=True)
    (stored / "a.txt").touch()
    (stored / "deep" / "b.txt").touch()
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "part").symlink_to(stored)
    (stored / "loop").symlink_to(corpus)
    folder, *contents = with_contents([str(corpus)])
    assert folder == str(corpus)
    assert contents == [f"{corpus}/part/a.txt", f"{corpus}/part/deep/b.txt"]


def test_the_modules_of_a_local_embedder_are_inputs_with_its_other_files(tmp_path):
    folder = tmp_path / "embedder"
    (folder / "1_Pooling").mkdir(parents=True)
    names = ["config.json", "model.safetensors", "modules.json", "1_Pooling/config.json"]
    for name in names:
        (folder / name).touch()
    paths = StudyPaths("results/s", "resources/downloads")
    files = paths.own_files([f"{folder}/config.json", "results/s/scores.csv"])
    assert sorted(files) == sorted(f"{folder}/{name}" for name in names)
