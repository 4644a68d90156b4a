"""Options that several commands share, each spelled once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]
PATH = click.Path(path_type=Path)


class ListingOption(click.Option):
    """An option whose help says `{names}`: what there is to choose from, looked up only when help is shown."""

    def __init__(self, *declarations: Any, names: Callable[[], Iterable[str]], **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self._names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = (self.help or "").replace("{names}", ", ".join(self._names()))
        return super().get_help_record(ctx)


def _options(*options: Command) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order of the help text."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def judge_names() -> list[str]:
    from metareview.judges.registry import JUDGES

    return JUDGES.names()


def comment_formats() -> list[str]:
    from metareview.formats.registry import COMMENT_FORMATS

    return COMMENT_FORMATS.names()


def metric_names() -> list[str]:
    from metareview.comments.measures import MEASURES
    from metareview.routing.measures import MRR

    return [*(measure.short for measure in MEASURES), "hit@K", MRR.short]


common_options = _options(
    click.option("--json", "as_json", is_flag=True, help="The result as one JSON document."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, no warnings."),
)
gate_options = _options(
    click.option("--fail-under", cls=ListingOption, names=metric_names, multiple=True, metavar="METRIC=X",
                 help="Exit 3 where the metric is lower; repeatable. Of {names}."),
    click.option("--fail-over", multiple=True, metavar="METRIC=X",
                 help="Exit 3 where the metric is higher; repeatable."),
)  # fmt: skip
run_options = _options(
    click.option("--out", type=PATH, metavar="DIR", help="The run's folder.  [default: runs/<time>-<name>]"),
    click.option("--overwrite", is_flag=True, help="Replace what is in --out."),
)
model_options = _options(
    click.option("--concurrency", type=click.IntRange(min=1), default=16, show_default=True,
                 help="Requests at once, for judges that ask a model."),
    click.option("--cache", type=PATH, metavar="FILE",
                 help="Where a model's verdicts are kept.  [default: the user's cache folder]"),
    click.option("--no-cache", is_flag=True, help="Ask again, whatever was answered before."),
    click.option("--max-llm-calls", type=click.IntRange(min=0), metavar="N",
                 help="Ask a model about at most N pairs; the rest stay undecided."),
)  # fmt: skip


def filter_options(command: Command) -> Command:
    """`--language`, `--pr-category`, `--comment-category`, `--context`: to the command, one `filters`."""

    @_options(
        click.option("--language", multiple=True, help="Only pull requests in this language; repeatable."),
        click.option("--pr-category", multiple=True, help="Only pull requests of this category; repeatable."),
        click.option("--comment-category", multiple=True, help="Only references of this category; repeatable."),
        click.option("--context", multiple=True, help="Only references of this context; repeatable."),
    )
    @wraps(command)
    def with_filters(
        *arguments: object,
        language: tuple[str, ...],
        pr_category: tuple[str, ...],
        comment_category: tuple[str, ...],
        context: tuple[str, ...],
        **options: object,
    ) -> object:
        from metareview.comments.filters import FilterConfig

        filters = FilterConfig(pr_category, language, comment_category, context)
        return command(*arguments, filters=filters, **options)

    return with_filters
