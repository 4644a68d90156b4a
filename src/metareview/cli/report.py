"""`metareview report`: a run as a page, a table, or test results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from metareview.cli.options import PATH, Limits, Paths, common_options, gate_options, metric_names
from metareview.cli.output import Screen


@click.command(epilog="Example: metareview report runs/demo -o report.html -o report.md")
@click.argument("run", type=PATH)
@click.option("-o", "--output", "outputs", required=True, multiple=True, type=PATH, metavar="FILE",
              help=".html, .md, .csv, .json or .xml (JUnit), by suffix. May be given several times.")  # fmt: skip
@gate_options(metric_names)
@common_options
def command(run: Path, outputs: Paths, limits: Limits, screen: Screen) -> None:
    """Write reports of the finished run in folder RUN. They show the gates that are given here, or else those that
    the run was made with; gates that are given here decide the exit code."""
    from metareview.model.build_gates import check_gates, gate_results, parse_gates
    from metareview.report import check_path, write_report
    from metareview.report.build_gates import check_undecided, gate_lines
    from metareview.runs.run import is_comments, is_outcomes, load_run

    stored = load_run(run)
    results = gate_results(parse_gates(limits, stored.result.measures), stored.metrics)
    shown = replace(stored, result=stored.result.with_gates(results)) if results else stored
    targets = [check_path(path) for path in outputs]
    sizes = {target: write_report(shown, target).stat().st_size for target in targets}
    files = [{"file": str(target), "bytes": size} for target, size in sizes.items()]
    document = {"schema": "metareview.report/1", "run": str(run), "files": files}
    written = [f"Wrote {target} ({size:,} bytes)" for target, size in sizes.items()]
    screen.show(document, *gate_lines(results), remarks=written)
    if results and is_comments(stored):
        check_undecided(stored.result.judge)
    if results and is_outcomes(stored) and stored.result.judge is not None:
        check_undecided(stored.result.judge, "comment")
    check_gates(results)
