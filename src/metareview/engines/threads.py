"""How many threads the libraries behind NumPy take: one per process.

Processes are how metareview uses more cores. The products that it asks for are too small to be shared, and threads
that wait for one another take the time of others.
"""

from __future__ import annotations

import os

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""For the environment of a process, before it imports NumPy."""


def use_one_thread() -> None:
    """In this process, unless its environment says otherwise."""
    for variable, value in ONE_THREAD.items():
        os.environ.setdefault(variable, value)
