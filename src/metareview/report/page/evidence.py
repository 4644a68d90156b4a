"""What the figures rest on: the judge and its cost, the settings, what was skipped and undecided."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice

from metareview.comments.summary import CommentsSummary
from metareview.model.words import plural
from metareview.report.headline import order
from metareview.report.names import capital, excerpt, pull_request_name
from metareview.report.numbers import count, interval
from metareview.report.page.blocks import MOST_ITEMS, Cells, Section, behind, capped, name, paragraph, table, table_of
from metareview.report.page.markup import Html, html, join, link
from metareview.report.tables import learned
from metareview.runs.run import AnyRun, CommentsRun

_COSTS = {
    "llm_calls": "Model calls",
    "cached": "Answers from the cache",
    "errors": "Pairs that stayed undecided",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
}


def judge_section(run: CommentsRun) -> Section:
    """Who decided, what it cost, with which settings, on which inputs."""
    judge, inputs = run.result.judge, run.manifest.inputs
    amounts = asdict(judge)
    costs = [(title, count(amounts[key])) for key, title in _COSTS.items() if amounts[key]]
    cached = ": its answers were in the cache" if judge.cached else ""
    called = "" if judge.llm_calls else f" No model was called{cached}."
    verdicts = f"The judge “{judge.name}” gave the verdicts on {plural(judge.pairs, 'pair')}.{called}{learned(judge)}"
    parts = [
        paragraph(verdicts),
        table("What the judge cost", [("What", ""), ("Amount", "num")], costs, css="compact") if costs else None,
        settings_table(run),
    ]
    if inputs:
        listed = list(inputs.items())[:MOST_ITEMS]
        files = table("Input files", [("File", ""), ("SHA-256", "")], listed)
        parts.append(behind(f"The input files and their hashes ({len(listed)} of {len(inputs)})", files))
    return Section("judge", "The judge and its settings", join(parts))


def settings_table(run: AnyRun) -> Html:
    """The run's configuration, behind a click."""
    rows = []
    for key, value in run.summary["config"].items():
        named = {f"{key}: {inner}": each for inner, each in value.items()} if isinstance(value, dict) else {key: value}
        rows += [(title, _shown(setting)) for title, setting in named.items()]
    return behind("The settings of this run", table("Settings", [("Setting", ""), ("Value", "")], rows, css="compact"))


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def left_out_section(run: CommentsRun) -> Section | None:
    """Skipped files, pull requests that a filter dropped, undecided pairs with the bounds; None without any."""
    summary = run.result
    parts: list[Html | None] = []
    if any(block.counts.undecided for block in summary.reviewers.values()):
        parts += [html("<h3>Undecided pairs</h3>"), _bounds(summary), _undecided_pairs(run)]
    if skipped := [html("<code>{}</code>: {}", each.file, each.reason) for each in summary.skipped]:
        parts += [html("<h3>Skipped files ({})</h3>", count(len(skipped))), capped(skipped, "skipped file")]
    if filtered := sum(record.skipped for record in run.read_records()):
        words = "pull request and reviewer was", "pull requests and reviewers were"
        parts.append(paragraph(f"{plural(filtered, *words)} left out by the filters of this run."))
    return Section("left-out", "What was skipped and undecided", join(parts)) if parts else None


def _bounds(summary: CommentsSummary) -> Html:
    undecided = {each: summary.reviewers[each] for each in order(summary).names}
    undecided = {each: block for each, block in undecided.items() if block.counts.undecided}
    columns: list[Cells] = [("Reviewer", "name", map(name, undecided))]
    columns += [("Undecided pairs", "num", [count(block.counts.undecided) for block in undecided.values()])]
    for measure in summary.measures:
        bounds = [interval(block.bounds[measure.name]) for block in undecided.values()]
        columns.append((capital(measure.label), "num", bounds))
    text = paragraph(
        "The judge gave no verdict on these pairs, for example because a model did not answer. Each figure lies "
        "between these bounds: with none of them a match, and with all of them."
    )
    return join([text, table_of("Bounds of every figure", columns)])


def _undecided_pairs(run: CommentsRun) -> Html | None:
    """Which pairs they are, by their positions in the input, which start at 0."""
    undecided = (pair for pair in run.read_pairs() if pair.verdict.match is None and pair.eligible)
    rows = [
        (
            link(pair.pr, pull_request_name(pair.pr)),
            name(pair.reviewer),
            count(pair.generated),
            f"{'negative' if pair.negative else 'reference'} {pair.reference}",
            name(excerpt(pair.verdict.reason or "", 200)),
        )
        for pair in islice(undecided, MOST_ITEMS)
    ]
    if not rows:
        return None
    columns = [("Pull request", ""), ("Reviewer", "name"), ("Comment", "num"), ("Compared with", "")]
    columns += [("Why there is no verdict", "")]
    most = f"The first {MOST_ITEMS} undecided pairs; pairs.jsonl has them all"
    return behind("The pairs", table(most if len(rows) == MOST_ITEMS else "Undecided pairs", columns, rows))
