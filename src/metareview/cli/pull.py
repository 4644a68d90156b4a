"""`metareview pull comments` and `metareview pull history`: from GitHub or GitLab into a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from metareview.cli.options import PATH, common_options
from metareview.cli.output import Screen, say, warning_lines
from metareview.errors import UsageError

if TYPE_CHECKING:
    from metareview.sources.pull import PullResult


def _shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed((
        click.option("-o", "--out", required=True, type=PATH, metavar="FILE", help="The file to write."),
        click.option("--since", metavar="TIME", help="Only pull requests created at or after this time."),
        click.option("--until", metavar="TIME", help="Only pull requests created before this time."),
        click.option("--api", metavar="URL",
                     help="The address of the API.  [default: the server's own; for GitHub's, $GITHUB_API_URL]"),
        click.option("--overwrite", is_flag=True, help="Replace FILE, and what is left of another pull into it."),
    )):  # fmt: skip
        command = option(command)
    return command


@click.group(epilog="Example: metareview pull comments acme/shop -o comments.jsonl")
def command() -> None:
    """Fetch review comments or a history from GitHub, or from a GitHub Enterprise Server by its address; comments from
    GitLab as well.

    The token is GITHUB_TOKEN, GH_TOKEN or that of gh auth token; for GitLab it is GITLAB_TOKEN, with GITLAB_HOST where
    the server is another than gitlab.com. A pull that was cut off goes on with the same command.
    """


@command.command(short_help="What reviewers wrote, with threads and commits.",
                 epilog="Example: metareview pull comments 'acme/shop#12,15,20-30' -o comments.jsonl")  # fmt: skip
@click.argument("targets", nargs=-1, required=True, metavar="OWNER/REPO[#N…]|URL")
@_shared_options
@click.option("--reviewer", multiple=True, metavar="GLOB",
              help="Only what these people and bots wrote: * and ? are wild, ! excludes; repeatable.")  # fmt: skip
@click.option("--no-patches", is_flag=True,
              help="Leave out what commits changed, which takes a request or two per commit.")  # fmt: skip
@common_options
def comments(
    targets: tuple[str, ...], reviewer: tuple[str, ...], no_patches: bool, screen: Screen, **more: Any
) -> None:
    """Review comments, threads, reviews and commits of pull requests, one record per pull request and reviewer.

    All pull requests of a repository, or those whose numbers or addresses are given. GitLab's merge requests by their
    or their project's address, or as GROUP/PROJECT!N.
    """
    from metareview.model.selection import Selection

    selection = Selection(reviewer)
    chosen = {"reviewers": selection, "patches": not no_patches}
    with _pull(targets, more, screen, **chosen) as pulled:
        total = sum(pulled.counts.values())
        said = f"{_count(total, 'comment')} by {_count(len(pulled.counts), 'reviewer')}"
        file = quote(str(pulled.file))
        against = f"metareview comments {file} --reference {file} --reviewer '*[bot]' --reference-reviewer '!*[bot]'"
        next_steps = [f"Next: {against}", f"Or, without references: metareview outcomes {file}"]
        _show(pulled, "comments", said, next_steps, screen)


@command.command(short_help="What happened, in time order: for metareview routing.",
                 epilog="Example: metareview pull history acme/shop --since 2025-01-01 -o events.jsonl")  # fmt: skip
@click.argument("targets", nargs=-1, required=True, metavar="OWNER/REPO[#N…]")
@_shared_options
@common_options
def history(targets: tuple[str, ...], screen: Screen, **more: Any) -> None:
    """What happened on pull requests, in time order: the history that metareview routing replays."""
    with _pull(targets, more, screen, history=True) as pulled:
        said = _count(pulled.lines, "event")
        _show(pulled, "events", said, [f"Next: metareview routing {quote(str(pulled.file))}"], screen)


@contextmanager
def _pull(targets: tuple[str, ...], given: dict[str, Any], screen: Screen, **chosen: Any) -> Iterator[PullResult]:
    from metareview.sources.access import github_access, gitlab_access, gitlab_host, server_host
    from metareview.sources.pull import PullOptions, pull
    from metareview.sources.targets import parse_targets

    target = parse_targets(targets, server_host(), gitlab_host())
    api, out = given.pop("api"), given["out"]
    options = PullOptions(target, **given, **chosen)
    if target.gitlab and options.history:
        fix = "Pull the comments of its merge requests, or write the history as events; see docs/routing.md."
        raise UsageError(f"{target.host} is a GitLab server, and histories are pulled from GitHub alone. {fix}")
    access = (gitlab_access if target.gitlab else github_access)(target, api)
    try:
        with ExitStack() as until_shown:
            with screen.status() as tell:
                pulled = until_shown.enter_context(pull(options, access, tell))
            yield pulled
    except KeyboardInterrupt:
        partial = out.with_name(f"{out.name}.partial")
        if partial.exists():
            say(f"What was fetched is kept in {partial}.")
        raise


def _show(pulled: PullResult, what: str, said: str, next_steps: list[str], screen: Screen) -> None:
    document = {
        "schema": "metareview.pull/1",
        "file": str(pulled.file),
        "repository": pulled.repository,
        "prs": pulled.prs,
        "lines": pulled.lines,
        what: dict(pulled.counts),
        "requests": pulled.requests,
        "warnings": list(pulled.warnings),
    }
    screen.say(warning_lines(pulled.warnings))
    line = f"{pulled.repository}: {_count(pulled.prs, 'pull request')}, {said}: {pulled.file}"
    screen.show(document, line, remarks=next_steps if pulled.lines else [])


def _count(number: int, one: str) -> str:
    from metareview.model.words import plural

    return plural(number, one)
