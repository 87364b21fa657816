"""Listed prices: whose they are, what wins over them, and when they are old."""

import datetime
import logging

import pytest

from tripleaudit.llm.client import Client, Endpoint
from tripleaudit.llm.prices import OLD, Prices, Usage, _table, listed, warning
from tripleaudit.plan.language_models import Server

KNOWN = {"base_url": "https://api.openai.com/v1", "model": "gpt-4o-mini", "api_key_env": "K"}


def test_a_known_model_at_its_service_has_a_price():
    prices = Endpoint.from_config("e", KNOWN).prices
    assert prices and prices == listed(KNOWN["base_url"], "gpt-4o-mini-2024-07-18") and prices.as_of
    dated, plain = (listed(KNOWN["base_url"], name) for name in ("gpt-4o-2024-05-13", "gpt-4o"))
    assert dated.input > plain.input  # a dated name that is listed has its own
    assert prices.of(Usage(1000, 0, cached_tokens=1000)) == pytest.approx(prices.cached_input / 1000)
    for base_url, model in ((KNOWN["base_url"], "own-model"), ("http://127.0.0.1:8000/v1", "gpt-4o"), (None, "gpt-4o")):
        assert not listed(base_url, model)


@pytest.mark.parametrize("own", [{"input": 0, "output": 0}, {"input": 7}])
def test_the_studys_prices_win(own):
    config = Server.model_validate({**KNOWN, "prices": own}).full()
    assert Endpoint.from_config("e", config).prices == Prices(own["input"])
    assert Endpoint.from_config("e", Server.model_validate(KNOWN).full()).prices == listed(
        KNOWN["base_url"], "gpt-4o-mini"
    )


def test_an_old_table_is_told(tmp_path, caplog, monkeypatch):
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
