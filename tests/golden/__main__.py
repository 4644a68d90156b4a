"""`python -m golden`: compare a checkout with what is expected, write that anew, or dump what to diff."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from golden.expected import EXPECTED, differences, read_expected, write_expected
from golden.workspace import NAMES, SHARED, Outcome, Workspace, needs_shared


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m golden", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {EXPECTED.name}")
    parser.add_argument("--dump", type=Path, metavar="FOLDER", help="keep the normalised files there")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=NAMES, help="these commands alone")
    parser.add_argument("--data", type=Path, default=SHARED, help="the published data  [%(default)s]")
    options = parser.parse_args()
    here = options.data.is_dir()
    if options.write and (options.only or not here):
        parser.error(f"--write needs all commands and the published data ({options.data})")
    names = [name for name in options.only or NAMES if here or not needs_shared(name)]
    outcomes = _outcomes(names, options.data, options.dump)
    if options.write:
        write_expected(outcomes)
    expected = read_expected()
    different = [line for name, outcome in outcomes.items() for line in differences(name, outcome, expected)]
    print("\n".join(different) or f"{len(outcomes)} of {len(NAMES)} commands ran; all give what is expected.")
    return 1 if different else 0


def _outcomes(names: Sequence[str], shared: Path, dump: Path | None) -> dict[str, Outcome]:
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder), shared) as workspace:
        for name in names:
            started = time.perf_counter()
            outcomes[name] = workspace.outcome(name)
            print(f"{time.perf_counter() - started:6.2f} s  {name}", file=sys.stderr)
        if dump:
            shutil.copytree(workspace.normal, dump, dirs_exist_ok=True)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
