"""How long a server is waited for, and how many requests it gets at once: by a clock that the test moves."""

import heapq
from types import SimpleNamespace

import pytest

from metareview.judges.remote import first_answer_timeout as timeout_module
from metareview.judges.remote.first_answer_timeout import FirstAnswerTimeout
from metareview.judges.remote.limit import Limit


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(timeout_module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.mark.parametrize(("timeout", "first"), [(60, 600), (30, 300), (300, 600), (900, 900), (0.5, 5)])
def test_the_first_answer_may_take_ten_times_as_long_but_no_more_than_ten_minutes(clock, timeout, first):
    patience = FirstAnswerTimeout(timeout, 16)
    deadline = patience.sent()
    assert deadline() == clock.now + first
    assert (patience.first, patience.longest) == (first, first + 16 * timeout)


def test_a_second_request_has_no_further_ten_minutes(clock):
    patience = FirstAnswerTimeout(60, 16)
    patience.sent()
    clock.now += 590
    assert patience.sent()() == 1590 + 60


def test_what_was_under_way_at_the_first_answer_waits_while_the_queue_moves_up(clock):
    patience = FirstAnswerTimeout(60, 4)
    deadline = patience.sent()
    clock.now = 1300
    patience.answered()
    assert deadline() == 1360
    clock.now = 1340
    patience.answered()
    assert deadline() == 1400
    assert patience.longest == 60
    later = patience.sent()
    clock.now = 1390
    patience.answered()
    assert deadline() == 1450
    assert later() == 1400  # sent after the first answer: its own 60 s
    clock.now = 1530
    patience.answered()
    assert deadline() == 1300 + 4 * 60  # at the latest


def test_loading_is_waited_for_once_each_time(clock):
    patience = FirstAnswerTimeout(60, 16)
    assert patience.loading()
    clock.now += 599
    assert patience.loading()
    clock.now += 2
    assert not patience.loading()
    patience.answered()
    assert patience.loading()


def test_the_news_is_told_once_after_a_fortieth_of_the_wait(clock):
    patience = FirstAnswerTimeout(60, 16)
    patience.restart()
    assert patience.news() is None  # nothing was sent
    patience.sent()
    clock.now += 14.9
    assert patience.news() is None
    clock.now += 0.2
    assert "first answer" in patience.news()
    assert patience.news() is None


def told(clock, patience, seconds, **how):
    """What is told in so many seconds, with when that was."""
    start = clock.now
    lines = []
    for tick in range(1, 10 * seconds + 1):
        clock.now = start + tick / 10
        if news := patience.news(**how):
            lines.append((round(clock.now - start), news))
    return lines


def test_a_silent_server_is_told_of_again_and_again(clock):
    patience = FirstAnswerTimeout(60, 16)
    patience.restart()
    for _ in range(16):
        patience.sent()
    first, *others = told(clock, patience, 200)
    assert first == (15, "waiting for the model server's first answer; it may be loading the model")
    assert others == [(s, f"still waiting for the model: {s} s, 16 requests open") for s in (40, 60, 120, 180)]
    patience.over(heard=True)
    patience.answered()
    assert told(clock, patience, 19) == []
    patience.over(heard=False)  # one that ran out of time breaks no silence
    assert told(clock, patience, 30) == [
        (1, "still waiting for the model: 20 s, 14 requests open"),
        (21, "still waiting for the model: 40 s, 14 requests open"),
    ]
    patience.over(heard=True)
    patience.restart()  # another batch, whatever was done in between
    assert told(clock, patience, 19) == []


def test_why_nothing_is_sent_is_told_too(clock):
    patience = FirstAnswerTimeout(60, 16)
    patience.restart()
    patience.sent()
    patience.over(heard=True)
    patience.answered()
    [(_, line)] = told(clock, patience, 25, resumes_in=90.2)
    assert line == "the model server wants to be left alone for another 90 s"
    [(_, line)] = told(clock, patience, 20)
    assert line.startswith("still waiting for the model: 40 s, 0 requests open: the next attempt is due later, or")


def through_a_queue(limit, jobs, service, timeout, slots=1, load=0.0):
    """A server with so many slots and a queue, without threads: (requests sent, those that timed out, the times).

    A request that runs out of time leaves the queue and is sent again; those sent before the first answer do not.
    """
    events, queue, free = [], [], slots  # events: (when, number, kind, request)
    waiting, now, number, first = list(range(jobs)), 0.0, 0, None
    under_way, sent, timed_out, served = {}, 0, 0, []

    def push(when, kind, request):
        nonlocal number
        number += 1
        heapq.heappush(events, (when, number, kind, request))

    def start():
        nonlocal free
        while free and queue:
            free -= 1
            request = queue.pop(0)
            under_way[request]["served"] = True
            push(max(now, load) + service, "answer", request)

    while waiting or under_way:
        while waiting and len(under_way) < limit.at_once:
            waiting.pop(0)
            sent += 1
            under_way[sent] = {"at": now, "of": len(under_way) + 1}
            queue.append(sent)
            if first is not None:
                push(now + timeout, "late", sent)
        start()
        now, _, kind, request = heapq.heappop(events)
        known = under_way.pop(request, None)
        if kind == "answer":
            free += 1
            if known:
                first = now if first is None else first
                served.append(now)
                limit.served(known["at"], known["of"], now)
        elif known:
            timed_out += 1
            if request in queue:
                queue.remove(request)
            waiting.append(request)
            limit.timed_out(known["at"], known["of"], now)
    return sent, timed_out, served


def test_a_server_that_answers_one_at_a_time_is_not_asked_in_vain():
    """16 at once would be 320 s each, where a request has 60 s. Three at once are already too many."""
    limit = Limit(16, 60)
    sent, timed_out, served = through_a_queue(limit, 200, service=20, timeout=60)
    assert len(served) == 200
    assert sent == 200 + timed_out
    assert timed_out <= 10
    assert limit.at_once <= 3
    assert served[-1] <= 200 * 20 + 10 * 60  # the server hardly ever had nothing to do


def test_loading_the_model_is_not_taken_for_a_queue():
    limit = Limit(16, 60)
    sent, timed_out, _ = through_a_queue(limit, 100, service=3, timeout=60, slots=16, load=300)
    assert (sent, timed_out, limit.at_once) == (100, 0, 16)


@pytest.mark.parametrize("service", [1, 20, 45, 55])
def test_a_server_that_takes_long_but_answers_all_at_once_is_asked_as_much_as_before(service):
    limit = Limit(16, 60)
    sent, timed_out, served = through_a_queue(limit, 160, service=service, timeout=60, slots=16)
    assert (sent, timed_out, limit.at_once) == (160, 0, 16)
    assert served[-1] == pytest.approx(10 * service)


def test_a_request_that_hangs_among_quick_ones_is_no_reason_to_ask_less():
    limit = Limit(16, 60)
    for second in range(30):
        limit.served(second, 16, second + 1)
    limit.timed_out(0, 16, 60)
    assert limit.at_once == 16


def test_a_request_that_ran_out_of_time_among_slow_ones_halves_them():
    limit = Limit(16, 60)
    for second in range(0, 300, 10):
        limit.served(second, 8, second + 40)
    assert limit.at_once == 16
    limit.timed_out(310, 16, 370)
    assert limit.at_once == 8
    limit.timed_out(320, 16, 380)  # under way together with the other
    assert limit.at_once == 8
    for second in range(400, 2000):
        limit.served(second, 8, second + 1)
    assert limit.at_once == 16
