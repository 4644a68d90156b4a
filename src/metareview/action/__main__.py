"""python -m metareview.action measure|comment"""

from __future__ import annotations

import sys


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
    sys.exit(main(sys.argv[1:]))
