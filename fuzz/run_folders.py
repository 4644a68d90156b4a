"""Changes the files of finished runs at random, and reads them in every way there is, by hand:

    PYTHONPATH=src python fuzz/run_folders.py --minutes 60 --seed 1

Runs of every kind are made small, one file of one is cut, flipped, emptied, replaced or changed as JSON, and mostly
sealed again, so that its content is reached and not only its hash. Every command that reads a run, Python's names and
the viewer's pages may then answer or refuse with an error of ours. Anything else is a finding, printed with the number
of the change, which `--only N` repeats with its traceback.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from mutated_runs import READERS, findings, make_runs, mutate


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--readers", type=int, default=len(READERS), help="of each change, chosen at random")
    parser.add_argument("--only", type=int, metavar="N", help="repeat change N, and show the tracebacks")
    options = parser.parse_args()
    end, found, number = time.monotonic() + 60 * options.minutes, 0, 0
    with tempfile.TemporaryDirectory(prefix="runs-") as name:
        runs = make_runs(Path(name))
        if options.only is not None:
            repeat(runs, random.Random(f"{options.seed} {options.only}"))
            return 0
        for number in count():
            if time.monotonic() > end:
                break
            for each in findings(runs, random.Random(f"{options.seed} {number}"), 1, options.readers):
                found += 1
                print(f"{number}: {each.run}, {each.change}, {each.reader}: {each.error}", flush=True)
    print(f"{number} changes, {found} findings")
    return 1 if found else 0


def repeat(runs, rng):
    import traceback

    with tempfile.TemporaryDirectory(prefix="mutated-") as scratch:
        source = rng.choice(runs)
        run = Path(shutil.copytree(source, Path(scratch) / "run"))
        shutil.copytree(source, Path(scratch) / "sound")
        print(source.name, mutate(run, rng))
        for name, read in READERS.items():
            try:
                read(run)
            except Exception:
                print(f"--- {name}")
                traceback.print_exc()


if __name__ == "__main__":
    raise SystemExit(main())
