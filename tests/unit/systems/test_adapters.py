"""The adapters that ship, each asked as a study asks it, with tiny models of the packages' own
classes.
"""

import importlib.util
from pathlib import Path

import pytest
import yaml

from support.webnlg import sentence
from tripleaudit.cli import main
from tripleaudit.core.files import read_json
from tripleaudit.core.modules import load_attribute
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.systems.test_set import SystemFiles, predict_system

pytestmark = pytest.mark.thorough

ADAPTERS = Path(__file__).resolve().parents[3] / "resources" / "adapters"
TEXTS = ["tim cook leads apple .", "ada lovelace wrote notes", "it rains today"]
QUIET = {"timeout": 120.0, "restarts": 0}


@pytest.fixture
def query(tmp_path, monkeypatch):
    """Query a system about the texts as a study's job does; returns the answers."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    train = sentence("tim leads apple", ("tim", "leads", "apple"), ("ada", "wrote", "notes"))
    save_sentences(tmp_path / "train.jsonl", [train])
    save_sentences(
        tmp_path / "test.jsonl", [Sentence(str(n), text) for n, text in enumerate(TEXTS)]
    )

    def query(kind: str, value: object, **settings) -> list[Sentence]:
        out, report = tmp_path / "out.jsonl", tmp_path / "report.json"
        given = {**QUIET, kind: value, **settings}
        job = {"threads": 1, "relations": {"leads": "is at the head of"}}
        files = SystemFiles(tmp_path / "test.jsonl", out, report, train=tmp_path / "train.jsonl")
        predict_system("mine", given, files, job)
        assert read_json(report)["failed"] is None
        return load_sentences(out)

    return query


def strings(sentences):
    return [[triple.strings for triple in sentence.triples] for sentence in sentences]


# a sequence-to-sequence model


def test_a_linearisation_is_read_as_rebel_writes_it():
    triples_of = load_attribute(f"{ADAPTERS / 'seq2seq_system.py'}:triples_of", "function")
    two = "<triplet> Punta Cana <subj> Higuey <obj> located in <subj> La Altagracia <obj> part of"
    assert triples_of(f"{two} <triplet> Higuey <subj> Rome <obj> twin of ") == [
        ("Punta Cana", "located in", "Higuey"),
        ("Punta Cana", "part of", "La Altagracia"),
        ("Higuey", "twin of", "Rome"),
    ]
    assert triples_of("<triplet> a <subj> b <obj> r <triplet> a <subj> b <obj> r") == [
        ("a", "r", "b")
    ]
    for broken in (
        "",
        "words",
        "<triplet> a <subj> b",
        "<triplet> a <subj> b <obj>",
        "<obj> r <subj> b",
        "<subj> b <obj> r",
    ):
        assert triples_of(broken) == [], broken


def test_a_tiny_sequence_to_sequence_model(query, tmp_path):
    """A random BART memorises three linearisations; the adapter has it write them and reads
    them.
    """
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    targets = [
        "<triplet> tim cook <subj> apple <obj> leads",
        "<triplet> ada lovelace <subj> notes <obj> wrote",
        "<triplet>",
    ]
    words = dict.fromkeys(" ".join([*TEXTS, *targets]).split())
    marks = ["<triplet>", "<subj>", "<obj>"]
    vocabulary = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        *marks,
        *(word for word in words if word not in marks),
    ]
    raw = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(vocabulary)}, unk_token="<unk>")
    )
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        extra_special_tokens=marks,
    )  # fmt: skip
    torch.manual_seed(0)
    size = {f"{part}_{name}": value for part in ("encoder", "decoder")
            for name, value in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 64))}  # fmt: skip
    config = BartConfig(
        vocab_size=len(vocabulary), d_model=32, max_position_embeddings=64, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None, dropout=0.0, **size,
    )  # fmt: skip
    model = BartForConditionalGeneration(config)
    asked = tokenizer(TEXTS, padding=True, return_tensors="pt")
    wanted = tokenizer([f"{target} </s>" for target in targets], padding=True, return_tensors="pt")[
        "input_ids"
    ]
    labels = wanted.masked_fill(wanted == 1, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(60):
        loss = model(
            input_ids=asked["input_ids"], attention_mask=asked["attention_mask"], labels=labels
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    options = {
        "model": str(tmp_path / "model"),
        "max_new_tokens": 12,
        "names": {"wrote": "author of"},
    }
    found = query(
        "python", f"{ADAPTERS / 'seq2seq_system.py'}:Seq2Seq", options=options, batch_size=2
    )
    assert strings(found) == [
        [("tim cook", "leads", "apple")],
        [("ada lovelace", "author of", "notes")],
        [],
    ]
    assert all(triple.located for sentence in found for triple in sentence.triples)


# GLiNER2


def test_a_tiny_gliner2(query, tmp_path):
    """A random model of the package's class answers with the relations' own names and spans of the
    text.

    One relation is given with its description, under which the package gives it back.
    """
    pytest.importorskip("gliner2")
    import torch
    from gliner2.configuration import ExtractorConfig
    from gliner2.inference.engine import SpanExtractor

    from tripleaudit.testing import save_tiny_encoder

    torch.manual_seed(0)
    encoder = save_tiny_encoder(tmp_path / "encoder", layers=1)
    SpanExtractor(ExtractorConfig(model_name=str(encoder))).save_pretrained(str(tmp_path / "model"))
    system = f"{ADAPTERS / 'gliner2_system.py'}:Gliner2"
    options = {"model": str(tmp_path / "model"), "threshold": 0.0}
    found = query("python", system, options=options, batch_size=2, relations=True)
    triples = [triple for sentence in found for triple in sentence.triples]
    assert {triple.relation for triple in triples} == {"leads", "wrote"}
    assert all(triple.located and 0 < triple.score <= 1 for triple in triples)
    assert all(len(set(sentence.triples)) == len(sentence.triples) for sentence in found)
    assert (
        strings(
            query(
                "python",
                system,
                options={**options, "threshold": 1.0},
                batch_size=2,
                relations=True,
            )
        )
        == [[]] * 3
    )


# spaCy

RULES = """
from spacy.language import Language
from spacy.tokens import Doc

