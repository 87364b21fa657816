import json

import pytest

from support.filler import vectors
from support.webnlg import sentence
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.protocols.build import build_protocol
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.protocols.splits import Splits

NAMES = ("tim", "ada", "charles", "apple", "london", "england")


def rows(prefix, *pairs):
    facts = [(one, "founded", other) for one, other in pairs]
    return [
        sentence(f"{' '.join(fact)} .", fact, id_=f"{prefix}{number}")
        for number, fact in enumerate(facts)
    ]


SPLITS = Splits(
    rows("train", *((one, other) for one in NAMES for other in NAMES if one < other)),
    rows("valid", ("ada", "tim")),
    rows("test", ("ada", "apple"), ("tim", "london"), ("london", "river")),
)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rearranged", {"source": "published"}),
        ("augmented", {"source": "published"}),
        ("original", {}),
    ],
)
def test_published_sets_and_the_original_are_passed_on_with_their_audit(name, options):
    built, report = build_protocol(name, SPLITS, options)
    assert built == SPLITS
    assert report["options"] == options
    assert report["audit"]["sentences"] == len(SPLITS.test)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("shuffled", {}, "unknown protocol 'shuffled'"),
        ("sifted", {}, "option 'rule' is missing"),
        ("rearranged", {"percent": 5}, "unknown option 'percent', expected valid_size"),
        (
            "augmented",
            {"source": "published", "k": 3},
            "option 'k' has no meaning with source: published",
        ),
        ("original", {"seed": 1}, "unknown option 'seed', expected none"),
        ("augmented", {}, "expected a masked language model, or an encoder"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(name, options, message):
    with pytest.raises(UserError, match=message):
        build_protocol(name, SPLITS, options)


MADE = [
    ("rearranged", {"valid_size": 60, "test_size": 100}),
    ("sifted", {"rule": "sample", "percent": 30, "seed": 1}),
    ("sifted", {"rule": "frequency", "max_count": 2}),
    ("unseen_relations", {"relations": 3}),
]


@pytest.mark.parametrize(("name", "options"), MADE)
def test_a_protocol_loses_and_doubles_no_sentence_of_the_demo_corpus(root, name, options):
    demo = [
        load_sentences(root / "resources" / "demo" / f"{split}.jsonl")
        for split in ("train", "valid", "test")
    ]
    built, report = build_protocol(name, Splits(*demo), options)
    train, valid, test = ([sentence.id for sentence in sentences] for _, sentences in built)
    before = [[sentence.id for sentence in sentences] for sentences in demo]
    ids = [*train, *valid, *test]
    assert len(set(ids)) == len(ids) and set(ids) <= {*before[0], *before[1], *before[2]}
    if name == "rearranged":
        assert set(ids) == {*before[0], *before[1], *before[2]}
        assert (len(valid), len(test)) >= (60, 100)
    else:
        assert (valid, test) == (before[1], before[2]) or name == "unseen_relations"
        assert set(train) < set(before[0])
    assert report == build_protocol(name, Splits(*demo), options)[1]  # the same seed, the same sets


@pytest.fixture
def files(tmp_path):
    for name, sentences in SPLITS:
        save_sentences(tmp_path / f"{name}.jsonl", sentences)
    return [str(tmp_path / f"{name}.jsonl") for name, _ in SPLITS]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--protocol", "rearranged", "--percent", "5"],
            "--percent belongs to protocol sifted, not rearranged",
        ),
        (["--protocol", "rearranged", "--test-size", "99"], "too few"),
    ],
)
def test_split_refuses_in_one_line(files, tmp_path, capsys, arguments, message):
    assert main(["split", *files, *arguments, "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_encoder_alone_is_enough_to_augment(files, tmp_path, tiny_encoder):
    options = ["--encoder", str(tiny_encoder), "--mlm-steps", "2", "--k", "3", "--beams", "2"]
    for out in ("one", "two"):
        assert (
            main(
                ["split", *files, "--protocol", "augmented", *options, "--out", str(tmp_path / out)]
            )
            == 0
        )
    assert (tmp_path / "one" / "test.jsonl").read_bytes() == (
        tmp_path / "two" / "test.jsonl"
    ).read_bytes()
    test = load_sentences(tmp_path / "one" / "test.jsonl")
    assert len(test) == 12
    assert any(new.text != old.text for new, old in zip(test, SPLITS.test * 4, strict=True))
    assert load_sentences(tmp_path / "one" / "train.jsonl") == SPLITS.train


def test_split_refuses_a_share_over_all_in_one_line(files, tmp_path, capsys):
    arguments = [
        "--protocol",
        "sifted",
        "--rule",
        "sample",
        "--percent",
        "101",
        "--out",
        str(tmp_path / "out"),
    ]
    with pytest.raises(SystemExit, match="2"):
        main(["split", *files, *arguments])
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--percent: expected a number of at least 0 and at most 100, got '101'" in error


@pytest.fixture
def named(files):
    """The files as the options of a rule have them."""
    return ["--train", files[0], "--valid", files[1], "--test", files[2]]


def test_the_workflow_command_takes_a_studys_options(named, tmp_path, tiny_encoder):
    lm, words, report = tmp_path / "lm", tmp_path / "words.txt", tmp_path / "report.json"
    assert (
        main(
            [
                "train-mlm",
                "--encoder",
                str(tiny_encoder),
                *named[:2],
                "--out",
                str(lm),
                "--steps",
                "2",
            ]
        )
        == 0
    )
    assert json.loads((lm / "training.json").read_text())["steps"] == 2
    vectors(ada=(1, 0), tim=(0, 1), apple=(1, 1)).save_word2vec_format(words)
    options = {
        "masked_lm": "hub:some/model",
        "vectors": None,
        "mlm_steps": 9,
        "options": {"k": 2},
        "seed": 4,
    }
    arguments = [
        "--protocol",
        "augmented",
        "--options",
        json.dumps(options),
        "--masked-lm",
        str(lm),
    ]
    arguments += [
        "--vectors",
        str(words),
        "--out-test",
        str(tmp_path / "augmented.jsonl"),
        "--report",
        str(report),
    ]
    assert main(["build-protocol", *arguments, *named]) == 0
    assert len(load_sentences(tmp_path / "augmented.jsonl")) == 12
    found = json.loads(report.read_text())
    assert found["options"] == {"k": 2, "mlm_steps": 9, "seed": 4}
    assert set(found["details"]["parts"]) == {"ss", "su", "us", "uu"}


@pytest.mark.parametrize(
    ("options", "message"), [("[1", "not valid JSON"), ("[1]", "expected a JSON object")]
)
def test_the_workflow_command_refuses_options_that_are_no_object(named, capsys, options, message):
    arguments = ["--protocol", "rearranged", "--report", "report.json", "--options", options]
    assert main(["build-protocol", *arguments, *named]) == 1
    assert f"--options: {message}" in capsys.readouterr().err


def test_every_option_is_one_of_the_split_command(capsys):
    with pytest.raises(SystemExit):
        main(["split", "--help"])
    shown = capsys.readouterr().out
    hidden = {"batch_size", "mlm_layers"}
    for protocol in PROTOCOLS.values():
        assert all(
            f"--{name.replace('_', '-')}" in shown for name in set(protocol.options) - hidden
        )


def test_protocols_stand_in_the_order_of_the_papers():
    orders = [spec.order for spec in PROTOCOLS.values()]
    assert orders == sorted(set(orders))  # no two in one place
    assert [name for name, spec in PROTOCOLS.items() if spec.published] == [
        "rearranged",
        "augmented",
    ]
    assert [name for name, spec in PROTOCOLS.items() if spec.gives_schema] == ["unseen_relations"]
    assert [name for name, spec in PROTOCOLS.items() if not spec.train] == ["augmented"]


def test_a_rule_that_is_given_takes_nothing_from_the_name():
    with pytest.raises(UserError, match="rule 'frequency' needs max_count"):
        build_protocol("sift-1", SPLITS, {"rule": "frequency"})
    assert build_protocol("sift-1", SPLITS, {"max_count": 1})[1]["options"] == {
        "rule": "frequency",
        "max_count": 1,
    }


@pytest.mark.parametrize(("options", "seed"), [({}, 0), ({"seed": 3}, 3)])
def test_the_masked_language_model_has_the_seed_of_the_protocol(
    tiny_encoder, monkeypatch, options, seed
):
    class Asked(Exception):
        pass

    def train(encoder, sentences, out, *, steps, layers, seed):
        raise Asked(seed, steps, layers)

    monkeypatch.setattr("tripleaudit.protocols.build.train_masked_lm", train)
    with pytest.raises(Asked) as caught:
        build_protocol(
            "augmented", SPLITS, {"mlm_steps": 9, "mlm_layers": 1, **options}, encoder=tiny_encoder
        )
    assert caught.value.args == (seed, 9, 1)
