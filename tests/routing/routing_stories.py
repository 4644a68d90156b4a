"""Small histories, written as a story: times are in minutes after 1970."""

from metareview.model.event import Event, PullRequest, make_history

MINUTE = 60 * 1_000_000_000
DAYS = 24 * 60


def happen(minute, kind, actor=None, *, pr=1, repo="o/r", **more):
    return Event(repo, pr, round(minute * MINUTE), kind, actor, **more)


def history_of(*events):
    return make_history(events, source="test")


def pull_request(minute=0, *, author="author", pr=1, **more):
    at = round(minute * MINUTE)
    return PullRequest("o/r", pr, author, at, at, **more)


def logins(ranking):
    return [login for login, _ in ranking.candidates]
