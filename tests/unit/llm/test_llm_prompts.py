"""Prompt files: shipped ones, a user's own, and what is wrong with the others."""

import hashlib

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.llm.capabilities import strict_problem
from tripleaudit.llm.endpoint import Sampling
from tripleaudit.llm.prompts import FOLDER, REMINDER, load_prompt
from tripleaudit.llm.reading import parse_label, parse_triples
from tripleaudit.needles.schema import load_schema, shipped_schemas

# needles are generated again in another way
ASKED_ONCE = {"minea-needles", "minea-properties", "minea-discover"}


@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("open", {"text"}),
        ("open-document", {"text"}),
        ("semi-open", {"text", "relations", "entity_types"}),
        ("closed", {"text", "relations", "subject", "object"}),
    ],
)
def test_shipped_extraction_prompts_hold_one_example_that_the_parser_reads(name, slots):
    prompt = load_prompt(name)
    assert prompt.slots == slots
    assert prompt.sha256 == hashlib.sha256((FOLDER / f"{name}.yaml").read_bytes()).hexdigest()
    roles = [message["role"] for message in prompt.messages]
    assert roles == ["system", "user", "assistant", "user"]
    example = prompt.messages[2]["content"]
    if name == "closed":
        assert parse_label(example, ["founded by", "located in", "spouse"]) == ("located in", "ok")
    else:
        parsed = parse_triples(example)
        assert parsed.status == "ok"
        shown = prompt.messages[1]["content"]
        for triple in parsed.records:  # the example keeps the rule that it illustrates
            assert triple.subject.removeprefix("the ") in shown
        assert prompt.schema["required"] == ["triples"]


def shipped_prompts():
    return [load_prompt(path.stem) for path in sorted(FOLDER.glob("*.yaml"))]


@pytest.mark.parametrize("prompt", shipped_prompts(), ids=lambda prompt: prompt.name)
def test_every_prompt_for_json_carries_its_schema_and_every_prompt_its_reminder(prompt):
    wants_json = "json" in " ".join(message["content"] for message in prompt.messages).lower()
    assert (prompt.schema is not None) == wants_json
    assert prompt.reminder != REMINDER or prompt.name in ASKED_ONCE
    if prompt.schema is not None:
        assert strict_problem(prompt.schema) is None
        assert ("json" in prompt.reminder.lower()) or prompt.name in ASKED_ONCE


@pytest.mark.parametrize("name", sorted(shipped_schemas()))
def test_the_answer_of_minea_has_a_strict_schema(name):
    frame = load_prompt("minea-extract").schema
    assert strict_problem(load_schema(name).answer_schema(frame)) is None


def test_inserted_text_is_not_a_template():
    messages = load_prompt("open").render(text="a {{relations}} \\1 {b} {{text}}", unused="x")
    assert messages[-1]["content"] == "Passage: a {{relations}} \\1 {b} {{text}}"


def test_a_missing_value_is_named():
    with pytest.raises(UserError, match="nothing to fill in for {{entity_types}}"):
        load_prompt("semi-open").render(text="x", relations="y")


def test_a_users_own_file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("messages:\n  - {role: user, content: 'Text: {{ text }}'}\n")
    prompt = load_prompt(path)
    assert (prompt.name, prompt.schema, prompt.reminder) == ("mine", None, REMINDER)
    path.write_text(f"{path.read_text()}reminder: 'Once more: {{{{ problem }}}}'\n")
    assert load_prompt(path).render_reminder(problem="none found") == "Once more: none found"
    request = prompt.request(text="x", sampling=Sampling(max_tokens=3), sample=2)
    assert request.messages == ({"role": "user", "content": "Text: x"},)
    assert (request.sampling.max_tokens, request.sample) == (3, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such prompt file"),
        ("messages: [", "not valid YAML"),
        ("text: x", "the key 'messages' is missing; .*unknown key 'text'"),
        ("messages: []", "messages: expected at least 1 of them"),
        (
            "messages: [{role: robot, content: x}]",
            "messages/0/role: expected one of .*, got 'robot'",
        ),
        ("messages: [{role: user, content: x}]\nscheme: {}", "unknown key 'scheme'"),
        ("messages: [{role: user, content: x}]\nschema: 3", "schema: expected a mapping, got 3"),
    ],
)
def test_unusable_files(tmp_path, content, message):
    path = tmp_path / "bad.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=message):
        load_prompt(path)
