"""The options of a run of outcomes: checked once, passed whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from metareview.errors import UsageError, did_you_mean
from metareview.formats.reader import Paths, Records
from metareview.judges.registry import JudgeOptions
from metareview.model.selection import Selection
from metareview.model.time import parse_time
from metareview.outcomes.summary import DIMENSIONS

JUDGES = ("none", "llm", "cascade")


class OutcomesKeywords(TypedDict, total=False):
    """The options as keywords of `evaluate_outcomes` and of the command; `OutcomesOptions` says what each means."""

    judge: str
    labels: str | Path | None
    reviewer: str | Sequence[str]
    since: str | None
    by: str | Sequence[str]
    format: str | None
    name: str | None
    pr: str | None
    strict: bool
    concurrency: int
    cache: str | Path | None
    max_llm_calls: int | None


@dataclass(frozen=True)
class OutcomesOptions:
    """Whose comments to look at, and how. UsageError for a value that means nothing."""

    files: Paths | Records
    """Files, folders, or records in memory."""
    judge: str = "none"
    """Who decides whether a comment was addressed: none, llm, or cascade, which spares the model where
    the lines did not change."""
    labels: str | Path | None = None
    """People's verdicts, which override the judge's."""
    reviewer: str | Sequence[str] = ()
    """Whose comments, by name or pattern; `!` excludes."""
    since: str | None = None
    """Only comments that were made from then on."""
    by: str | Sequence[str] = ()
    """Slices: severity, category, path, week."""
    format: str | None = None
    name: str | None = None
    """The reviewer's, where the input has none."""
    pr: str | None = None
    """The pull request, for files that do not say which one they are about."""
    strict: bool = False
    """Whether a field of a comment that cannot be read ends the run; else it is left out, with a warning."""
    concurrency: int = 16
    """Requests at once, for judges that ask a model."""
    cache: str | Path | None = None
    max_llm_calls: int | None = None

    def __post_init__(self) -> None:
        if self.judge not in JUDGES:
            raise UsageError(
                f"--judge {self.judge!r} cannot say what was addressed.{did_you_mean(self.judge, JUDGES)}"
                f" Give one of {', '.join(JUDGES)}."
            )
        slices = (self.by,) if isinstance(self.by, str) else tuple(dict.fromkeys(self.by))
        for each in slices:
            if each not in DIMENSIONS:
                meant = did_you_mean(each, DIMENSIONS)
                raise UsageError(f"--by {each!r} is not known.{meant} Give one of {', '.join(DIMENSIONS)}.")
        object.__setattr__(self, "by", slices)
        object.__setattr__(self, "reviewer", self.chosen.patterns)
        if self.since is not None:
            try:
                parse_time(self.since)
            except ValueError as error:
                raise UsageError(f"--since {self.since!r}: {error}. Give a day such as 2026-01-31.") from None

    @property
    def chosen(self) -> Selection:
        """Whose comments are looked at."""
        return Selection(self.reviewer, "--reviewer")

    def judge_options(self) -> JudgeOptions:
        return JudgeOptions(
            concurrency=self.concurrency,
            cache=None if self.cache is None else Path(self.cache),
            max_llm_calls=self.max_llm_calls,
        )
