"""Settings that two runs must share for their figures to mean the same, and why the others may differ.

Every field of every configuration that a run stores is declared here; one that is not is compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from metareview.comments.filters import FilterConfig
from metareview.comments.summary import CommentsConfig
from metareview.comparison.judge_parameters import comparable_parameters
from metareview.errors import UsageError
from metareview.outcomes.measures import measured
from metareview.outcomes.summary import OutcomesConfig
from metareview.routing.summary import RoutingConfig
from metareview.runs.files import JsonObject, as_json
from metareview.runs.run import AnyRun, is_outcomes

COMPARED = "decides what a figure means"
_PULL_REQUESTS = "chooses pull requests or comments, and those of both runs are compared"
_COMPETITORS = "chooses or describes the reviewers or routers that are compared"
_INPUTS = "decides how files are read, and the references or the truth of both runs are compared"
_EFFECT = "compared by its effect: locations, or the metrics that both runs have"
_WARNED = "a warning says where labels override the judge on one side only"
_DISPLAY = "adds figures that are not compared"
UNIT = "decides what intervals and tests are over, and a comparison takes one unit for both"


def _declared(*groups: tuple[str, str]) -> dict[str, str]:
    return {name: why for names, why in groups for name in names.split()}


SETTINGS: Mapping[type, Mapping[str, str]] = {
    CommentsConfig: _declared(
        ("judge judge_parameters threshold line_distance alignment location filters", COMPARED),
        ("ignore_location negatives", _EFFECT),
        ("all_prs limit seed", _PULL_REQUESTS),
        ("name reviewer repeat", _COMPETITORS),
        ("format reference_format reference_reviewer pr", _INPUTS),
        ("unit", UNIT),
    ),
    FilterConfig: _declared(
        ("comment_categories comment_contexts severities excluded_producers", COMPARED),
        ("pr_categories project_languages", _PULL_REQUESTS),
    ),
    OutcomesConfig: _declared(
        ("judge judge_parameters", COMPARED),
        ("labels", _WARNED),
        ("since", _PULL_REQUESTS),
        ("name reviewer", _COMPETITORS),
        ("format pr", _INPUTS),
        ("by", _DISPLAY),
    ),
    RoutingConfig: _declared(
        ("cutoff truth truth_window truth_sources include_bots include_author k reviews_visible_at", COMPARED),
        ("since until repos prs limit", _PULL_REQUESTS),
        ("routers router_config codeowners", _COMPETITORS),
        ("merged_within ttfc", _DISPLAY),
    ),
}
"""By configuration and field: COMPARED, or why two runs with other values can still be compared."""
_UNASKED = measured(addressed=False)
_SAME_KIND = ", made by metareview outcomes both or by metareview comments both"


def check_settings(runs: Iterable[AnyRun]) -> None:
    """UsageError where two figures would not mean the same: another kind of run, judge, distance, filter, cutoff."""
    every = list(runs)
    check_kinds(every)
    # Where nobody was asked what was addressed, outcomes have no figure that a judge could change.
    asked = [run for run in every if not is_outcomes(run) or run.result.measures != _UNASKED]
    for first, other in ((asked[0], other) for other in asked[1:]):
        ours, theirs = (as_json(_comparable(run.result.config)) for run in (first, other))
        differing = [
            f"{name.replace('_', ' ')} {_shown(ours[name])} and {_shown(theirs[name])}"
            for name in sorted(ours)
            if _normal(ours[name]) != _normal(theirs[name])
        ]
        if differing:
            raise UsageError(
                f"{first.label} and {other.label} cannot be compared, their settings differ: "
                f"{'; '.join(differing)}. Evaluate both with the same options."
            )


def check_kinds(runs: Sequence[AnyRun]) -> None:
    """UsageError where these are not all of one kind."""
    first, *others = runs
    for other in others:
        if other.kind is not first.kind:
            raise UsageError(
                f"{first.label} is a run of {first.kind.name} and {other.label} one of {other.kind.name}."
                f" Compare runs of one kind{_SAME_KIND if is_outcomes(first) or is_outcomes(other) else ''}."
            )


def _comparable(config: Any) -> JsonObject:
    """The settings that must be equal, those of a configuration within it included."""
    found: JsonObject = {}
    for each in fields(config):
        value = getattr(config, each.name)
        if type(value) in SETTINGS:
            found |= _comparable(value)
        elif SETTINGS[type(config)].get(each.name, COMPARED) == COMPARED:
            found[each.name] = comparable_parameters(value) if each.name == "judge_parameters" else value
    return found


def _normal(value: object) -> object:
    """A list chooses values, so neither its order nor their case matters."""
    return {str(each).casefold() for each in value} if isinstance(value, list) else value


def _shown(value: object) -> str:
    return "none" if value in (None, []) else json.dumps(value, ensure_ascii=False)
