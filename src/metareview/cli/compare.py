"""`metareview compare`: is one better than the other, or can the data not tell?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from metareview.cli.output import common_options, console, print_json, print_warnings, rate

_NOTE = 100
_SHOWN_NOTES = 2
_NAMED = 5


@click.command(
    epilog="Example: metareview compare runs/before runs/after --fail-if-worse f1",
)
@click.argument("run_a", type=click.Path(path_type=Path))
@click.argument("run_b", type=click.Path(path_type=Path), required=False)
@click.option(
    "--reviewer", "reviewers", multiple=True, metavar="NAME",
    help="Whom to compare (reviewers, or routers): once for both runs, or twice, A's and B's.",
)  # fmt: skip
@click.option(
    "--fail-if-worse", multiple=True, metavar="METRIC",
    help="Exit 3 where B is worse than A by more than chance explains; repeatable.",
)  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Significant: p, after Holm, up to this."
)
@click.option("--common", is_flag=True, help="Restrict both to the pull requests that they share.")
@common_options
def command(
    run_a: Path,
    run_b: Path | None,
    reviewers: tuple[str, ...],
    fail_if_worse: tuple[str, ...],
    alpha: float,
    common: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare RUN_B with RUN_A, or two reviewers of one run, paired by pull request."""
    from metareview.cli.step_summary import append_step_summary, compare_markdown
    from metareview.comparison.paired import compare

    result = compare(run_a, run_b, reviewers=reviewers, common=common, alpha=alpha)
    _check_names(fail_if_worse, result["metrics"])
    print_warnings(result["warnings"], [], quiet)
    append_step_summary(compare_markdown(result))
    if as_json:
        print_json(result)
    else:
        _print(result)
    _check_gate(fail_if_worse, result)


def _check_names(names: Sequence[str], metrics: Mapping[str, Any]) -> None:
    from metareview.errors import UsageError

    for name in names:
        if name not in metrics:
            raise UsageError(
                f"--fail-if-worse: {name!r} is not measured here. The metrics are {', '.join(metrics)}."
            )


def _check_gate(names: Sequence[str], result: Mapping[str, Any]) -> None:
    from metareview.comparison.paired import is_loss
    from metareview.errors import GateFailed, Undecided

    undecided = sum(result["undecided"].values())
    if names and undecided:
        raise Undecided(
            f"{undecided} pairs are undecided, so no loss can be ruled out. The command that made the run,"
            " with the same --out, asks for them again."
        )
    lost = [
        f"{name} is {rate(figures['b'])}, was {rate(figures['a'])} (p {rate(figures['p_holm'])} after Holm)"
        for name in dict.fromkeys(names)
        if is_loss(name, figures := result["metrics"][name], result["alpha"])
    ]
    if lost:
        raise GateFailed(f"{result['b']['label']} is worse than {result['a']['label']}: {'; '.join(lost)}.")


def _print(result: Mapping[str, Any]) -> None:
    screen = console()
    screen.print(_table(result, screen.width))
    click.echo()
    click.echo("\n".join(_wrapped(result["verdict"], screen.width)))
    found = result["found"]
    what = "References" if result["kind"] == "comments" else "Pull requests"
    a, b = result["a"]["label"], result["b"]["label"]
    counts = (
        f"{what} found by both: {found['both']['count']}; only by {a}: {found['only_a']['count']}; "
        f"only by {b}: {found['only_b']['count']}; by neither: {found['neither']['count']}."
    )
    click.echo("\n".join(_wrapped(counts, screen.width)))
    for line in _kinds(result):
        click.echo(line)
    differing = result["pull_requests"]["differing"]
    if 0 < len(differing) < result["prs"] and len(differing) <= _NAMED:
        click.echo(f"What they say differs on {len(differing)} of {result['prs']} pull requests:")
        for pr in differing:
            click.echo(f"  {_clean(pr)}")
    for title, entries in (("Largest gains", "gains"), ("Largest losses", "losses")):
        if result["pull_requests"][entries]:
            click.echo(f"\n{title} of {b}, by what each adds to the difference:")
            for entry in result["pull_requests"][entries]:
                click.echo("\n".join(_entry(entry, a, b)))


def _table(result: Mapping[str, Any], width: int) -> Any:
    from rich.table import Table
    from rich.text import Text

    from metareview.cli.step_summary import p_value, signed
    from metareview.comparison.competitors import LOWER, word_for

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(f"{result['prs']} pull requests", no_wrap=True)
    wide = width >= 80
    for side in ("a", "b"):
        table.add_column(
            Text(_clean(result[side]["label"])), justify="right", overflow="ellipsis", no_wrap=True
        )
    for title in ("B - A", *(("95 %", "p") if wide else ()), "p (Holm)"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, figures in result["metrics"].items():
        ends = figures["interval"]
        span = "–" if ends is None else f"{ends[0]:+.3f} to {ends[1]:+.3f}"
        table.add_row(
            word_for(name) + (" ↓" if name in LOWER else ""),
            rate(figures["a"]),
            rate(figures["b"]),
            signed(figures["diff"]),
            *((span, p_value(figures["p"])) if wide else ()),
            p_value(figures["p_holm"]),
        )
    return table


def _kinds(result: Mapping[str, Any]) -> Iterator[str]:
    """For each way to sort the issues, the kind with the largest difference."""
    for dimension, kinds in result["kinds"].items():
        known = {
            kind: tally for kind, tally in kinds.items() if kind != "unknown" and tally["a"] != tally["b"]
        }
        if known:
            kind, tally = next(iter(known.items()))
            n = tally.get("references", tally.get("prs"))
            yield (
                f"By {dimension.replace('_', ' ')}, most on {_clean(kind)}: "
                f"{tally['a']} and {tally['b']} of {n}."
            )


def _entry(entry: Mapping[str, Any], a: str, b: str) -> Iterator[str]:
    from metareview.cli.step_summary import signed
    from metareview.comparison.explain import excerpt

    yield f"  {signed(entry['effect'])}  {_clean(entry['pr'])}"
    if "truth" in entry:
        ranks = [entry[side]["rank"] or "none" for side in ("a", "b")]
        yield f"          rank {ranks[0]} and {ranks[1]} of {_clean(', '.join(entry['truth']))}"
        return
    sides = [f"{entry[side]['matched']} of {entry[side]['comments']}" for side in ("a", "b")]
    yield f"          comments that match: {sides[0]} and {sides[1]}; {entry['references']} references"
    for side, name in (("only_a", a), ("only_b", b)):
        for reference in entry[side][:_SHOWN_NOTES]:
            yield f"          only {_clean(name)}: {_clean(excerpt(reference['note'], _NOTE))}"
        if len(entry[side]) > _SHOWN_NOTES:
            yield f"          only {_clean(name)}: {len(entry[side]) - _SHOWN_NOTES} more"


def _clean(text: str) -> str:
    """Other people's text without what a terminal would act on."""
    return "".join(c for c in text if c.isprintable())


def _wrapped(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(_clean(text), max(20, width))
