"""Sentences that the terminal, reports and the page of a build have in common."""

from __future__ import annotations

from metareview.comments.summary import JudgeSummary
from metareview.model.words import plural
from metareview.report.names import in_words
from metareview.report.numbers import count, rate
from metareview.routing.summary import RoutingSummary


def judged_by(judge: JudgeSummary, name: str = "") -> str:
    """`name`: the judge's, as the format needs it."""
    calls = f" ({plural(judge.llm_calls, 'model call')}, {count(judge.cached)} from the cache)"
    undecided = f", {plural(judge.errors, 'pair')} undecided" if judge.errors else ""
    return (
        f"Judged by {name or judge.name} over {plural(judge.pairs, 'pair')}"
        f"{calls if judge.llm_calls or judge.cached else ''}{undecided}; 95 % intervals over pull requests."
    )


def cohort(summary: RoutingSummary) -> str:
    truth = summary.truth
    return (
        f"{plural(summary.prs, 'pull request')}: {count(truth.observed)} with a truth, "
        f"{count(truth.no_response)} without, {count(truth.unknown)} unknown (misses all the same)."
    )


def declarations(summary: RoutingSummary) -> list[str]:
    """How often declarations are missing and, where --merged-within was given, how often which were merged."""
    blocks = {in_words(name): block for name, block in summary.declarations.items()}
    missing = [f"{name} {rate(block.missing_rate)}" for name, block in blocks.items()]
    merged = [
        f"{name} {rate(block.merged_within.merged_rate_missing)} and {rate(block.merged_within.merged_rate_present)}"
        for name, block in blocks.items()
        if block.merged_within
    ]
    lines = [f"Pull requests without: {', '.join(missing)}"]
    if merged:
        lines.append(f"Merged within {summary.config.merged_within}, without and with: {', '.join(merged)}")
    return lines
