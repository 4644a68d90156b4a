"""Measures as the inputs say, compares with a baseline, and writes what the comment on the pull request will say.

It never fails the step: the exit code is an output, and the last step of the Action ends with it, once the comment is
written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from metareview.action.folder import BASELINE, COMMENT, COMPARISON, PULLED, REPORT, REPORT_TEXT, RUN, make_out
from metareview.action.inputs import Inputs, out_folder, read_inputs
from metareview.action.page import page_of
from metareview.action.pulled import pull_comments
from metareview.action.runner import annotate, append_page, give_outputs
from metareview.action.steps import Ended, run_metareview
from metareview.cli.output import say
from metareview.errors import UsageError
from metareview.runs.files import MANIFEST, SUMMARY

GATE_MISSED = 3
_GRAVEST = (2, 4, GATE_MISSED, 0)
"""Of several exit codes the first that is not in here counts, then the first of these that there is: where something
could not be measured no gate was passed, and where pairs are undecided it is not known which were."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of all commands."""

    code: int
    problems: tuple[str, ...] = ()
    """What went wrong, each in a sentence; `missed` has the gates that were missed."""
    missed: tuple[str, ...] = ()
    gated: bool = False
    sentence: str = ""
    """Better or worse than the baseline?"""
    comparison: str = ""
    """What the comparison wrote for the page of the job; `figures` is what the command did."""
    figures: str = ""
    headline: str = ""
    """In place of `measured`, where there was nothing to measure."""
    remark: str = ""


def main() -> int:
    """The step. Its own exit code is 0 unless there is a defect."""
    inputs: Inputs | None = None
    out, folder = None, Path()
    try:
        folder = out_folder(os.environ)
        inputs = read_inputs(os.environ)
        make_out(folder, inputs.paths, _written(inputs), os.environ)
        out = folder
        measured = _measure(inputs, out)
    except UsageError as error:
        measured = Measured(error.exit_code, (str(error),))
        say(f"Error: {error}")
    except OSError as error:
        measured = Measured(2, (f"Cannot write to {folder}: {error.strerror}. Set out to another folder.",))
        say(f"Error: {measured.problems[0]}")
    for problem in measured.problems:  # each missed gate has an annotation already
        annotate("error", problem)
    _hand_over(measured, inputs, out)
    return 0


def _written(inputs: Inputs) -> list[str]:
    """Names in the folder `out` that this use of the Action writes."""
    compared = [COMPARISON, *([] if _is_run(inputs.baseline) else [BASELINE])] if inputs.baseline else []
    pulled = [PULLED] if inputs.since is not None else []
    return [RUN, REPORT, REPORT_TEXT, COMMENT, *compared, *pulled]


def _is_run(baseline: str) -> bool:
    return (Path(baseline) / MANIFEST).is_file()


def _measure(inputs: Inputs, out: Path) -> Measured:
    remark = ""
    if inputs.since is not None:
        ended, pulled = pull_comments(inputs.since, out / PULLED)
        if pulled is None:
            return Measured(ended.code, (ended.problem or "The comments could not be pulled.",))
        if not pulled.is_empty(inputs.command):
            inputs = inputs.with_pulled(out / PULLED)
        else:
            headline, remark = pulled.headline(inputs), pulled.sentence(inputs)
            say(f"There are {headline}.")
            if not inputs.is_enough:
                gates = ", and no gate was checked" if inputs.is_gated else ""
                return Measured(0, headline=headline, remark=f"{remark}: nothing was measured{gates}.")
    run = out / RUN
    scored = run_metareview(inputs.arguments(inputs.files, run, inputs.gates))
    if not (run / SUMMARY).is_file() or scored.code not in _GRAVEST or scored.code == 2:
        return Measured(scored.code or 2, (scored.problem or f"metareview {inputs.command} made no run.",))
    from metareview.runs.run import load_run  # and with it NumPy

    result = load_run(run).result
    measured = Measured(
        scored.code, figures=scored.section, gated=inputs.is_gated,
        remark=f"{remark}." if remark else "",
    )  # fmt: skip
    if scored.code == GATE_MISSED:
        missed = tuple(gate.sentence for gate in result.build_gates if not gate.passed)
        measured = replace(measured, missed=missed or (scored.problem,))
    elif scored.problem:
        measured = replace(measured, problems=(scored.problem,))
    if inputs.baseline:
        measured = _with_comparison(measured, inputs, out)
    _report(run, out)
    return measured


