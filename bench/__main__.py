"""`python -m bench`: every speed benchmark as tables, and into bench/latest.json, docs/speed.md and docs/bench.svg.

python -m bench rouge ranks     these alone; the rest of latest.json stays as it is
python -m bench truth           the simulations, which say how far figures are off, not how fast they come
python -m bench --check [NAME]  whether a ratio fell more than 20 % below the recorded one: exit code 1
python -m bench --chart         draws the chart and the tables of docs/speed.md anew from latest.json
"""

import os

# One core means one: a second thread of a library would only be counted as more processor time. Said before
# anything imports one.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

if __name__ == "__main__":
    import sys

    from bench.command import main

    sys.exit(main(sys.argv[1:]))
