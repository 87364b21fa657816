"""Lines of progress: written by a timer, with rate and time left, and no thread left behind;
seconds of parts.
"""

import logging
import threading
import time
from types import SimpleNamespace

import pytest

from tripleaudit.core import clock
from tripleaudit.core.progress import Progress, duration, watched


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr("tripleaudit.core.progress.INTERVAL", 0.05)


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="tripleaudit")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_slow_step_is_reported_too(lines, often):
    with Progress("training", 10, "steps") as progress:
        progress.add(2)
        time.sleep(0.3)  # one long step
    assert len(lines()) >= 3
    assert lines()[0].startswith("training: 2 of 10 steps, ")
    assert lines()[0].endswith(" left")
    assert " a second" in lines()[0]


def test_a_standstill_is_not_called_progress(lines, often):
    with Progress("training", 10, "steps"):
        time.sleep(0.12)
    assert lines()[0] == "training: 0 of 10 steps, none finished in 0:00"


def test_no_thread_stays_behind_and_quick_work_says_nothing(lines, often):
    before = set(threading.enumerate())
    with Progress("training", 10):
        assert len(threading.enumerate()) == len(before) + 1
    with pytest.raises(ValueError, match="bad"), Progress("training", 10):
        raise ValueError("bad")
    assert set(threading.enumerate()) == before
    assert lines() == []


def test_the_rate_forgets_a_quick_start(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = Progress("asking", 2000, "answers")
    progress.done = 1000  # stored answers
    clock[0] = 1.0
    assert "1000 a second" in progress.line()
    for _ in range(16):
        clock[0] += 20.0
        progress.add(10)
        last = progress.line()
    assert last == "asking: 1160 of 2000 answers, 30.0 a minute, about 28:00 left"


def test_what_a_resumed_run_had_done_does_not_count_for_the_rate(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = Progress("training", 1000, "steps")
    progress.start(500, 1000)
    clock[0] = 10.0
    progress.done = 600
    assert progress.line() == "training: 600 of 1000 steps, 10.0 a second, about 0:40 left"


def test_unknown_and_bounded_totals_and_notes(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = Progress("judging", None, "answers")
    progress.note = lambda: f"cost {progress.done / 100:.2f}"
    clock[0] = 7200.0
    progress.done = 1
    assert progress.line() == "judging: 1 answers, 0.5 an hour, cost 0.01"
    progress = Progress("extracting", 5, "answers", at_most=True)
    clock[0] += 10.0
    progress.done = 1
    assert progress.line() == "extracting: 1 of at most 5 answers, 6.0 a minute, at most 0:40 left"


def test_watched_items():
    assert list(watched([1, 2, 3], "reading", "files")) == [1, 2, 3]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("progress of")]


def test_durations():
    assert [duration(seconds) for seconds in (0, 5.4, 750, 11100, -3)] == [
        "0:00",
        "0:05",
        "12:30",
        "3:05:00",
        "0:00",
    ]


@pytest.mark.parametrize(
    ("steps", "seconds", "rate"),
    [
        (10, 10, "1.0 a second"),
        (9994, 100, "99.9 a second"),
        (1000, 10, "100 a second"),
        (5, 10, "30.0 a minute"),
        (1, 60, "1.0 a minute"),
    ],
)
def test_rates_have_three_digits_and_the_unit_that_makes_them_one_or_more(
    monkeypatch, steps, seconds, rate
):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = Progress("training", 20_000, "steps")
    clock[0] = seconds
    progress.done = steps
    assert f"steps, {rate}, about" in progress.line()


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