def _with_comparison(measured: Measured, inputs: Inputs, out: Path) -> Measured:
    arguments, failed = _baseline(inputs, out)
    ended = failed or run_metareview(["compare", "--json", *arguments], into=out / COMPARISON)
    measured = replace(measured, code=_gravest([measured.code, ended.code]), comparison=ended.section)
    if ended.problem and ended.code != GATE_MISSED:
        measured = replace(measured, problems=(*measured.problems, ended.problem))
    if not ended.section or ended.code not in _GRAVEST[1:]:
        return measured
    from metareview.action.against import change_sentence
    from metareview.cli.compare import comparison_of
    from metareview.report.build_gates import missed_losses

    result = comparison_of(arguments)
    say(result.verdict)
    return replace(
        measured,
        missed=(*measured.missed, *(missed_losses(result) if ended.code == GATE_MISSED else [])),
        sentence=change_sentence(result),
    )


def _gravest(codes: Sequence[int]) -> int:
    unforeseen = [code for code in codes if code not in _GRAVEST]
    return unforeseen[0] if unforeseen else next(code for code in _GRAVEST if code in codes)


def _baseline(inputs: Inputs, out: Path) -> tuple[list[str], Ended | None]:
    """The arguments of the comparison, and why there can be none: a run is taken as it is, comments are measured in the
    same way first."""
    before = Path(inputs.baseline)
    if not _is_run(inputs.baseline):
        before = out / BASELINE
        scored = run_metareview(inputs.arguments([inputs.baseline], before))
        if not (before / SUMMARY).is_file() or scored.code not in (0, 4):
            return [], Ended(scored.code or 2, problem=f"The baseline cannot be measured. {scored.problem}")
    return [*inputs.comparison_gates, *inputs.compare_args, "--", str(before), str(out / RUN)], None


def _report(run: Path, out: Path) -> None:
    """Pages to keep. One that cannot be written is a warning: the figures are there."""
    pages = [out / REPORT, out / REPORT_TEXT]
    ended = run_metareview(["report", *(f"--output={page}" for page in pages), "--quiet", "--", str(run)], shown=False)
    if not all(page.is_file() for page in pages):
        annotate("warning", f"there is no report. {ended.problem}")


def _hand_over(measured: Measured, inputs: Inputs | None, out: Path | None) -> None:
    """Outputs of the step: paths of what this process made, and no others. `out` is None where there is no folder."""
    page = page_of(measured, inputs)
    append_page(page.whole)
    found: dict[str, object] = {"run": "", "report": "", "summary-json": ""}
    if out is not None:
        _write_new(out / COMMENT, page.comment)
        run, report = out / RUN, out / REPORT
        if measured.figures and (run / SUMMARY).is_file():
            found = {"run": run, "report": report if report.is_file() else "", "summary-json": run / SUMMARY}
    give_outputs({"exit-code": measured.code, **found, "comment": _private_comment(page.comment) or ""})


def _private_comment(text: str) -> Path | None:
    """The comment for the step that posts it, in a folder of our own: nothing in the workspace takes its place."""
    temp = os.environ.get("RUNNER_TEMP", "")
    try:
        folder = tempfile.mkdtemp(prefix="metareview-", dir=temp if Path(temp).is_dir() else None)
    except OSError as error:
        annotate("warning", f"there is nothing to comment with: {error.strerror}")
        return None
    return _write_new(Path(folder) / COMMENT, text)


def _write_new(file: Path, text: str) -> Path | None:
    """The file, if it was written; it must not be there before."""
    try:
        with file.open("x", encoding="utf-8", errors="replace", newline="\n") as new:
            new.write(text)
    except OSError as error:
        annotate("warning", f"{file} is not written: {error.strerror}")
        return None
    return file