Doc.set_extension("rel", default={}, force=True)

@Language.component("rules")
def rules(doc):
    for head in doc.ents:
        for tail in doc.ents:
            if head.end < tail.start:
                word = doc[head.end].text
                doc._.rel[head.start, tail.start] = {word: 0.9, "near": 0.1}
    return doc
"""


def test_a_pipeline_of_spacy_with_a_component_of_relations(query, tmp_path):
    spacy = pytest.importorskip("spacy")
    (tmp_path / "rules.py").write_text(RULES)
    spec = importlib.util.spec_from_file_location("rules_of_the_test", tmp_path / "rules.py")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": "E", "pattern": name} for name in ("tim cook", "apple", "ada lovelace", "notes")]
    )
    pipeline.add_pipe("rules")
    pipeline.to_disk(tmp_path / "pipeline")
    command = ["python", str(ADAPTERS / "spacy_system.py"), str(tmp_path / "pipeline")]
    found = query("command", [*command, "--code", str(tmp_path / "rules.py")])
    assert strings(found) == [
        [("tim cook", "leads", "apple")],
        [("ada lovelace", "wrote", "notes")],
        [],
    ]
    assert found[0].triples[0].subject.start == 0 and found[0].triples[0].score == 0.9
    everything = query(
        "command", [*command, "--code", str(tmp_path / "rules.py"), "--threshold", "0.1"]
    )
    assert ("tim cook", "near", "apple") in strings(everything)[0]


def test_a_parse_of_spacy_gives_subject_verb_object():
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc, Span

    triples = load_attribute(f"{ADAPTERS / 'spacy_system.py'}:triples", "function")
    if Doc.has_extension("rel"):
        Doc.remove_extension("rel")
    words = ["The", "young", "Tim", "Cook", "leads", "Apple", "in", "Cupertino"]
    heads = [3, 3, 3, 4, 4, 4, 4, 6]
    deps = ["det", "amod", "compound", "nsubj", "ROOT", "dobj", "prep", "pobj"]
    tags = ["DET", "ADJ", "PROPN", "PROPN", "VERB", "PROPN", "ADP", "PROPN"]
    lemmas = [*words[:4], "lead", *words[5:]]
    doc = Doc(spacy.blank("en").vocab, words=words, heads=heads, deps=deps, pos=tags, lemmas=lemmas)
    found = [
        (one["subject"]["text"], one["relation"], one["object"]["text"])
        for one in triples(doc, 0.5)
    ]
    assert found == [
        ("young Tim Cook", "lead", "Apple"),
        ("young Tim Cook", "lead in", "Cupertino"),
    ]
    doc.ents = [Span(doc, 2, 4, label="PERSON")]
    assert [one["subject"] for one in triples(doc, 0.5)][0] == {
        "start": 10,
        "end": 18,
        "text": "Tim Cook",
    }


def test_the_study_of_all_adapters_is_valid(monkeypatch, capsys):
    """It names SmolLM2 at an endpoint, too, which the demo asks in earnest."""
    monkeypatch.chdir(ADAPTERS.parents[1])
    assert main(["validate", str(ADAPTERS / "study.yaml")]) == 0
    study = yaml.safe_load((ADAPTERS / "study.yaml").read_text())
    used = {
        word.partition(":")[0]
        for each in study["systems"].values()
        for word in str(each).split("'")
    }
    used |= {word for text in used for word in text.split()}
    assert {f"resources/adapters/{path.name}" for path in ADAPTERS.glob("*.py")} <= used
    assert "this study can run" in capsys.readouterr().out
