"""`metareview show`: the evidence behind a run's figures, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.options import PATH, common_options
from metareview.cli.output import Screen
from metareview.errors import UsageError

if TYPE_CHECKING:
    from metareview.runs.run import AnyRun, OutcomesRun


@click.command(epilog="Example: metareview show runs/demo --missed --reviewer terse")
@click.argument("run", type=PATH)
@click.option(
    "--missed", is_flag=True, help="References that nobody, or none of --reviewer, raised; severe ones first."
)
@click.option("--noise", is_flag=True, help="Comments without a partner; those that repeat a rejected comment first.")
@click.option(
    "--near", is_flag=True, help="Pairs that the judge calls different; those just under its threshold first."
)
@click.option("--matched", is_flag=True, help="Pairs that were counted; the most doubtful first.")
@click.option("--undecided", is_flag=True, help="Pairs that could count and have no verdict.")
@click.option("--unlisted", is_flag=True,
              help="Issues that no reference covers, over all reviewers; those said by most first.")  # fmt: skip
@click.option("--heeded", is_flag=True, help="Of a run of outcomes: comments that were heeded, as far as can be told.")
@click.option("--unheeded", is_flag=True, help="Comments whose lines stayed as they were, or that were not addressed.")
@click.option("--rejected", is_flag=True, help="Comments that people turned down, by a reaction or in words.")
@click.option("--repeated", is_flag=True, help="Comments that say again what their reviewer said before.")
@click.option("--cannot-tell", is_flag=True, help="Comments of which the data cannot tell whether their lines changed.")
@click.option("--disagree", type=PATH, metavar="RUN2",
              help="Pairs that the judges of RUN and RUN2 see differently; the widest apart first.")  # fmt: skip
@click.option("--reviewer", "reviewers", multiple=True, metavar="NAME",
              help="Only this reviewer's comments, by its exact name; repeatable.")  # fmt: skip
@click.option("--pr", "prs", multiple=True, metavar="PR",
              help="Only this pull request: an address, owner/repo#5, or its number; repeatable.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True, metavar="N",
              help="Entries of each list; 0 for all.")  # fmt: skip
@common_options
def command(
    run: Path,
    missed: bool,
    noise: bool,
    near: bool,
    matched: bool,
    undecided: bool,
    unlisted: bool,
    heeded: bool,
    unheeded: bool,
    rejected: bool,
    repeated: bool,
    cannot_tell: bool,
    disagree: Path | None,
    reviewers: tuple[str, ...],
    prs: tuple[str, ...],
    top: int,
    screen: Screen,
) -> None:
    """Show what a finished run in folder RUN rests on. Of a run of comments: each entry with its note, what came
    nearest to it with score and reason, and who else raised it. Of a run of outcomes: each comment with what became of
    it. Without a list, how long each is and the first of three."""
    from metareview.comparison.disagreement import disagreements
    from metareview.comparison.evidence import evidence
    from metareview.comparison.evidence_search import LISTS
    from metareview.comparison.unlisted_entries import unlisted_entries
    from metareview.report import evidence_lines as lines
    from metareview.report.unlisted_lines import unlisted_lines
    from metareview.runs.run import is_comments, is_outcomes, load_run

    stored = load_run(run)
    of_outcomes = {
        "heeded": heeded,
        "unheeded": unheeded,
        "rejected": rejected,
        "repeated": repeated,
        "cannot-tell": cannot_tell,
    }
    of_comments = {
        "missed": missed,
        "noise": noise,
        "near": near,
        "matched": matched,
        "unlisted": unlisted,
        "disagree": disagree is not None,
    }
    if is_outcomes(stored):
        _check(of_comments, stored, (*of_outcomes, "undecided"))
        _show_outcomes(stored, {**of_outcomes, "undecided": undecided}, reviewers, prs, top, screen)
        return
    if is_comments(stored):
        _check(of_outcomes, stored, (*of_comments, "undecided"))
    asked = dict(zip(LISTS, (missed, noise, near, matched, undecided), strict=True))
    chosen = [name for name in LISTS if asked[name]]
    overview = not chosen and not unlisted and disagree is None
    names = lines.OVERVIEW if overview else chosen
    few = min(top, lines.OVERVIEW_TOP) if overview and top else top
    found = evidence(stored, names, reviewers=reviewers, prs=prs, top=few)
    parts = list((lines.overview_lines if overview else lines.evidence_lines)(found, screen.width))
    document = found.to_dict()
    if unlisted:
        with screen.progress("grouping pull requests") as progress:
            issues = unlisted_entries(stored, reviewers=reviewers, prs=prs, top=top, progress=progress)
        parts += ([""] if parts else []) + list(unlisted_lines(issues, screen.width))
        document |= issues.to_dict()
    if disagree is not None:
        differing = disagreements(stored, load_run(disagree), reviewers=reviewers, prs=prs, top=top)
        parts += ([""] if parts else []) + list(lines.disagreement_lines(differing, screen.width))
        document |= differing.to_dict()
    screen.show(document, *parts, remarks=lines.remarks(found, overview))


def _check(of_others: Mapping[str, bool], run: AnyRun, lists: Iterable[str]) -> None:
    """UsageError for a list that only the other kind of run has."""
    for name, asked in of_others.items():
        if asked:
            known = ", ".join(f"--{each}" for each in lists)
            raise UsageError(f"{run.label} is a run of {run.kind.name}, which has no --{name}. It has {known}.")


def _show_outcomes(
    run: OutcomesRun, asked: Mapping[str, bool], reviewers: Sequence[str], prs: Sequence[str], top: int, screen: Screen
) -> None:
    from metareview.comparison.outcome_evidence import outcome_evidence
    from metareview.report import outcome_lines as lines
    from metareview.report.evidence_lines import OVERVIEW_TOP

    chosen = [name for name, wanted in asked.items() if wanted]
    few = min(top, OVERVIEW_TOP) if not chosen and top else top
    found = outcome_evidence(run, chosen or lines.OVERVIEW, reviewers=reviewers, prs=prs, top=few)
    shown = lines.outcome_evidence_lines if chosen else lines.outcome_overview_lines
    screen.show(found.to_dict(), *shown(found, screen.width))
