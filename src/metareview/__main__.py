"""`python -m metareview`, and the installed command."""

import os
import sys


def _leave_working_folder() -> None:
    """Take the working folder off `sys.path`, where `python -m` puts it first; unless metareview itself is there."""
    try:
        folder = os.getcwd()  # noqa: PTH109  # pathlib is not loaded yet, and could be found in that folder
    except FileNotFoundError:  # It was deleted, and Python has not put it there.
        return
    home = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    if not sys.flags.safe_path and sys.path[:1] == [folder] and folder != home:
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_folder()  # before anything is imported that this process has not loaded yet

from metareview.interrupts import end_at_once  # noqa: E402

end_at_once()  # before anything is imported that takes time

from metareview.cli import main  # noqa: E402

__all__ = ["main"]

if __name__ == "__main__":
    main()
