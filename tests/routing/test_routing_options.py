"""The options are one list: of the dataclass, of the keywords, and of the command."""

from dataclasses import fields

import pytest

from metareview.cli.routing import command
from metareview.errors import UsageError
from metareview.pipelines.routing import RoutingKeywords, RoutingOptions

OF_THE_COMMAND_ALONE = {"out", "overwrite", "fail_under", "fail_over", "as_json", "quiet"}


def test_dataclass_keywords_and_command_have_the_same_options():
    options = {field.name: field for field in fields(RoutingOptions) if field.init}
    assert {"history", *RoutingKeywords.__annotations__} == set(options)
    assert {option.name for option in command.params} - OF_THE_COMMAND_ALONE == set(options)


def test_the_command_has_the_defaults_of_the_dataclass():
    context = command.make_context("routing", ["events.jsonl"])
    empty = {"routers": (), "predictions": (), "repos": (), "prs": ()}
    expected = {field.name: field.default for field in fields(RoutingOptions) if field.init} | empty
    for name, value in context.params.items():
        if name != "history" and name not in OF_THE_COMMAND_ALONE:
            assert value == expected[name], name


def test_options_are_checked_when_they_are_made():
    options = RoutingOptions("events.jsonl", truth_window="90s", since="1970-01-02", merged_within="1d")
    assert (options.truth_span, options.merged_span) == (90 * 10**9, 86_400 * 10**9)
    assert options.is_scored("o/r", 1, options.since_instant)
    assert not options.is_scored("o/r", 1, options.since_instant - 1)
    assert RoutingOptions("events.jsonl", truth_window="none").truth_span is None
    with pytest.raises(UsageError, match="--k 3,0 is not"):
        RoutingOptions("events.jsonl", k=(3, 0))
    with pytest.raises(AttributeError):
        options.k = (1,)
