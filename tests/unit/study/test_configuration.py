import json

import pytest

from support.workflow import problems
from tripleaudit.commands.config_reference import reference
from tripleaudit.core.errors import UserError
from tripleaudit.study.config.study import load_schema
from tripleaudit.study.study import Study

MINIMAL = {"study": "s", "corpora": {"webnlg": None}}


@pytest.mark.parametrize(
    "name", ["../elsewhere", "a/b", "", ".hidden", "..", "/absolute", "with blank"]
)
def test_a_study_cannot_leave_the_results_folder(name):
    (problem,) = problems({**MINIMAL, "study": name})
    assert problem.startswith(
        "study: expected letters, digits, '.', '_' and '-', starting with a letter or digit, got"
    )


def test_the_name_of_a_study_is_no_longer_than_its_folders_can_be():
    assert Study({**MINIMAL, "study": "s" * 60}).name
    (problem,) = problems({**MINIMAL, "study": "s" * 61})
    assert problem.startswith("study: ") and "at most 60" in problem


def test_a_study_reads_all_that_shipped_studies_say_and_writes_it_back(root):
    for path in sorted((root / "config").glob("*.yaml")):
        if path.stem != "minea":  # its articles are not public
            study = Study.read(path)
            again = Study(study.config)
            assert (again.config, again.runs.extractors, again.tables) == (
                study.config,
                study.runs.extractors,
                study.tables,
            ), path


def test_later_files_win_key_by_key_and_repeated_keys_are_named_with_their_lines(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "study: s\ntraining: {epochs: 3, batch_size: 4}\nseeds: [1, 2]\n"
    )
    (tmp_path / "b.yaml").write_text("training: {epochs: 5}\nseeds: [9]\n")
    study = Study.read(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert (study.config["training"], study.seeds) == ({"epochs": 5, "batch_size": 4}, [9])
    (tmp_path / "c.yaml").write_text(
        "study: s\ntraining:\n  epochs: 1\n  seeds: 2\n  epochs: 3\nstudy: t\n"
    )
    with pytest.raises(UserError) as error:
        Study.read(tmp_path / "c.yaml")
    assert (
        f"training/epochs: the key stands twice in {tmp_path / 'c.yaml'}, in lines 3 and 5"
        in str(error.value)
    )
    assert f"study: the key stands twice in {tmp_path / 'c.yaml'}, in lines 1 and 6" in str(
        error.value
    )
    assert "training: unknown key 'seeds'" in str(error.value)  # all at once


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"study: s\nseeds: [1\nfoo: 2\n", "line 3, column 4: not valid YAML"),
        (
            "study: s\n".encode("utf-16"),
            "line 1: not text in UTF-8; expected a YAML file, saved as UTF-8",
        ),
        (b"study: s\n\x00\x01\x02", "not valid YAML"),
        (b"study: s\ndescription: \xff\xfe\n", "line 2: not text in UTF-8"),
        (b"- a\n- b\n", "expected keys with values"),
        (b"\tstudy: s", "line 1, column 1: not valid YAML"),
        (b'study: s\nfiles: [a, "b\\0"]\n', "line 2: the value of files/1 holds the character NUL"),
    ],
)
def test_what_is_no_study_file_is_said_in_a_sentence_with_file_and_line(tmp_path, content, said):
    path = tmp_path / "study.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        Study.read(path)
    (sentence,) = str(error.value).splitlines()
    assert sentence.startswith(str(path)) and said in sentence


def test_a_byte_order_mark_is_read_over(tmp_path):
    (tmp_path / "study.yaml").write_bytes(b"\xef\xbb\xbfstudy: s\n")
    assert Study.read(tmp_path / "study.yaml").name == "s"


def test_the_schema_of_editors_is_that_of_the_sections(root):
    path = root / "workflow" / "schemas" / "study.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == load_schema(), (
        f"run: tripleaudit config-reference --json-schema > {path.relative_to(root)}"
    )


def test_shipped_studies_name_their_schema(root):
    studies = [*(root / "config").glob("*.yaml"), root / ".test" / "config" / "config.yaml"]
    studies += [root / "resources" / "instrument" / "study.yaml"]
    for study in studies:
        first_line = study.read_text(encoding="utf-8").partition("\n")[0]
        schema = first_line.removeprefix("# yaml-language-server: $schema=")
        assert (study.parent / schema).resolve().name == "study.schema.json"
        assert (study.parent / schema).is_file()


def test_the_study_of_the_workflow_catalog_can_run(root):
    study = Study.read(root / ".test" / "config" / "config.yaml")
    assert study.corpora == ["demo"]
    assert not study.runs.extractors


def test_the_readme_explains_every_key(root):
    text = (root / "config" / "README.md").read_text(encoding="utf-8")
    made = "<!-- made by `tripleaudit config-reference`; a test compares the two -->\n\n"
    written = text.partition(made)[2].rstrip()
    assert written == "\n".join(reference()).rstrip(), (
        "run: tripleaudit config-reference, and paste it in place"
    )
    assert not [
        row for row in reference() if row.rstrip().endswith("|  |")
    ]  # without a description
