"""Types of extracted entities: learnt behind a training, saved with the model, and without effect on the triples."""

from dataclasses import replace

import pytest
import torch

from support.extractors import build, toy_sentences
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.span_types import learn_types, typed


def kind(text: str) -> str:
    """A type that the states of a word can tell: by its string."""
    return "long" if len(text) > 5 else "short"


def with_types(sentences: list[Sentence]) -> list[Sentence]:
    def with_type(span: Span) -> Span:
        return replace(span, type=kind(span.text))

    return [
        replace(s, triples=tuple(Triple(with_type(t.subject), t.relation, with_type(t.object)) for t in s.triples))
        for s in sentences
    ]


@pytest.fixture(scope="module")
def sentences():
    found = with_types(toy_sentences())
    assert {span.type for s in found for t in s.triples for span in (t.subject, t.object)} == {"long", "short"}
    return found


def model_of(encoder) -> Extractor:
    return build(CasRel, encoder)


def types_of(sentences) -> list[str | None]:
    return [span.type for sentence in sentences for t in sentence.triples for span in (t.subject, t.object)]


def test_types_are_learnt_and_change_no_weight(tiny_encoder, sentences):
    model = model_of(tiny_encoder)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    drawn = torch.get_rng_state()
    facts = learn_types(model, sentences, batch_size=4, seed=1)
    assert torch.equal(drawn, torch.get_rng_state())
    assert facts["accuracy"] == 1.0 and facts["types"] == 2 and facts["entities"] > 4
    after = model.state_dict()
    assert set(after) - set(before) == {"types.weight", "types.bias"}
    assert all(torch.equal(after[name], value) for name, value in before.items())
    bare = [
        Sentence(s.id, s.text, tuple(Triple(t.subject, t.relation, t.object) for t in s.triples)) for s in sentences
    ]
    assert types_of(typed(model, bare, 4)) == types_of(sentences)
    assert typed(model, bare, 1) == bare  # spans and relations are what they were


def test_types_are_saved_with_the_model(tiny_encoder, sentences, tmp_path):
    model = model_of(tiny_encoder)
    learn_types(model, sentences, batch_size=4, seed=1)
    model.save_pretrained(tmp_path)
    again = Extractor.from_pretrained(tmp_path)
    assert again.config.entity_types == ["long", "short"]
    assert torch.equal(again.types.weight, model.types.weight)
    assert types_of(typed(again, sentences, 4)) == types_of(sentences)


def test_a_corpus_without_types_leaves_the_model_as_it_is(tiny_encoder):
    model = model_of(tiny_encoder)
    assert learn_types(model, toy_sentences(), batch_size=4, seed=1) == {}
    assert model.types is None and model.config.entity_types is None
    assert not any(name.startswith("types.") for name in model.state_dict())


def test_what_is_extracted_has_types(tiny_encoder, sentences):
    model = model_of(tiny_encoder)
    texts = [sentence.text for sentence in sentences]
    plain = [replace(s, triples=sentences[0].triples) if s.text == texts[0] else s for s in model.extract(texts)]
    learn_types(model, sentences, batch_size=4, seed=1)
    found = model.extract(texts)
    assert found == [replace(s, triples=f.triples) for s, f in zip(plain, found, strict=True)]
    assert None not in types_of(typed(model, plain, 4))
