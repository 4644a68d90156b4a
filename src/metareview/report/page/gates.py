"""The gates of a build, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.model.build_gates import GateResult
from metareview.model.words import plural
from metareview.report.numbers import rate
from metareview.report.page.blocks import Cells, Section, name, paragraph, table_of, tag
from metareview.report.page.markup import join


def gates_section(results: Sequence[GateResult]) -> Section | None:
    """None for a run that was held to none."""
    if not results:
        return None
    missed = sum(not result.passed for result in results)
    said = f"{plural(missed, 'gate')} of {len(results)} missed." if missed else f"All {len(results)} passed."
    columns: list[Cells] = [
        ("For", "name", [name(result.name) for result in results]),
        ("Gate", "", [f"{result.metric} {result.demand}" for result in results]),
        ("Found", "num", [rate(result.value) for result in results]),
        ("Result", "", [tag("pass", "good") if result.passed else tag("missed", "bad") for result in results]),
    ]
    return Section("build-gates", "Gates of the build", join([paragraph(said), table_of("Gates", columns)]))
