"""Options that several commands share, each spelled once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from metareview.cli.output import Screen
from metareview.errors import UsageError, did_you_mean

Command = Callable[..., Any]
PATH = click.Path(path_type=Path)
Paths = tuple[Path, ...]
Limits = Mapping[str, tuple[str, ...]]
"""What the options of gates were given, by option."""
Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def completing(names: Callable[[], Iterable[str]]) -> Completer:
    """For a shell: the names that begin with what was typed, looked up only then."""

    def complete(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
        return [name for name in names() if name.casefold().startswith(typed.casefold())]

    return complete


def one_of(*words: str) -> Completer:
    """For a shell: these words."""
    return completing(lambda: words)


class InputPath(click.Path):
    """A path, or the name of a data set that has a file of this role."""

    def __init__(self, role: str) -> None:
        super().__init__(path_type=Path)
        self._role = role

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; `./aacr-bench` as a whole one, so that it is not taken for the data set's name."""
        from metareview.sources.catalogue import DATASETS

        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        return path.absolute() if str(path) in DATASETS and os.fspath(value) != str(path) else path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from metareview.sources.catalogue import DATASETS

        names = [each.name for each in DATASETS.values() if each.of_role(self._role)]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*found, *super().shell_complete(ctx, param, incomplete)]


class ListingOption(click.Option):
    """An option whose help says `{names}`: what there is to choose from, looked up only when help is shown.

    Shells complete those names, unless it says otherwise.
    """

    def __init__(self, *declarations: Any, names: Callable[[], Iterable[str]], **settings: Any) -> None:
        super().__init__(*declarations, **({"shell_complete": completing(names)} | settings))
        self._names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = (self.help or "").replace("{names}", ", ".join(self._names()))
        return super().get_help_record(ctx)


def choice_argument(name: str, *words: str) -> Callable[[Command], Command]:
    """An argument that is one of these words; another is refused with the nearest."""

    def check(context: click.Context, argument: click.Parameter, word: str) -> str:
        if word not in words:
            raise UsageError(f"{word!r} is not known.{did_you_mean(word, words)} Give one of {', '.join(words)}.")
        return word

    return click.argument(name, metavar="|".join(words), callback=check, shell_complete=one_of(*words))


def judge_names() -> list[str]:
    from metareview.judges.registry import JUDGES

    return JUDGES.names()


def comment_formats() -> list[str]:
    from metareview.formats.registry import COMMENT_FORMATS

    return COMMENT_FORMATS.names()


def _values_of(kind: str) -> Completer:
    """Completes the values that AACR-Bench has for a language, a category or a context."""

    def values() -> list[str]:
        from metareview.model import comment

        return list(map(str, getattr(comment, kind)))

    return completing(values)


_OF_K = ("hit", "ndcg", "recall")


def comment_metric_names() -> list[str]:
    from metareview.comments.measures import MEASURES

    return [measure.short for measure in MEASURES]


def router_metric_names() -> list[str]:
    from metareview.routing.list_measures import MAP
    from metareview.routing.measures import MRR

    return [f"{name}@K" for name in _OF_K] + [MRR.short, MAP.short]


def outcome_metric_names() -> list[str]:
    from metareview.outcomes.measures import MEASURES

    return [measure.short for measure in MEASURES]


def metric_names() -> list[str]:
    return [*comment_metric_names(), *router_metric_names(), *outcome_metric_names()]


def metrics_to_choose(names: Callable[[], list[str]] = metric_names) -> list[str]:
    """The metrics as one would type them: hit@k and the like with the usual k."""
    of_k = [name.removesuffix("@K") for name in names() if name.endswith("@K")]
    rest = [name for name in names() if not name.endswith("@K")]
    return [*rest, *(f"{name}@{k}" for name in of_k for k in (1, 3, 5))]


def dataset_names() -> list[str]:
    from metareview.sources.catalogue import DATASETS

    return list(DATASETS)


table_output_option = click.option(
    "-o", "--output", "outputs", multiple=True, type=PATH, metavar="FILE",
    help="Also write the table: .md, .csv, .tex, .html or .json, by suffix. May be given several times.",
)  # fmt: skip

unit_option = click.option(
    "--unit", type=click.Choice(["pr", "repository"]),
    help="What intervals and tests of reviewers are over.  [default: as in the runs]",
)  # fmt: skip


