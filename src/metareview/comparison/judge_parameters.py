"""Differences between the judges of runs that are compared: examples that they learned from, servers that answered.

Figures with examples and without differ for that reason alone, so runs with other examples are refused unless the user
wants them mixed. The same model may well be served at two addresses, so that is a warning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metareview.errors import UsageError
from metareview.runs.run import AnyRun, is_comments, is_outcomes

SERVER = "server"
"""What the address of a model's server is called among the parameters of a judge."""
EXAMPLES = "examples"
"""What the digest of the examples is called among the parameters of a judge."""
MIXED = "The judges learned from different examples."
"""Stands with every answer that such runs give."""
_SHOWN_DIGITS, _SHOWN_RUNS = 12, 3


def comparable_parameters(parameters: Mapping[str, object]) -> dict[str, object]:
    """The parameters that must be equal; the others have checks of their own."""
    return {name: value for name, value in parameters.items() if name not in (EXAMPLES, SERVER)}


def mixed_servers(runs: Sequence[AnyRun]) -> list[str]:
    """A warning where the verdicts of these runs come from different servers."""
    by_server: dict[str, list[str]] = {}
    for run in runs:
        has_judge = is_comments(run) or is_outcomes(run)
        server = run.result.config.judge_parameters.get(SERVER) if has_judge else None
        if server is not None:
            names = by_server.setdefault(str(server), [])
            names += [run.label] if run.label not in names else []
    if len(by_server) < 2:
        return []
    sides = "; ".join(f"{server} in {_listed(names)}" for server, names in by_server.items())
    return [f"the verdicts come from different servers, which may not serve the same model: {sides}"]


def mixed_examples(runs: Sequence[AnyRun], *, allowed: bool) -> list[str]:
    """A warning where the judges of these runs had different examples; UsageError unless that is allowed."""
    by_digest: dict[str | None, list[str]] = {}
    for run in runs:
        digest = run.result.config.judge_parameters.get(EXAMPLES) if is_comments(run) else None
        names = by_digest.setdefault(None if digest is None else str(digest), [])
        names += [run.label] if run.label not in names else []
    if len(by_digest) < 2:
        return []
    if not allowed:
        (ours, [first, *_]), (theirs, [other, *_]) = list(by_digest.items())[:2]
        raise UsageError(
            f"{first} and {other} cannot be compared, their judges learned from different examples:"
            f" {_shown(ours)} and {_shown(theirs)}. Evaluate both with the same --examples."
            " --mixed-examples goes on all the same."
        )
    sides = "; ".join(f"{_shown(digest)} in {_listed(names)}" for digest, names in by_digest.items())
    return [f"the judges learned from different examples, which alone can make a difference: {sides}"]


def _shown(digest: str | None) -> str:
    return "none" if digest is None else digest[:_SHOWN_DIGITS]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_RUNS
    return ", ".join(names[:_SHOWN_RUNS]) + (f" and {more} more" if more > 0 else "")
