"""`metareview label`: a person's verdicts on a sample of a run, and what they make of its figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from metareview.cli.asking import Asking
from metareview.cli.label_session import ALSO, folder_of, session
from metareview.cli.options import PATH, cache_file, common_options, model_options, one_of
from metareview.cli.output import Screen, settings_lines, warning_lines
from metareview.errors import Undecided, UsageError
from metareview.temporary import TemporaryFolder

if TYPE_CHECKING:
    from metareview.comparison.queue import IssueQuestion, PairQuestion
    from metareview.model.label import Label, Labels
    from metareview.report.tables import Table
    from metareview.runs.files import JsonObject
    from metareview.runs.run import CommentsRun

_PAIR_KEYS = {"s": "same", "d": "different", **ALSO}
_ISSUE_KEYS = {"v": "valid", "i": "invalid", "r": "repeat", **ALSO}


@click.command(epilog="Example: metareview label runs/demo --name anna")
@click.argument("run", type=PATH)
@click.option("--name", metavar="NAME",
              help="Who labels. Everybody with a name is asked the same, so that two can be compared.")  # fmt: skip
@click.option("--budget", type=int, metavar="N",
              help="Size of the sample; a larger one adds to it.  [default: 120]")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Of the random sample; one that exists stays as it is.")  # fmt: skip
@click.option("--unlisted", is_flag=True, help="Ask whether what no reference covers is valid, issue by issue.")
@click.option("--judge", metavar="llm", shell_complete=one_of("llm"),
              help="With --unlisted: a model labels all issues, under its own name.")  # fmt: skip
@click.option("--promote", type=PATH, metavar="FILE",
              help="With --unlisted: write the valid ones as references (jsonl), and ask nothing.")  # fmt: skip
@model_options
@common_options
def command(
    run: Path,
    name: str | None,
    budget: int | None,
    seed: int,
    unlisted: bool,
    judge: str | None,
    promote: Path | None,
    concurrency: int,
    cache: Path | None,
    no_cache: bool,
    max_llm_calls: int | None,
    screen: Screen,
) -> None:
    """Label a random sample of the finished run in folder RUN. A run of comments: do this reference and this comment
    raise the same issue? s same, d different, j later, u undo, q quit. A run of outcomes: did the later change do what
    this comment asks? f fully, p partly, n not, k can't tell.

    Of a run of comments, questions come in blocks: what one reviewer says at one location, beside the references there.
    Each answer is at once in labels.jsonl of the folder, and the same command goes on later. At the end come the run's
    figures as the labels correct them. `metareview calibrate --run RUN` shows them again, beside the judge's agreement.
    """
    from metareview.comparison.evidence import comments_run
    from metareview.runs.run import is_outcomes, load_run

    if judge not in (None, "llm"):
        raise UsageError(f"--judge {judge}: only llm can label. Leave it out to be asked yourself.")
    if (judge or promote) and not unlisted:
        raise UsageError(f"{'--judge' if judge else '--promote'} goes with --unlisted. Add it.")
    if judge and promote:
        raise UsageError("--judge and --promote are two steps. Label first, then promote.")
    loaded = load_run(run)
    if is_outcomes(loaded):
        from metareview.cli.label_outcomes import label_outcomes

        if unlisted:
            raise UsageError(f"{run} is a run of outcomes: it has no references, so nothing is unlisted. Leave it out.")
        label_outcomes(loaded, name, budget, seed, screen)
        return
    stored = comments_run(loaded)
    if not unlisted:
        _label_pairs(stored, name, budget, seed, screen)
    elif promote is not None:
        _promote(stored, promote, screen)
    elif judge:
        with TemporaryFolder() as scratch:
            verdicts = cache_file(cache, no_cache, scratch / "verdicts.sqlite")
            _label_by_model(stored, budget, seed, (concurrency, verdicts, max_llm_calls), screen)
    else:
        _label_issues(stored, name, budget, seed, screen)


def _label_pairs(run: CommentsRun, name: str | None, budget: int | None, seed: int, screen: Screen) -> None:
    from metareview.comparison.frame import open_frame
    from metareview.comparison.held_labels import fitting
    from metareview.comparison.queue import PairQueue, last_label
    from metareview.report.label_questions import blocks_text, drawn_line, judged_line, pair_lines
    from metareview.runs.labels import LabelFile

    frame = open_frame(run, budget=budget, seed=seed)
    wanted = {(block.pr, block.reviewer) for _, block in frame.drawn}
    records = {record.key: record for record in run.read_records() if record.key in wanted}
    asking = Asking(screen)

    def queue(labels: Labels) -> PairQueue:
        # Not what was said of other notes, in an earlier run of this folder: that answers nothing here.
        return PairQueue(frame, fitting(labels, records).labels, name, lambda pr, reviewer: records[pr, reviewer])

    done = queue(LabelFile(folder_of(run)).read()).labelled.done
    asking.say(f"{drawn_line('block', len(frame.drawn), frame.blocks, done, name)} {blocks_text(run.result.config)}")

    def ask(labels: Labels, skipped: set[int]) -> PairQuestion | None:
        question = queue(labels).next(skipped)
        if question is not None:
            asking.show(["", *pair_lines(question, asking.width)])
        return question

    def answer(question: PairQuestion, key: str) -> Label:
        asking.show([judged_line(question.verdict, key == "s")])
        return question.label(key == "s", name)

    def last(labels: Labels) -> Label | None:
        return last_label(fitting(labels, records).labels.pairs, name)

    session(run, asking, _PAIR_KEYS, "The same issue?", ask, answer, last)
    document, parts = _pair_figures(run)
    screen.show(document, "", *parts)


def _label_issues(run: CommentsRun, name: str | None, budget: int | None, seed: int, screen: Screen) -> None:
    from metareview.comparison.queue import IssueQueue, last_label
    from metareview.comparison.unlisted import read_evidence, unlisted_of
    from metareview.comparison.unlisted_labels import current_labels
    from metareview.model.label import ISSUE_VERDICTS
    from metareview.report.label_questions import ISSUES, drawn_line, issue_lines
    from metareview.runs.labels import LabelFile

    with screen.progress("grouping pull requests") as progress:
        unlisted = unlisted_of(run, budget, seed, progress)
    evidence = read_evidence(run, unlisted.queue)
    asking = Asking(screen)
    verdicts = {verdict[0]: verdict for verdict in ISSUE_VERDICTS}

    def queue(labels: Labels) -> IssueQueue:
        return IssueQueue(unlisted, current_labels(unlisted, labels).labels, name, lambda issue: evidence[issue.id])

    done = queue(LabelFile(folder_of(run)).read()).done
    asking.say(f"{drawn_line('unlisted issue', len(unlisted.drawn), len(unlisted.issues), done, name)} {ISSUES}")

    def ask(labels: Labels, skipped: set[int]) -> IssueQuestion | None:
        question = queue(labels).next(skipped)
        if question is not None:
            asking.show(["", *issue_lines(question, asking.width)])
        return question

    def answer(question: IssueQuestion, key: str) -> Label:
        return question.label(verdicts[key], name)

    def last(labels: Labels) -> Label | None:
        return last_label(current_labels(unlisted, labels).labels.issues, name)

    session(run, asking, _ISSUE_KEYS, "Is it right?", ask, answer, last)
    document, parts = _issue_figures(run)
    screen.show(document, "", *parts)


def _pair_figures(run: CommentsRun) -> tuple[JsonObject, Iterator[str | Table]]:
    from metareview.comparison.corrected import corrected_figures, correction_of
    from metareview.report.labels import best_first, corrected_document, corrected_table, correction_lines

    correction = correction_of(run)
    assert correction is not None  # a frame has been drawn
    figures = corrected_figures(run, correction)

    def parts() -> Iterator[str | Table]:
        if figures:
            yield corrected_table(best_first(figures))
        yield from correction_lines(correction, best_first(figures))

    return corrected_document(run, correction, figures), parts()


def _issue_figures(run: CommentsRun) -> tuple[JsonObject, Iterable[str | Table]]:
    from metareview.comparison.run_unlisted import figures_of
    from metareview.report.unlisted import PLUS_REMARK, plus_lines, plus_table

    figures = figures_of(run)
    return {"run": str(run.folder), **figures.to_dict()}, [plus_table(figures), *plus_lines(figures), PLUS_REMARK]


def _label_by_model(
    run: CommentsRun, budget: int | None, seed: int, options: tuple[int, Path | None, int | None], screen: Screen
) -> None:
    from metareview.comparison.unlisted import unlisted_of
    from metareview.comparison.unlisted_model import label_with_model
    from metareview.judges.registry import JudgeOptions
    from metareview.judges.remote.validity import ValidityModel
    from metareview.model.words import plural
    from metareview.runs.labels import LabelFile

    concurrency, verdicts, most = options
    with ValidityModel.of(JudgeOptions(None, concurrency, verdicts, most)) as model:
        unlisted = unlisted_of(run, budget, seed)
        screen.say(settings_lines(model))
        with screen.progress("asking the model") as progress:
            model.progress = progress
            found = label_with_model(run, unlisted, model)
        LabelFile(folder_of(run)).append(found.labels)
        usage, warnings = model.usage, model.warnings
    document, parts = _issue_figures(run)
    screen.say(warning_lines(warnings))
    calls = f"{plural(usage.llm_calls, 'model call')}, {usage.cached:,} from the cache"
    screen.show(document, f"{plural(len(found.labels), 'issue')} labelled by the model ({calls}).", *parts)
    if found.undecided:
        why = next(iter(found.undecided.values()))
        raise Undecided(
            f"{plural(len(found.undecided), 'issue')} stayed without a label ({why}). The same command asks again."
        )


def _promote(run: CommentsRun, target: Path, screen: Screen) -> None:
    from metareview.comparison.promote import promoted_reviews
    from metareview.comparison.unlisted import unlisted_of
    from metareview.formats.comments import jsonl
    from metareview.model.words import plural
    from metareview.runs.files import write_whole
    from metareview.runs.labels import LabelFile

    labels = LabelFile(folder_of(run)).read()
    reviews = promoted_reviews(run, unlisted_of(run), labels)
    comments = [comment for review in reviews for comment in review.comments]
    if not comments:
        raise UsageError(f"No unlisted issue of {run.label} is labelled valid. Label first: --unlisted alone asks.")
    if target.exists():
        raise UsageError(f"{target} exists. Name another file, so that no reference set is lost.")
    try:
        write_whole(target, [jsonl.write(reviews)[""]])
    except OSError as error:
        raise UsageError(f"Cannot write {target}: {error.strerror}. Name another file.") from None
    by_model = sum(bool((comment.meta or {}).get("by_model")) for comment in comments)
    document: JsonObject = {"schema": "metareview.promote/1", "run": str(run.folder), "file": str(target)}
    document |= {"references": len(comments), "prs": len(reviews), "by_model": by_model}
    line = f"Wrote {plural(len(comments), 'reference')} on {plural(len(reviews), 'pull request')} to {target}."
    remarks = [f"{by_model:,} of them by a model's label alone; people's go before it."] if by_model else []
    use = (
        f"Give it to metareview comments as a second reference file: --reference {quote(str(target))}. To score NAME"
        " without the references that came from its own comments: --exclude-producer NAME."
    )
    screen.show(document, line, remarks=[*remarks, use])
