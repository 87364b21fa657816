from types import SimpleNamespace

from tripleaudit.machine import clock


def test_the_time_of_each_part_is_added_to_what_was_there(monkeypatch):
    wall = iter((10.0, 12.5, 20.0, 21.0))
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: next(wall)))
    seconds = {"gate": 1.0}
    account = clock.Clock(seconds)
    for _ in range(2):
        with account.timed("gate"):
            pass
    account.add("start", 0.12345678)
    assert account.seconds is seconds == {"gate": 4.5, "start": 0.123457}
