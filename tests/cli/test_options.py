"""The options of a command, its keywords in Python and its options object are the same ones, spelled alike."""

from dataclasses import fields

import pytest

from metareview.cli import comments, routing
from metareview.pipelines.comments.options import CommentsKeywords, CommentsOptions
from metareview.pipelines.routing.options import RoutingKeywords, RoutingOptions

OF_COMMANDS = {"out", "overwrite", "fail_under", "fail_over", "as_json", "quiet"}
"""What a command does with the result, which the options object does not know."""
FILTERS = {"language", "pr_category", "comment_category", "context", "severity", "exclude_producer"}


def parameters(command):
    return {parameter.name for parameter in command.params}


def initial(options):
    return {field.name for field in fields(options) if field.init}


def test_comments():
    keywords = set(CommentsKeywords.__annotations__)
    assert keywords == initial(CommentsOptions) - {"generated", "reference"}
    own = OF_COMMANDS | {"generated", "reference", "dry_run", "no_cache"}
    assert parameters(comments.command) - own - FILTERS | {"filters"} == keywords


def test_routing():
    keywords = set(RoutingKeywords.__annotations__)
    assert keywords == initial(RoutingOptions) - {"history"}
    assert parameters(routing.command) - OF_COMMANDS - {"history"} == keywords


@pytest.mark.parametrize(
    ("command", "options"), [(comments.command, CommentsOptions), (routing.command, RoutingOptions)]
)
def test_defaults_of_the_command_are_those_of_python(command, options):
    of_python = {field.name: field.default for field in fields(options)}
    differing = {
        parameter.name: (parameter.default, of_python[parameter.name])
        for parameter in command.params
        if parameter.name in of_python
        and isinstance(of_python[parameter.name], str | int | float)
        and of_python[parameter.name] is not False  # a flag
        and parameter.default != of_python[parameter.name]
    }
    assert differing == {}
