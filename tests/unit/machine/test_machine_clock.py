from types import SimpleNamespace

from tripleaudit.machine import clock


def test_the_time_of_each_part_is_added_to_what_was_there(monkeypatch):
    wall, processor = iter((10.0, 12.5, 20.0, 21.0)), iter((1.0, 1.25, 3.0, 3.5))
    times = SimpleNamespace(perf_counter=lambda: next(wall), process_time=lambda: next(processor))
    monkeypatch.setattr(clock, "time", times)
    seconds = {"gate": 1.0}
    account = clock.Clock(seconds)
    for _ in range(2):
        with account.timed("gate"):
            pass
    account.add("start", 0.12345678, 0.5)
    assert account.seconds is seconds == {"gate": 4.5, "start": 0.123457}
    assert account.cpu_seconds == {"gate": 0.75, "start": 0.5}
