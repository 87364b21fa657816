"""Prices: kept with an answer, and required by a budget."""

import pytest

from support.fake_endpoint import asking, endpoint, requests
from tripleaudit.core.errors import UserError
from tripleaudit.llm import section as settings
from tripleaudit.llm.client import Client
from tripleaudit.llm.prices import Prices

KNOWN = {"base_url": "https://api.openai.com/v1", "model": "gpt-4o-mini", "api_key_env": "K"}


def test_an_answer_keeps_what_it_cost_when_it_was_paid_for(tmp_path):
    with asking(tmp_path, prices=Prices(1000, 2000)) as (fake, client):
        (first,) = client.complete_all(requests(1))
        with Client(endpoint(fake, prices=Prices(7, 7)), tmp_path) as later:
            assert later.complete_all(requests(1))[0].cost == first.cost > 0 and fake.count == 1


def test_a_budget_is_never_kept_without_prices(tmp_path):
    section = {"endpoints": {"e": KNOWN}, "budget": 1, "cache": str(tmp_path)}
    with pytest.raises(UserError, match="a budget needs 'prices' for every endpoint with a key"):
        settings.Access(section, "s", "e").client()
    section["endpoints"]["e"] = {**KNOWN, "prices": {"input": 1}}
    with settings.Access(section, "s", "e").client() as client:
        assert client.endpoint.prices == Prices(1)
