"""python -m metareview.action measure|comment"""

from __future__ import annotations

import sys

from metareview.interrupts import at_work, exit_code, leave


def main(arguments: list[str]) -> int:
    if arguments == ["measure"]:
        from metareview.action.measure import main as step
    elif arguments == ["comment"]:
        from metareview.action.comment import main as step
    else:
        print("Error: the steps are measure and comment; action.yml runs them.", file=sys.stderr)
        return 2
    return step()


if __name__ == "__main__":
    with at_work():
        try:
            code = main(sys.argv[1:])
        except KeyboardInterrupt:  # as where somebody cancels the workflow; the command below us says so itself
            code = exit_code()
    leave(code)