def _options(*options: Command) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order of the help text."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _as_one(keyword: str, make: Command, **options: Command) -> Callable[[Command], Command]:
    """Options by the names of their values, which reach the command as one keyword: what `make` makes of them."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_one(**given: object) -> object:
            made = make(*(given.pop(name) for name in options))
            return command(**given, **{keyword: made})

        return _options(*options.values())(with_one)

    return decorate


def _filters(*values: tuple[str, ...]) -> object:
    from metareview.comments.filters import FilterConfig

    language, pr_category, *of_comments = values
    return FilterConfig(pr_category, language, *of_comments)


common_options = _as_one(
    "screen",
    Screen,
    as_json=click.option("--json", "as_json", is_flag=True, help="The result as one JSON document."),
    quiet=click.option("-q", "--quiet", is_flag=True, help="No progress, no warnings."),
)


def gate_options(names: Callable[[], list[str]]) -> Callable[[Command], Command]:
    """Gates on the metrics of these names, which are those that the command measures."""
    complete = completing(lambda: [f"{name}=" for name in metrics_to_choose(names)])
    return _as_one(
        "limits",
        lambda under, over: {"--fail-under": under, "--fail-over": over},
        fail_under=click.option("--fail-under", cls=ListingOption, names=names, multiple=True, metavar="METRIC=X",
                                shell_complete=complete,
                                help="Exit 3 where the metric is lower; NAME.METRIC=X for one. Of {names}."),
        fail_over=click.option("--fail-over", multiple=True, metavar="METRIC=X", shell_complete=complete,
                               help="Exit 3 where the metric is higher; as --fail-under."),
    )  # fmt: skip


filter_options = _as_one(
    "filters",
    _filters,
    language=click.option("--language", multiple=True, shell_complete=_values_of("ProjectLanguage"),
                          help="Only pull requests in this language; repeatable."),
    pr_category=click.option("--pr-category", multiple=True, shell_complete=_values_of("PRCategory"),
                             help="Only pull requests of this category; repeatable."),
    comment_category=click.option("--comment-category", multiple=True, shell_complete=_values_of("CommentCategory"),
                                  help="Only references of this category; repeatable."),
    context=click.option("--context", multiple=True, shell_complete=_values_of("CommentContext"),
                         help="Only references of this context; repeatable."),
    severity=click.option("--severity", multiple=True, help="Only references of this severity; repeatable."),
    exclude_producer=click.option("--exclude-producer", multiple=True, metavar="NAME",
                                  help="Leave out references that this model or tool wrote; repeatable."),
)  # fmt: skip
run_options = _options(
    click.option(
        "--out",
        type=PATH,
        metavar="DIR",
        help="The run's folder; a run there that was cut off or damaged is completed.  [default: runs/<time>-<name>]",
    ),
    click.option("--overwrite", is_flag=True, help="Replace what is in --out."),
)  # fmt: skip
workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes on this machine.  [default: one per core; 1 for small inputs]",
)
engine_options = _options(
    click.option("--engine", metavar="local|spark", default="local", show_default=True,
                 shell_complete=one_of("local", "spark"), help="Where the work runs: here, or on a Spark cluster."),
    workers_option,
    click.option("--spark-master", metavar="URL", help="Spark's master, such as spark://host:7077 or local[4]."),
)  # fmt: skip
model_options = _options(
    click.option("--concurrency", type=click.IntRange(min=1), default=16, show_default=True,
                 help="Requests at once, for judges that ask a model."),
    click.option("--cache", type=PATH, metavar="FILE",
                 help="Where a model's verdicts are kept.  [default: the user's cache folder]"),
    click.option("--no-cache", is_flag=True,
                 help="Ask again, whatever other runs were answered; what this one was, it keeps until it is whole."),
    click.option("--max-llm-calls", type=click.IntRange(min=0), metavar="N",
                 help="Send a model at most N requests, repeated ones included; the rest stays undecided."),
)  # fmt: skip

asking_options = _options(
    click.option("--ask", metavar="pair|review", shell_complete=one_of("pair", "review"),
                 help="One question to a chat model: a pair, or one reviewer's notes on a pull request in a list."
                      "  [default: llm pair, cascade review]"),
    click.option("--cascade", metavar="careful|frugal", shell_complete=one_of("careful", "frugal"),
                 help="How much cascade asks: frugal saves about a quarter of the text.  [default: careful]"),
    click.option("--cascade-low", type=float, metavar="X",
                 help="The offline score from which cascade may ask.  [default: 0.01]"),
    click.option("--cascade-high", type=float, metavar="X",
                 help="The offline score up to which cascade may ask.  [default: 0.995]"),
)  # fmt: skip


def run_folder(out: Path | None, name: str, *, dry_run: bool = False) -> Path:
    """The folder of `--out`; without it a new one, made for this command alone, unless nothing is to be kept."""
    from metareview.runs.files import default_name, new_folder

    if out is None and dry_run:
        return Path("runs", default_name(name))
    return out or click.get_current_context().with_resource(new_folder(name))


def stem_of(path: Path) -> str:
    """What a run of this input is called; a pipe by the name that it was given under."""
    resolved = path.resolve()
    return (resolved if os.path.lexists(resolved) else path).stem


def cache_file(cache: str | Path | None, no_cache: bool, own: Path) -> Path | None:
    """The cache of `--cache`; with `--no-cache` the command's own, so that what is cut off pays for nothing twice."""
    if cache is not None and no_cache:
        raise UsageError("--cache and --no-cache contradict each other. Leave one out.")
    if no_cache:
        from metareview.runs.links import refuse_links

        refuse_links(own.parent)
        return own
    return None if cache is None else Path(cache)
