import pytest

from support.workflow import problems, refusals
from tripleaudit.commands.config_reference import reference
from tripleaudit.errors import UserError
from tripleaudit.plan.study import Study

MINIMAL = {"study": "s", "corpora": {"webnlg": None}}


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "", ".hidden", "..", "/absolute", "with blank"])
def test_a_study_cannot_leave_the_results_folder(name):
    (problem,) = problems({**MINIMAL, "study": name})
    assert problem.startswith("study: expected letters, digits, '.', '_' and '-', starting with a letter or digit, got")


REFUSED = """
settings: [wz]
-> settings: expected nz, alone or with wz, got ['wz']
protocols: {sift-1: {rule: sample}}
-> protocols/sift-1: the rule 'sample' needs the key 'percent'
protocols: {sift-1: {rule: sample, percent: 5, max_count: 2}}
-> protocols/sift-1: the key 'max_count' belongs to the rule 'frequency', not 'sample'
protocols: {rearranged: {test_size: 9999}}
-> protocols/rearranged/test_size: 9999 held-out sentences leave none for training of the 6222
protocols: {rearranged: {source: published, rule: every-triple}}
-> protocols/rearranged/rule: has no meaning with source: published
{corpora: {conll04: null}, protocols: {augmented: {source: published}}}
-> no published sets of corpus 'conll04' are registered, only of webnlg, webnlg-spans
{protocols: {unseen_relations: {relations: 3}}, extractors: {casrel: null}, systems: {plain: {command: python -}}}
-> protocols/unseen_relations: nothing in the study can be asked for relations
corpora: {demo: {registry: webnlg, files: {train: a.jsonl, test: b.jsonl}}}
-> corpora/demo/registry: has no meaning together with 'files'
corpora: {demo: {files: {train: a.jsonl, test: b.jsonl}, format: jsonl, columns: {text: t}}}
-> corpora/demo/columns: the format 'jsonl' has no columns
corpora: {webnlg: {format: jsonl}}
-> corpora/webnlg/format: has no meaning without 'files'
zcc: {binary: {}}
-> add wz to settings
{settings: [nz, wz], zcc: {binary: {preset: nope}}}
-> zcc/binary/preset: unknown preset 'nope'; known are nyt24
{extractors: {casrel: {}}, tables: {zcc: {}}}
-> cannot fill zcc
generative: {endpoints: {e: {base_url: "http://a/v1", model: m}}, systems: {s: {endpoint: e, examples: 9999}},
             datasets: {d: {corpus: webnlg}}}
-> generative/systems/s/examples: 9999 sentences, but the training split has 5019
{corpora: {webnlg: null, nyt24: null}, collections: {news: {files: README.md, extractor: casrel, gate: null}}}
-> collections/news/corpus: expected the corpus whose extractor reads it; known are webnlg, nyt24
extractors: {casrel: {preset: {webnlg2: webnlg}}}
-> extractors/casrel/preset: there is no corpus 'webnlg2', did you mean 'webnlg'
extractors: {casrel: {preset: {webnlg: nope}}}
-> extractors/casrel/preset: unknown preset 'nope'
{extractors: {casrel: {}}, double: gone.json}
-> double: gone.json: no such file
baselines: [memorize]
-> baselines/0: unknown baseline 'memorize', did you mean 'memorise'
protocols: {rearranged: {rule: shortest}}
-> protocols/rearranged/rule: expected one of 'key-triple' or 'every-triple', got 'shortest'
corpora: {webnlg: {encoder: "ftp://no.where/it"}}
-> corpora/webnlg/encoder
tables: {}
-> tables: names none
{corpora: {mine: {files: {train: README.md, test: Makefile, augmented: CHANGELOG.md}}}}
-> files/augmented: nothing is tested on it; expected 'augmented' under
{protocols: {augmented: {roles: text}},
 corpora: {mine: {files: {train: README.md, test: Makefile, augmented: CHANGELOG.md}}}}
-> roles: has no meaning with corpora/mine/files/augmented
{protocols: {augmented: }, corpora: {mine: {limit: {test: 1},
                                            files: {train: README.md, test: Makefile, augmented: CHANGELOG.md}}}}
-> limit/test: would cut sentences whose varia
{protocols: {original: {train: false}, augmented: }}
-> protocols/original/train: false, but the protocol 'augmented' is tested by trainings
{protocols: {original: {train: false}}, settings: [nz, wz]}
-> protocols/original/train: false, but the setting 'wz' is tested by trainings
{protocols: {unseen_relations: {descriptions: true}}, extractors: {unirel: }}
-> protocols/unseen_relations/descriptions: corpora/webnlg/relations describes none
protocols: {unseen_relations: {descriptions: please}}
-> protocols/unseen_relations/descriptions: expected boolean
systems: {a: {command: python -, completion: 3}}
-> systems/a/completion: a system by 'command' has no such key
{systems: {a: {endpoint: e, completion: 5}}, generative: {endpoints: {e: {base_url: "http://a/v1", model: m}}}}
-> systems/a/completion: the study has no protocol 'augmented'
{seeds: [7], extractors: {casrel: }, collections: {news: {files: README.md, extractor: pfn, gate: null}}}
-> collections/news/extractor: the study has no training webnlg/original-nz/pfn/none/seed7; expected one of
{extractors: {casrel: }, collections: {news: {files: README.md, extractor: casrel, noise: noising, gate: null}}}
-> collections/news/extractor: the study has no training webnlg/original-nz/casrel/noising/seed1
collections: {news: {files: README.md, extractor: no/such, gate: null}}
-> collections/news/extractor: no/such: not a trained extractor, it has no config.json
{extractors: {casrel: }, collections: {news: {files: README.md, extractor: casrel, gate: no/such}}}
-> collections/news/gate: no/such: not a trained extractor, it has no config.json
{systems: {said: {predictions: README.md}}, collections: {news: {files: README.md, extractor: said, gate: null}}}
-> collections/news/extractor: 'said' is stored predictions and reads no texts
"""


