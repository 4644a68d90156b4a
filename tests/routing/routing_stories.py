"""Small histories, written as a story: times are in minutes after 1970."""

from metareview.formats.codeowners import OwnersByCommit
from metareview.model.event import Event, PullRequest, make_history
from metareview.pipelines.routing import Inputs, RoutingOptions, score
from metareview.runs.routing_json import summary_to_json

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


def score_history(history, routers=None, *, predictions=(), codeowners=None, **options):
    """The pipeline on a history and predictions in memory."""
    owners = None if codeowners is None else OwnersByCommit(codeowners)
    chosen = RoutingOptions("test", routers=routers, codeowners=codeowners, **options)
    return score(Inputs(history, tuple(predictions), owners), chosen)


def summary_of(*arguments, **options):
    """Its summary as JSON."""
    return summary_to_json(score_history(*arguments, **options).summary)
