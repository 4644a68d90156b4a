"""`python -m metareview`, and the installed command."""

from metareview.interrupts import end_at_once

end_at_once()  # before anything is imported that takes time

from metareview.cli import main  # noqa: E402

__all__ = ["main"]

if __name__ == "__main__":
    main()
