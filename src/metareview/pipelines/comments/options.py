"""The options of a comment evaluation: checked once, passed whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from metareview.comments.align import MODES, Mode
from metareview.comments.filters import FilterConfig
from metareview.comments.units import PULL_REQUEST, check_unit
from metareview.engines.choice import LOCAL, check_engine
from metareview.errors import UsageError, did_you_mean
from metareview.formats.reader import Given, Paths, Records
from metareview.judges.examples import Examples
from metareview.judges.protocol import Judge
from metareview.judges.registry import DEFAULT_JUDGE, LEARNING_JUDGES, VERDICTS, JudgeOptions
from metareview.model.selection import Selection
from metareview.pipelines import datasets
from metareview.sources.datasets import FileProgress


class CommentsKeywords(TypedDict, total=False):
    """The options as keywords of `evaluate_comments` and of the command; `CommentsOptions` says what each means."""

    negatives: Paths | Records
    judge: str | Judge
    threshold: float | None
    verdicts: str | Path | None
    labels: str | Path | None
    examples: Paths
    line_distance: int
    alignment: str
    ignore_location: bool
    format: str | None
    reference_format: str | None
    filters: FilterConfig | None
    all_prs: bool
    repeat: bool
    reviewer: str | Sequence[str]
    reference_reviewer: str | Sequence[str]
    force: bool
    strict: bool
    name: str | None
    pr: str | None
    unit: str
    limit: int | None
    seed: int
    concurrency: int
    engine: str
    workers: int | None
    spark_master: str | None
    cache: str | Path | None
    max_llm_calls: int | None
    ask: str | None
    cascade: str | None
    cascade_low: float | None
    cascade_high: float | None


@dataclass(frozen=True)
class CommentsOptions:
    """What to score, against what, and how. UsageError for a value that means nothing."""

    generated: Given
    """A file, a folder with one subfolder per reviewer, a data set's name, or records in memory."""
    reference: Paths | Records
    """Files, names of data sets, or records in memory; so too `negatives`."""
    negatives: Paths | Records = ()
    judge: str | Judge = DEFAULT_JUDGE
    """A name, `package.module:factory`, or a judge."""
    threshold: float | None = None
    """Replaces the judge's own."""
    verdicts: str | Path | None = None
    """Stored verdicts as the judge: a run's pairs.jsonl, labels, or Martian's evaluations.json."""
    labels: str | Path | None = None
    """People's verdicts, which override the judge's."""
    examples: Paths = ()
    """Files of known verdicts on the same references, which `offline` and `cascade` learn from for this run."""
    line_distance: int = 1
    """The greatest gap between line ranges; 0: they must overlap."""
    alignment: str = "optimal"
    ignore_location: bool = False
    format: str | None = None
    """Of `generated`; found by content unless named, as is `reference_format`."""
    reference_format: str | None = None
    filters: FilterConfig | None = field(default_factory=FilterConfig)
    all_prs: bool = False
    """Whether pull requests that a reviewer has no file for count as silence."""
    repeat: bool = False
    """Whether several runs of a reviewer are one: subfolders `run-1`, `run-2` … of its folder, or `run` in records."""
    reviewer: str | Sequence[str] = ()
    """Who is scored, by name or pattern; `!` excludes."""
    reference_reviewer: str | Sequence[str] = ()
    """Whose comments are the references, where files name several people."""
    force: bool = False
    """Go on, with a warning, where the input looks like a mistake."""
    strict: bool = False
    """Whether a field of a comment that cannot be read ends the run; else it is left out, with a warning."""
    name: str | None = None
    """The reviewer's, where the input has none."""
    pr: str | None = None
    """The pull request, for files that do not say which one they are about."""
    unit: str = PULL_REQUEST
    """What intervals and tests are over: `pr`, or `repository`, because pull requests of one resemble each other."""
    limit: int | None = None
    """Score a sample of so many pull requests, always the same for a seed."""
    seed: int = 0
    concurrency: int = 16
    """Requests at once, for judges that ask a model."""
    engine: str = LOCAL
    """`local`: this machine; `spark`: a cluster, which a judge that asks a model does without."""
    workers: int | None = None
    """Processes that score; None: one per core, or this one alone where others would not pay."""
    spark_master: str | None = None
    """Where the cluster is; None: the session that this process has."""
    cache: str | Path | None = None
    max_llm_calls: int | None = None
    ask: str | None = None
    """What one question to a chat model holds: `pair` or `review`; None for the judge's own."""
    cascade: str | None = None
    """How much `cascade` asks: `careful` or `frugal`."""
    cascade_low: float | None = None
    """The offline scores between which `cascade` asks its model; None for its own."""
    cascade_high: float | None = None

    def __post_init__(self) -> None:
        if self.alignment not in MODES:
            meant = did_you_mean(self.alignment, MODES)
            raise UsageError(f"Unknown alignment {self.alignment!r}.{meant} Valid: {', '.join(MODES)}.")
        for option, value, least in (
            ("--line-distance", self.line_distance, 0),
            ("--seed", self.seed, 0),
            ("--limit", self.limit, 1),
        ):
            if value is not None and value < least:
                raise UsageError(f"{option} must be {least} or more, found {value}.")
        check_unit(self.unit)
        check_engine(self.engine, self.workers, self.spark_master)
        self._check_verdicts()
        self._check_examples()
        object.__setattr__(self, "filters", self.filters or FilterConfig())
        object.__setattr__(self, "reviewer", self.scored.patterns)
        object.__setattr__(self, "reference_reviewer", self.annotators.patterns)

    def _check_verdicts(self) -> None:
        named = self.judge == VERDICTS
        if self.verdicts is None and named:
            raise UsageError("The judge verdicts answers from a file. Name it: --verdicts FILE.")
        if self.verdicts is None:
            return
        if not named and self.judge != DEFAULT_JUDGE:
            raise UsageError("--verdicts takes the place of a judge. Leave out --judge, or --verdicts.")
        if self.threshold is not None:
            raise UsageError("Stored verdicts are decided, so --threshold means nothing to them. Leave it out.")
        for option in ("ask", "cascade", "cascade_low", "cascade_high"):
            if getattr(self, option) is not None:
                name = f"--{option.replace('_', '-')}"
                raise UsageError(f"Stored verdicts ask no model, so {name} means nothing to them. Leave it out.")

    def _check_examples(self) -> None:
        if not self.examples:
            return
        if self.verdicts is not None:
            raise UsageError("--verdicts are decided, so there is nothing to learn for. Leave out --examples.")
        if not isinstance(self.judge, str):
            raise UsageError("--examples are for judges by name: give judge='offline' or judge='cascade'.")
        if self.judge not in LEARNING_JUDGES:
            raise UsageError(
                f"The judge {self.judge} learns nothing from --examples; {' and '.join(LEARNING_JUDGES)} do."
                " Choose one of them, or leave out --examples."
            )

    @property
    def example_files(self) -> Sequence[Path]:
        return [Path(self.examples)] if isinstance(self.examples, str | Path) else list(map(Path, self.examples))

    @property
    def scored(self) -> Selection:
        """Who is scored."""
        return Selection(self.reviewer, "--reviewer")

    @property
    def annotators(self) -> Selection:
        """Whose comments are the references."""
        return Selection(self.reference_reviewer, "--reference-reviewer")

    @property
    def mode(self) -> Mode:
        return next(mode for mode in MODES if mode == self.alignment)

    def with_datasets(self, watch: FileProgress | None = None, tell: datasets.Tell | None = None) -> CommentsOptions:
        """The same, with files in place of data sets' names."""
        return replace(
            self,
            generated=datasets.candidates(self.generated, watch, tell),
            reference=datasets.references(self.reference, watch, tell),
            negatives=datasets.negatives(self.negatives, watch, tell),
        )

    def judge_options(self, examples: Examples | None = None) -> JudgeOptions:
        return JudgeOptions(
            threshold=self.threshold,
            concurrency=self.concurrency,
            cache=None if self.cache is None else Path(self.cache),
            max_llm_calls=self.max_llm_calls,
            one_to_one=self.mode != "coverage",
            examples=examples,
            ask=self.ask,
            cascade=self.cascade,
            cascade_low=self.cascade_low,
            cascade_high=self.cascade_high,
        )
