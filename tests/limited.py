"""Commands in a process of their own that may use so much memory and processor time, and no more.

What grows with the square of hostile input fails by a wide margin, however busy the machine: no test asserts a time.
"""

import resource
import subprocess
import sys

GIGABYTE = 1 << 30


def run_limited(*args, folder, memory=4 * GIGABYTE, seconds=30):
    """`metareview` with these arguments in a folder; killed beyond so much address space or processor time."""
    return _run(["-m", "metareview", *map(str, args)], memory, seconds, cwd=folder)


def run_python(code, *, memory=4 * GIGABYTE, seconds=30):
    """What a script prints; it fails beyond so much address space or processor time."""
    ran = _run(["-c", code], memory, seconds)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _run(args, memory, seconds, **options):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    command = [sys.executable, *args]
    return subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False, **options)
