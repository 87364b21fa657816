"""The recipes of ``docs/howto/language-models.md``: each loads and sends what its service documents.

Servers that can run here are run.
"""

from urllib.parse import urlsplit

import pytest
import yaml

from support.docs import every_block
from support.fake_endpoint import FakeEndpoint, Rules
from support.workflow import ROOT
from tripleaudit.llm.client import Client, Endpoint, Request
from tripleaudit.llm.llama import LocalServer
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.reading import parse_triples

PAGE = next(
    b.text
    for b in every_block(ROOT / "docs" / "howto" / "language-models.md")
    if b.text.startswith("endpoints:")
)
RECIPES = yaml.safe_load(PAGE)["endpoints"]
HOSTED = sorted(
    name for name, recipe in RECIPES.items() if recipe.get("base_url", "").startswith("https")
)


def at(name: str, address: str, **values) -> Endpoint:
    """The endpoint of a recipe, at another host."""
    path = urlsplit(RECIPES[name]["base_url"]).path
    return Endpoint.from_config(name, {**RECIPES[name], "base_url": address + path, **values})


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_an_endpoint(name):
    found = Endpoint.from_config(name, RECIPES[name])
    assert found.model and (found.serve or found.base_url)


@pytest.mark.parametrize("name", HOSTED)
def test_a_recipe_queries_as_its_service_documents(name, tmp_path, monkeypatch):
    """The path, the key where the service looks for it and nowhere else, the query; a schema
    only where it counts.
    """
    secret, recipe = "s3cret-value", RECIPES[name]
    headers = recipe.get("headers", {}).values()
    for variable in [
        recipe.get("api_key_env", "NO_KEY"),
        *(value[4:] for value in headers if value[:4] == "env:"),
    ]:
        monkeypatch.setenv(variable, secret)
    request = load_prompt("open").request(text="Ada wrote it.")
    rules = Rules(reasoning=100) if "reasoning" in name else Rules(strict=True)
    with FakeEndpoint(
        "[]", rules=rules if recipe.get("reasoning_effort") != "none" else None
    ) as fake:
        with Client(at(name, fake.url.removesuffix("/v1")), tmp_path) as client:
            assert client.complete_all([request])[0].status == "ok"
        sent, headers = (
            fake.requests[-1],
            {key.lower(): value for key, value in fake.headers[-1].items()},
        )
    where = urlsplit(sent["_path"])
    assert where.path == urlsplit(recipe["base_url"]).path + "/chat/completions"
    assert where.query == "&".join(
        f"{key}={value}" for key, value in recipe.get("query", {}).items()
    )
    assert headers.get("authorization") == (f"Bearer {secret}" if "api_key_env" in recipe else None)
    for key, value in recipe.get("headers", {}).items():
        assert headers[key] == (secret if value.startswith("env:") else value)
    assert ("response_format" in sent) == (recipe.get("structured") != "off")
    assert sent.get("reasoning_effort") == recipe.get("reasoning_effort")


@pytest.mark.slow
@pytest.mark.thorough
def test_the_recipe_of_llama_cpp_with_its_own_server(smollm2, tmp_path):
    """Schemas are obeyed, and a prompt that is too long is one sentence."""
    server = LocalServer(smollm2, context=512)
    endpoint = at(
        "llama-cpp", server.start().removesuffix("/v1"), max_tokens=48, timeout=300, context=512
    )
    request = load_prompt("open").request(text="Ada Moss founded Acme in Lyon.")
    with Client(endpoint, tmp_path) as client:
        answer, plain = client.complete_all(
            [request, Request([{"role": "user", "content": "Name a city."}])]
        )
        assert client.capabilities.structured and client.bill()["models"]
        long, _ = client.complete_all(
            [Request([{"role": "user", "content": "word " * 3000}]), request]
        )
    server.stop()
    assert answer.text.lstrip().startswith("{") and parse_triples(answer).status in (
        "ok",
        "truncated",
        "empty",
    )
    assert answer.usage.prompt_tokens > 50 and 0 < answer.usage.completion_tokens <= 48
    assert plain.text and plain.served["model"]
    assert long.status == "error" and "context" in long.error