@pytest.mark.parametrize(("changes", "problem"), refusals(REFUSED))
def test_what_cannot_work_is_said_with_its_location(changes, problem):
    assert problem in "\n".join(problems({**MINIMAL, **changes}))


def test_a_list_without_a_fitting_item_is_not_called_too_short():
    found = "\n".join(problems({**MINIMAL, "needles": {"thresholds": [0, 2]}}))
    assert "needles/thresholds/0: expected more than 0, got 0" in found and "of them" not in found
    none = problems({**MINIMAL, "needles": {"thresholds": []}})
    assert "needles/thresholds: expected at least 1 of them, got ()" in none


def test_a_study_reads_all_that_shipped_studies_say_and_writes_it_back(root):
    for path in sorted((root / "config").glob("*.yaml")):
        if path.stem not in ("minea", "webnlg-systems"):  # articles that are not public; a training under systems
            study = Study.read(path)
            again = Study(study.config)
            assert (again.config, again.runs, again.tables) == (study.config, study.runs, study.tables), path


def test_later_files_win_key_by_key_and_repeated_keys_are_named_with_their_lines(tmp_path):
    (tmp_path / "a.yaml").write_text("study: s\ntraining: {epochs: 3, batch_size: 4}\nseeds: [1, 2]\n")
    (tmp_path / "b.yaml").write_text("training: {epochs: 5}\nseeds: [9]\n")
    study = Study.read(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert (study.config["training"], study.seeds) == ({"epochs": 5, "batch_size": 4}, [9])
    (tmp_path / "c.yaml").write_text("study: s\ntraining:\n  epochs: 1\n  seeds: 2\n  epochs: 3\nstudy: t\n")
    with pytest.raises(UserError) as error:
        Study.read(tmp_path / "c.yaml")
    assert f"training/epochs: the key stands twice in {tmp_path / 'c.yaml'}, in lines 3 and 5" in str(error.value)
    assert f"study: the key stands twice in {tmp_path / 'c.yaml'}, in lines 1 and 6" in str(error.value)
    assert "training: unknown key 'seeds'" in str(error.value)  # all at once


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"study: s\nseeds: [1\nfoo: 2\n", "line 3, column 4: not valid YAML"),
        ("study: s\n".encode("utf-16"), "line 1: not text in UTF-8; expected a YAML file, saved as UTF-8"),
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


def test_the_readme_explains_every_key(root):
    text = (root / "config" / "README.md").read_text(encoding="utf-8")
    made = "<!-- made by `tripleaudit config-reference`; a test compares the two -->\n\n"
    written = text.partition(made)[2].rstrip()
    assert written == "\n".join(reference()).rstrip(), "run: tripleaudit config-reference, and paste it in place"
    assert not [row for row in reference() if row.rstrip().endswith("|  |")]  # without a description
