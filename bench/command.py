"""What `python -m bench` does with its arguments."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from rich.console import Console
from rich.table import Table

from bench import GROWTH, SPEED, TRUTH, page
from bench.check import Checked, State, check
from bench.measure import Result
from bench.record import LATEST, read, recorded_now, rounded, write

GROUPS = {"speed": SPEED, "truth": TRUTH}


def main(arguments: Sequence[str]) -> int:
    """The exit code: 1 where a checked ratio fell."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks, with ratios against peers.")
    known = ", ".join((*GROUPS, *SPEED, *TRUTH, *GROWTH))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {known}; by default speed")
    parser.add_argument("--check", action="store_true", help="compare ratios with those in bench/latest.json")
    parser.add_argument(
        "--chart", action="store_true", help="only draw docs/bench.svg, docs/speed.md and docs/scale.md anew"
    )
    parser.add_argument("--no-record", action="store_true", help="leave bench/latest.json and the docs alone")
    given = parser.parse_args(arguments)
    unknown = sorted({*given.names} - {*GROUPS, *SPEED, *TRUTH, *GROWTH})
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}. There are {known}.")
    names = [each for name in given.names or ["speed"] for each in GROUPS.get(name, (name,))]
    if given.chart:
        page.write(read())
        return 0
    return _checked(names) if given.check else _measured(names, keep=not given.no_record)


def _measured(names: Sequence[str], *, keep: bool) -> int:
    console = Console(width=None if sys.stdout.isatty() else 120)
    for name in names:
        began = time.perf_counter()
        result = import_module(f"bench.{name}").run()
        result = Result(result.title, [rounded(row) for row in result.rows], result.data)
        taken = time.perf_counter() - began
        console.print(_table(result))
        console.print(f"[dim]{name}: {taken:.0f} s, data: {result.data}[/dim]\n", highlight=False)
        if keep:  # After each, so that one that fails costs nothing but itself.
            write({**read(), name: recorded_now(result, taken)})
    if keep:
        page.write(read())
        console.print(
            f"Recorded in {LATEST.parent.name}/{LATEST.name}; drawn in docs/speed.md, docs/scale.md and docs/bench.svg."
        )
    return 0


def _table(result: Result) -> Table:
    table = Table("what", "value", "unit", "target", "met", title=result.title, title_justify="left")
    for row in result.rows:
        met = {True: "yes", False: "NO", None: ""}[row.met]
        table.add_row(row.name, row.told, row.unit, row.target or "", met)
    return table


def _checked(names: Sequence[str]) -> int:
    recorded = read()
    fell: list[Checked] = []
    for name in names:
        module: ModuleType = import_module(f"bench.{name}")
        if not hasattr(module, "ratios"):
            continue
        print(name, flush=True)
        part = recorded.get(name)
        for each in check(part.result if part else None, module.ratios):
            print(each, flush=True)
            if each.state is State.FELL:
                fell.append(each)
    if fell:
        print(f"\n{len(fell)} ratio(s) fell more than 20 % below what {LATEST.parent.name}/{LATEST.name} has.")
        return 1
    print("\nNo ratio fell.")
    return 0
