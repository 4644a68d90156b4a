"""`metareview report`: a run as a page, a table, or test results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from metareview.cli.options import PATH, common_options, gate_options
from metareview.cli.output import Screen


@click.command(epilog="Example: metareview report runs/demo -o report.html -o report.md")
@click.argument("run", type=PATH)
@click.option("-o", "--output", "outputs", required=True, multiple=True, type=PATH, metavar="FILE",
              help=".html, .md, .csv, .json or .xml (JUnit), by suffix. May be given several times.")  # fmt: skip
@gate_options
@common_options
def command(run: Path, outputs: tuple[Path, ...], limits: Mapping[str, tuple[str, ...]], screen: Screen) -> None:
    """Write reports of the finished run in folder RUN. Gates are test cases in .xml, and decide the exit code."""
    from metareview.report import check_path, write_report
    from metareview.report.build_gates import check_gates, check_undecided, parse_gates
    from metareview.runs.run import is_comments, load_run

    stored = load_run(run)
    gates = parse_gates(limits, stored.result.measures)
    targets = [check_path(path) for path in outputs]
    sizes = {target: write_report(stored, target, gates).stat().st_size for target in targets}
    files = [{"file": str(target), "bytes": size} for target, size in sizes.items()]
    document = {"schema": "metareview.report/1", "run": str(run), "files": files}
    screen.show(document, remarks=[f"Wrote {target} ({size:,} bytes)" for target, size in sizes.items()])
    if gates and is_comments(stored):
        check_undecided(stored.result.judge)
    check_gates(stored.metrics, gates)
