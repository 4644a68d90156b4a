"""A made-up repository of 300,000 events with bodies, replayed in a process of its own: `held` or `streamed`.

Prints how many megabytes that took beyond what the process had before, how many records came, and a hash of them.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from metareview.model.event import Event, History, filter_events
from metareview.pipelines.routing import Inputs, RoutingOptions
from metareview.pipelines.routing.answer import Answers, Ticker, answer_part
from metareview.pipelines.routing.plan import Part, choose_of_one, plan_routers
from metareview.pipelines.routing.stream import Streamed
from metareview.runs.routing_json import record_line

EVENTS = 300_000
PEOPLE = [f"person{number}" for number in range(50)]


def events() -> Iterator[Event]:
    for number in range(EVENTS):
        pr, place = divmod(number, 10)
        kind = ("opened", "review_submitted", "comment")[min(place, 2)]
        body = f"{number} " + "word " * 150
        yield Event("big/one", pr, number * 10**11, kind, PEOPLE[(pr + place) % 50], id=str(number), body=body)


def used() -> int:
    """The most that this process ever held, in MB. What getrusage says begins with the peak of its parent."""
    words = Path("/proc/self/status").read_text().split()
    return int(words[words.index("VmHWM:") + 1]) >> 10


def main(way: str) -> None:
    history = History((), EVENTS * 10**11, frozenset(), {name: name for name in PEOPLE})
    options = RoutingOptions("events.jsonl", routers=["popularity"])
    plan = plan_routers(Inputs(history), options)
    before, number, digest = used(), 0, hashlib.sha256()
    if way == "held":
        kept, _ = filter_events(events(), {})
        answers = Answers()
        answer_part(Part("big/one", kept, choose_of_one(kept, options)[0]), plan, answers, Ticker(0, None))
        records = iter(answers.records)
    else:
        streamed = Streamed("big/one", events(), {}, options)
        records = streamed.replay(plan, streamed.chosen, 0, None, [])
    for record in records:
        number += 1
        digest.update(record_line(record))
    print(used() - before, number, digest.hexdigest())


if __name__ == "__main__":
    main(sys.argv[1])
