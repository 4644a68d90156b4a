"""`make bench`: every benchmark, as tables and then as one JSON document.

Name some to run only these: python -m bench rouge location
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

# One core means one: a second thread of the matrix library would only be counted as more processor time.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))


def main(wanted: list[str]) -> None:
    unknown = set(wanted) - set(NAMES)
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(sorted(unknown))}. There are {', '.join(NAMES)}.")
    console = Console(width=None if sys.stdout.isatty() else 120)
    results = {}
    for name in wanted or NAMES:
        result = import_module(f"bench.{name}").run()
        results[name] = result
        table = Table("what", "value", "unit", "target", "met", title=result["title"], title_justify="left")
        for row in result["rows"]:
            met = {True: "yes", False: "NO", None: ""}[row.get("met")]
            value = row["value"] if isinstance(row["value"], str) else f"{row['value']:,.6g}"
            table.add_row(row["what"], value, row["unit"], str(row.get("target") or ""), met)
        console.print(table)
    print(json.dumps(results))


main(sys.argv[1:])
