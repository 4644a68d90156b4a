"""What will be judged: inputs read and checked, pull requests found, pairs chosen by place. Nothing is asked yet."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from metareview.comments.align import MODES, Mode
from metareview.comments.case import FREE_REACH, Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.errors import InputError, UsageError
from metareview.formats.pull_requests import PullRequestIndex, Skipped
from metareview.formats.registry import Paths, read_inputs, read_reference_set, several
from metareview.judges.protocol import LONG_NOTE, Judge
from metareview.judges.registry import DEFAULT_JUDGE, JudgeOptions, make_judge
from metareview.model.comment import ReferenceSet, Review, merged


@dataclass(frozen=True)
class Plan:
    """What will be judged: the cases, and everything that must be said about how they were found."""

    cases: list[Case]
    rules: Rules
    judge: Judge
    config: dict[str, Any]
    inputs: dict[str, str]
    warnings: list[str]
    skipped: list[Skipped]

    @property
    def pull_requests(self) -> int:
        return len({case.pr for case in self.cases if not case.skipped})

    @property
    def pairs(self) -> int:
        return sum(int(case.eligible(case.candidates).sum()) for case in self.cases)

    def model_calls(self) -> int:
        """How many pairs of notes a model would be asked about, after the cache; with negatives, at the most."""
        count = getattr(self.judge, "planned_calls", None)
        if count is None:
            return 0
        questions = [case.question() for case in self.cases]
        nothing = [case.unjudged_negative_question() for case in self.cases]
        return int(count([*questions, *nothing]))

    @property
    def negative_pairs(self) -> int:
        """At the most: comments that a reference explains are not compared with negatives."""
        return sum(int(case.eligible(case.negative_candidates).sum()) for case in self.cases)


def plan_comments(
    generated: str | Path,
    *,
    reference: Paths,
    negatives: Paths = (),
    judge: str | Judge = DEFAULT_JUDGE,
    threshold: float | None = None,
    line_distance: int = 1,
    alignment: str = "optimal",
    ignore_location: bool = False,
    format: str | None = None,
    reference_format: str | None = None,
    filters: FilterConfig | None = None,
    all_prs: bool = False,
    name: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    judge_options: JudgeOptions | None = None,
) -> Plan:
    """Read everything and find the pairs; nothing is judged and nothing is written."""
    filters = filters or FilterConfig()
    mode = _mode(alignment)
    if isinstance(judge, str):
        options = replace(judge_options or JudgeOptions(), one_to_one=mode != "coverage")
        chosen = make_judge(judge, threshold, options)
    else:
        chosen = judge
    if line_distance < 0:
        raise UsageError(f"--line-distance must be 0 or more, found {line_distance}.")
    if seed < 0:
        raise UsageError(f"--seed must be 0 or more, found {seed}.")
    if limit is not None and limit < 1:
        raise UsageError(f"--limit must be 1 or more, found {limit}.")
    benchmark, hashes = read_reference_set(reference, negatives, format_name=reference_format)
    filters.check(benchmark)
    place = benchmark.has_locations and not ignore_location
    if chosen.name == "none" and not place:
        why = "--ignore-location leaves it nothing" if ignore_location else "no reference has a path"
        raise UsageError(f"The judge none goes by place alone, and {why}. Choose another --judge.")
    rules = Rules(
        line_distance=line_distance,
        reach=FREE_REACH if chosen.free else 0,
        alignment=mode,
        place=place,
        meaning=chosen.name != "none",
        filters=filters,
        negatives=bool(several(negatives)),
    )
    inputs = read_inputs(generated, format_name=format, reviewer=name)
    reviews, skipped = _located(inputs.reviews, benchmark)
    skipped = inputs.skipped + skipped
    if not reviews:
        reason = skipped[0].reason if skipped else "it holds no reviews"
        raise InputError(
            f"no pull request is left to score: {reason}",
            file=generated,
            fix="Check that --reference is the benchmark that these comments were written for.",
        )
    if all_prs:
        reviews = _with_silence(reviews, benchmark)
    cases = [
        Case(reviewer, said, benchmark.references[key], benchmark.negatives.get(key), rules)
        for (key, reviewer), said in reviews.items()
    ]
    cases = _sample(cases, limit, seed)
    if all(case.skipped for case in cases):
        raise UsageError("The filters leave no pull request. Loosen --language or --pr-category.")
    config = {
        "judge": chosen.name,
        "judge_parameters": getattr(chosen, "parameters", {}),
        "threshold": getattr(chosen, "threshold", None),
        "line_distance": line_distance,
        "alignment": mode,
        "ignore_location": ignore_location,
        "place": place,
        "filters": filters.to_dict(),
        "all_prs": all_prs,
        "name": name,
        "format": format,
        "reference_format": reference_format,
        "limit": limit,
        "seed": seed,
        "negatives": rules.negatives,
    }
    warnings = dict.fromkeys([*benchmark.warnings, *inputs.warnings, *_note_warnings(reviews, benchmark)])
    named = {**hashes, **{f"generated/{file}": value for file, value in inputs.hashes.items()}}
    return Plan(cases, rules, chosen, config, named, list(warnings), skipped)


def _mode(name: str) -> Mode:
    for mode in MODES:
        if mode == name:
            return mode
    raise UsageError(f"Unknown alignment {name!r}. Valid: {', '.join(MODES)}.")


def _located(
    reviews: Iterable[Review], benchmark: ReferenceSet
) -> tuple[dict[tuple[str, str], Review], list[Skipped]]:
    """Reviews by (pull request of the reference set, reviewer), and those that name none."""
    index = PullRequestIndex({key: review.pr for key, review in benchmark.references.items()})
    found: list[Review] = []
    skipped: list[Skipped] = []
    for review in reviews:
        key = index.find(review)
        if isinstance(key, Skipped):
            skipped.append(key)
        else:
            found.append(replace(review, pr=benchmark.references[key].pr))
    return {(key, reviewer or ""): review for (key, reviewer), review in merged(found).items()}, skipped


def _with_silence(
    reviews: dict[tuple[str, str], Review], benchmark: ReferenceSet
) -> dict[tuple[str, str], Review]:
    """Every reviewer on every pull request: what it has no file for is its silence."""
    reviewers = dict.fromkeys(reviewer for _, reviewer in reviews)
    silent = {
        (key, reviewer): Review(reference.pr, reviewer=reviewer)
        for reviewer in reviewers
        for key, reference in benchmark.references.items()
    }
    return {place: reviews.get(place, silence) for place, silence in silent.items()}


def _sample(cases: list[Case], limit: int | None, seed: int) -> list[Case]:
    """Of the pull requests that pass the filters, those whose hash with the seed is smallest: the same ones whatever
    the order, and a smaller sample is part of a larger one."""
    if limit is None:
        return cases
    keys = {case.reference_review.key for case in cases if not case.skipped}
    chosen = set(sorted(keys, key=lambda key: hashlib.sha256(f"{seed}\0{key}".encode()).digest())[:limit])
    return [case for case in cases if case.skipped or case.reference_review.key in chosen]


def _note_warnings(reviews: Mapping[tuple[str, str], Review], benchmark: ReferenceSet) -> Iterator[str]:
    everything: Iterable[tuple[str, Review]] = [
        *((f"{review.reviewer} on {key}", review) for (key, _), review in reviews.items()),
        *((f"the references of {key}", review) for key, review in benchmark.references.items()),
        *((f"the negatives of {key}", review) for key, review in benchmark.negatives.items()),
    ]
    for owner, review in everything:
        empty = sum(not comment.counted for comment in review.comments)
        if empty:
            yield f"{empty} comments without a note are not counted: {owner}"
        for position, comment in enumerate(review.comments):
            if len(comment.note) > LONG_NOTE:
                yield (
                    f"a note of {len(comment.note):,} characters is judged on its first 20,000: "
                    f"comment {position} of {owner}"
                )
