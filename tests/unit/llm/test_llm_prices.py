"""Listed prices: whose they are, what wins over them, and when they are old."""

import datetime
import json
import logging

import pytest

from support.fake_endpoint import asking, endpoint, requests
from tripleaudit.errors import UserError
from tripleaudit.llm import section as settings
from tripleaudit.llm.client import Client, Endpoint
from tripleaudit.llm.listed import _table, listed, with_prices
from tripleaudit.llm.prices import OLD, Prices, Usage, warning
from tripleaudit.plan.language_models import Generative, LanguageModels

KNOWN = {"base_url": "https://api.openai.com/v1", "model": "gpt-4o-mini", "api_key_env": "K"}


def planned(**server) -> Prices:
    """The prices that a job is given of an endpoint of a study."""
    section = LanguageModels(None, Generative.model_validate({"endpoints": {"e": {**KNOWN, **server}}})).section
    return settings.endpoint(settings.read_section(json.dumps(section))[0], "e").prices


def test_a_known_model_at_its_service_has_a_price():
    prices = planned()
    assert prices and prices == listed(KNOWN["base_url"], "gpt-4o-mini-2024-07-18")
    assert prices.as_of == listed(KNOWN["base_url"], KNOWN["model"]).as_of == str(_table()["date"])
    dated, plain = (listed(KNOWN["base_url"], name) for name in ("gpt-4o-2024-05-13", "gpt-4o"))
    assert dated.input > plain.input  # a dated name that is listed has its own
    assert prices.of(Usage(1000, 0, cached_tokens=1000)) == pytest.approx(prices.cached_input / 1000)
    for base_url, model in ((KNOWN["base_url"], "own-model"), ("http://127.0.0.1:8000/v1", "gpt-4o"), (None, "gpt-4o")):
        assert not listed(base_url, model)


@pytest.mark.parametrize("own", [{"input": 0, "output": 0}, {"input": 7}])
def test_the_studys_prices_win(own):
    assert planned(prices=own) == Prices(own["input"]) and planned(prices=None)


def test_an_answer_keeps_what_it_cost_when_it_was_paid_for(tmp_path):
    with asking(tmp_path, prices=Prices(1000, 2000)) as (fake, client):
        (first,) = client.complete_all(requests(1))
        with Client(endpoint(fake, prices=Prices(7, 7)), tmp_path) as later:
            assert later.complete_all(requests(1))[0].cost == first.cost > 0 and fake.count == 1


def test_a_budget_is_never_kept_without_prices(tmp_path):
    section = {"endpoints": {"e": KNOWN}, "budget": 1, "cache": str(tmp_path)}
    with pytest.raises(UserError, match="a budget needs 'prices' for every endpoint with a key"):
        settings.Access(section, "s", "e").client()
    with settings.Access(with_prices(section), "s", "e").client() as client:
        assert client.ledger.limit == 1


def test_an_old_table_is_named(tmp_path, caplog, monkeypatch):
    date = _table()["date"]
    prices = listed(KNOWN["base_url"], KNOWN["model"])
    assert warning(prices, date + OLD) is None and warning(Prices(1), date + 9 * OLD) is None
    assert warning(prices, date + OLD + datetime.timedelta(days=1)) == (
        f"its prices are listed as of {date}, {OLD.days + 1} days ago; set 'prices'"
    )
    old = Endpoint("https://h/v1", "m", prices=Prices(1, as_of="2020-01-01"))
    with caplog.at_level(logging.WARNING), Client(old, tmp_path):
        assert "listed as of 2020-01-01" in caplog.text


def test_every_listed_price_can_be_used():
    for host, service in _table()["services"].items():
        for model in service["models"]:
            prices = listed(f"https://{host}/v1", model)
            assert 0 < (prices.cached_input or prices.input) <= prices.input < prices.output and 0 < prices.batch <= 1
