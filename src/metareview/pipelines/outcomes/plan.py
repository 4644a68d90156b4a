"""Plan: whose comments will be followed, and who is asked whether they were addressed. Nothing is asked yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from metareview.collector import garbage_collection_paused
from metareview.judges.remote.addressed import AddressedModel
from metareview.model.time import instant
from metareview.model.words import plural
from metareview.outcomes.later import LENGTH
from metareview.outcomes.records import OutcomeRecord
from metareview.outcomes.summary import OutcomesConfig
from metareview.pipelines.outcomes.answer import Answers
from metareview.pipelines.outcomes.follow import KEPT_CHANGE, follow
from metareview.pipelines.outcomes.options import OutcomesOptions
from metareview.pipelines.outcomes.read import OutcomeInputs, is_review, read
from metareview.runs.kind import Key


@dataclass
class Plan:
    """What will be followed, and everything that must be said about how it was found."""

    options: OutcomesOptions
    config: OutcomesConfig
    inputs: OutcomeInputs
    answers: Answers
    followed: int = 0
    """Pull requests so far."""

    @cached_property
    def pull_requests(self) -> int:
        """Those on which somebody who was chosen has reviewed."""
        return sum(
            any(is_review(review, each) and (review.reviewer or "") in self.options.chosen for review in each.reviews)
            for each in self.inputs.conversations
        )

    @property
    def judge(self) -> AddressedModel | None:
        return self.answers.judge

    @property
    def hashes(self) -> Mapping[str, str]:
        return {**self.inputs.hashes, **self.answers.hashes}

    def records(self, done: Mapping[Key, OutcomeRecord]) -> Iterator[list[OutcomeRecord]]:
        """All records in the order of the input, many at a time; those that are `done` as they are."""
        for records in self._followed():
            missing = iter(self.answers.to([record for record in records if record.key not in done]))
            self.followed = len({record.pr for record in records}) + self.followed
            whole = [done[record.key] if record.key in done else next(missing) for record in records]
            self.answers.count(whole)
            yield whole

    def _followed(self) -> Iterator[list[OutcomeRecord]]:
        options, inputs = self.options, self.inputs
        return follow(
            inputs.conversations,
            options.chosen,
            has_threads=inputs.has_threads,
            since=options.since,
            change_length=KEPT_CHANGE if self.judge is None else LENGTH,
        )

    def model_calls(self) -> tuple[int, int]:
        """How many comments there are, and how many of them a model would be asked about, after the cache."""
        comments = calls = 0
        for records in self._followed():
            comments += sum(len(record.comments) for record in records)
            calls += self.answers.planned_calls(records)
        return comments, calls

    def remarks(self) -> list[str]:
        """What the reader of the figures should know of who decided, and of what was left out."""
        return [*self.answers.remarks(), *self._without_time()]

    def _without_time(self) -> Iterator[str]:
        if self.options.since is None:
            return
        without = sum(
            comment.counted and instant(comment.at) is None
            for conversation in self.inputs.conversations
            for review in conversation.reviews
            if is_review(review, conversation) and (review.reviewer or "") in self.options.chosen
            for comment in review.comments
        )
        if without:
            yield f"{plural(without, 'comment')} without a time: left out, since nobody can tell when"


@contextmanager
def open_plan(options: OutcomesOptions) -> Iterator[Plan]:
    """The plan, with the judge open for as long as it is used."""
    with Answers.opened(options) as answers:
        with garbage_collection_paused():
            inputs = read(options)
        config = OutcomesConfig(
            judge=options.judge,
            judge_parameters={} if answers.judge is None else dict(answers.judge.parameters),
            labels=options.labels is not None,
            reviewer=tuple(options.chosen.patterns),
            since=options.since,
            by=tuple(options.by),
            name=options.name,
            format=options.format,
            pr=options.pr,
        )
        yield Plan(options, config, inputs, answers)
