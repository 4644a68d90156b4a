"""The command line. One file per command: parse, call, print, exit. Heavy imports happen inside commands."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from metareview import __version__
from metareview.engines.threads import use_one_thread
from metareview.errors import GateFailed, MetareviewError, did_you_mean
from metareview.interrupts import at_work, exit_code, leave

COMMANDS = {
    "comments": "Score review comments against references.",
    "routing": "Replay a history and score who should have reviewed.",
    "outcomes": "What became of review comments: lines changed, suggestions, threads.",
    "text": "Score retrieved text against ground truth (exact, ROUGE-L).",
    "compare": "Is one reviewer better than another, or can the data not tell?",
    "leaderboard": "Rank reviewers over runs, with intervals and ties.",
    "report": "Write a finished run as a page, a table or test results.",
    "show": "The evidence in the terminal: missed, noise, near misses.",
    "label": "Give people's verdicts on a sample of a run, and correct its figures by them.",
    "view": "Look at runs in a browser: figures, pairs, pull requests.",
    "convert": "Write comments in another format, and name what it cannot hold.",
    "check": "Is this benchmark sound? Lint it, then try it on known answers.",
    "calibrate": "How far does a judge agree with labels?",
    "pull": "Fetch comments or a history from GitHub.",
    "dataset": "Public benchmarks by name: list, get.",
    "list": "Which judges, routers, formats and metrics there are.",
    "cache": "What models have answered so far: info, clear.",
    "completion": "What a shell needs to complete commands and names.",
    "demo": "Score three invented reviewers on a sample benchmark.",
}


class _LazyGroup(click.Group):
    """Imports a command's module when the command is used, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        # A module called list would take the place of the built-in in this package.
        module = "listing" if name == "list" else name
        command: click.Command = import_module(f"metareview.cli.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}.{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: metareview comments reviews/ --reference positive_samples.json",
)
@click.version_option(__version__, prog_name="metareview")
@click.pass_context
def cli(context: click.Context) -> None:
    """Measure code review: comments, reviewer routing, retrieved text."""
    from metareview.formats.pipes import spooled_pipes

    context.with_resource(spooled_pipes())


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its code: 0 done, 1 our defect, 2 bad usage or input, 3 a gate was missed,
    4 pairs stayed undecided, 130 interrupted, 143 ended by SIGTERM."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that an old code page lacks ends no run
    use_one_thread()
    try:
        with at_work():
            code = _run(arguments)
    except BrokenPipeError as error:  # nobody reads our errors either
        code = _not_written(error)
    except KeyboardInterrupt:  # while an error was put into words, for example
        code = exit_code()
    leave(_written(code))


def _written(code: int) -> int:
    """The exit code, once all that was printed is out; 2 where it cannot be."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is left would be written again, and fail again, when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _not_written(error)
    return code


def _not_written(error: OSError) -> int:
    """Quiet where the reader of our output went away (| head), as other tools are: there is nobody to report to."""
    from metareview.cli.output import say

    if error.errno != errno.EPIPE:
        where = "standard output" if error.filename is None else error.filename
        with suppress(OSError):  # there may be no room for it either
            fix = "Free space there, then run it again."
            say(f"Error: cannot write to {where}: {error.strerror}. {fix}")
    return 2


def _show(error: click.ClickException) -> None:
    """As click does, but for what was typed in it, which may hold anything."""
    from metareview.cli.github import inert
    from metareview.report.names import printable

    told = io.StringIO()
    error.show(told)
    for line in told.getvalue().splitlines():
        click.echo(inert(printable(line)), err=True)


def _may_not(error: PermissionError) -> int:
    """What whoever runs us may not read or write, wherever it was come upon."""
    from metareview.cli.output import say

    say(f"Error: {os.fsdecode(error.filename)}: {error.strerror}. Check its permissions and those of its folder.")
    return 2


def _run(arguments: list[str] | None) -> int:
    completing = "_METAREVIEW_COMPLETE" in os.environ
    if completing:
        from metareview.cli.completion import use_our_bash

        use_our_bash()
    try:
        # Commands return nothing; what comes back is the code of a click Exit, as --help or a session ends with.
        return cli.main(args=arguments, prog_name="metareview", standalone_mode=False) or 0
    except click.ClickException as error:
        _show(error)
        return 2
    except MetareviewError as error:
        from metareview.cli.github import error_lines
        from metareview.cli.output import say

        say(f"Error: {error}")
        for line in error_lines(error.missed) if isinstance(error, GateFailed) else ():
            click.echo(line, err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.exceptions.Abort):
        click.echo("Interrupted. What was done is kept; the same command with the same --out goes on.", err=True)
        return exit_code()
    except SystemExit as end:
        if completing:
            return int(end.code or 0)  # how click ends once it has answered a shell
        return _not_written(BrokenPipeError(errno.EPIPE, ""))  # how click ends where the reader of our output went away
    except OSError as error:
        from metareview.runs.files import DISK_FULL

        if isinstance(error, PermissionError) and error.filename is not None:
            return _may_not(error)
        if error.errno not in DISK_FULL:
            raise
        return _not_written(error)
    except MemoryError:
        from metareview.cli.output import say

        say("Error: There is not enough memory for this. Give less at a time, or use a machine with more.")
        return 2
    except Exception as error:
        problem = _broken_run(error, sys.argv[1:] if arguments is None else arguments)
        if problem is None:
            raise
        from metareview.cli.output import say

        say(f"Error: {problem}")
        return problem.exit_code


def _broken_run(error: Exception, arguments: list[str]) -> MetareviewError | None:
    """What is wrong with a finished run among the arguments: what it holds may have misled whoever read it. None
    where none is broken, so that the defect is ours."""
    from pathlib import Path

    from metareview.runs.files import MANIFEST, SUMMARY
    from metareview.runs.sound import WRONG, unsound

    if not isinstance(error, WRONG):
        return None

    named = (Path(each.rpartition("=")[2] if each.startswith("--") else each) for each in arguments)
    with suppress(OSError, ValueError):
        runs = (each for each in named if (each / MANIFEST).is_file() and (each / SUMMARY).is_file())
        return next(filter(None, map(unsound, runs)), None)
    return None
