"""Runs with other settings are refused: every field of a configuration is compared, or named as irrelevant."""

import json
from dataclasses import fields, replace

import pytest

from labelled_outcomes import make_run, outcome, pr
from metareview.api import evaluate_comments, evaluate_routing
from metareview.comments.filters import FilterConfig
from metareview.comments.summary import CommentsConfig
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.paired import compare
from metareview.comparison.settings import COMPARED, SETTINGS, UNIT
from metareview.errors import UsageError
from metareview.outcomes.summary import OutcomesConfig
from metareview.routing.summary import RoutingConfig

PULL = "https://github.com/o/r/pull/{}"
LEAK = {"note": "leak", "path": "a.py", "from_line": 10, "severity": "High", "source_model": "Scribe"}
SLOW = {"note": "slow", "path": "a.py", "from_line": 20, "severity": "Low"}
BENCHMARK = [{"pr": PULL.format(number), "comments": [LEAK, SLOW]} for number in (1, 2)]
FOUND = [{"pr": PULL.format(number), "comments": [LEAK]} for number in (1, 2)]
CONFIGS = CommentsConfig, FilterConfig, OutcomesConfig, RoutingConfig


def comments_run(**options):
    return evaluate_comments(FOUND, reference=BENCHMARK, judge="exact", name="bot", **options)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run with each configuration."""
    folder = tmp_path_factory.mktemp("runs")
    outcomes = make_run(folder / "outcomes", {(pr(n), "bot"): [outcome(0, True, "fully")] for n in range(1, 5)}, "llm")
    opened = {"repo": "o/r", "pr": 1, "at": "2025-06-01T12:00:00Z", "kind": "opened", "actor": "ann"}
    review = opened | {"at": "2025-06-01T12:20:00Z", "kind": "review_submitted", "actor": "bob"}
    history = folder / "events.jsonl"
    history.write_text("".join(json.dumps(event) + "\n" for event in (opened, review)))
    return {
        CommentsConfig: comments_run(),
        FilterConfig: comments_run(),
        OutcomesConfig: replace(outcomes, folder=None, kept_records=list(outcomes.read_records())),
        RoutingConfig: evaluate_routing(history, routers=["popularity"]),
    }


def other_value(name, value):
    """Another value of a setting."""
    if name in ("alignment", "truth"):
        return "coverage" if name == "alignment" else "all_reviewers"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, tuple):
        return (*value, 7)
    if value is None or isinstance(value, str):
        return f"{value or ''}1"
    return {**value, "more": "1"}


def with_setting(run, config, name):
    """The run as if it had been made with another value of this setting."""
    whole = run.result.config
    if config is FilterConfig:
        changed = replace(whole, filters=FilterConfig(**{name: ["other"]}))
    else:
        changed = replace(whole, **{name: other_value(name, getattr(whole, name))})
    return replace(run, result=replace(run.result, config=changed))


def test_every_setting_of_a_run_is_compared_or_named_as_irrelevant():
    declared = {config: set(of_one) for config, of_one in SETTINGS.items()}
    assert declared == {config: {each.name for each in fields(config)} for config in CONFIGS}


@pytest.mark.parametrize(
    "both", [compare, lambda a, b, **options: leaderboard([a, b], **options)], ids=["compare", "leaderboard"]
)
@pytest.mark.parametrize(
    ("config", "name"), [(config, each.name) for config in CONFIGS for each in fields(config) if each.name != "filters"]
)
def test_a_run_with_another_setting_is_refused_where_that_changes_what_figures_mean(runs, config, name, both):
    run = runs[config]
    other = with_setting(run, config, name)
    assert other.result.config != run.result.config
    if SETTINGS[config][name] == COMPARED:
        with pytest.raises(UsageError, match=f"their settings differ: {name.replace('_', ' ')} "):
            both(run, other)
    elif SETTINGS[config][name] == UNIT:
        with pytest.raises(UsageError, match="Choose: --unit pr, or --unit repository"):
            both(run, other)
        both(run, other, unit="repository")
    else:
        both(run, other)


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        ({"severities": ["high"]}, r'severities none and \["high"\]'),
        ({"excluded_producers": ["Scribe"]}, r'excluded producers none and \["Scribe"\]'),
    ],
)
def test_the_same_comments_against_fewer_references_are_refused(filters, reason):
    whole, part = comments_run(), comments_run(filters=FilterConfig(**filters))
    assert whole.metrics["bot"] != part.metrics["bot"]
    with pytest.raises(UsageError, match=f"cannot be compared, their settings differ: {reason}"):
        compare(whole, part)
    with pytest.raises(UsageError, match=reason):
        leaderboard([whole, part])


def test_neither_order_nor_case_of_a_filter_makes_another_setting():
    one, same = (comments_run(filters=FilterConfig(severities=each)) for each in (["high", "low"], ["Low", "High"]))
    assert compare(one, same).prs == 2
