"""Which judges there are, and how one is opened: by name, as `package.module:factory`, or as an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from metareview.errors import UsageError, did_you_mean
from metareview.judges.examples import Examples
from metareview.judges.protocol import Judge, Parameters
from metareview.plugins import Registry, user_errors

DEFAULT_JUDGE = "offline"
VERDICTS = "verdicts"
"""The name of the judge that answers from a file; it is opened with the file, never by its name alone."""
LEARNING_JUDGES = (DEFAULT_JUDGE, "cascade")
"""Those that known verdicts on the same references make better."""
JUDGES = Registry(
    kind="judge",
    folder="metareview.judges.builtin",
    group="metareview.judges",
    order=("none", "exact", "rouge", "offline", "embedding", "llm", "cascade"),
)
PAIR, REVIEW = "pair", "review"
"""What one question to a chat model holds: two notes, or all of one reviewer's on one pull request that are unsure."""
ASKS = (PAIR, REVIEW)
_MEMBERS = ("name", "threshold", "parameters", "judge", "close")


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What a judge can be given. A judge that asks no model has no use for any but the threshold."""

    threshold: float | None = None
    concurrency: int = 16
    cache: Path | None = None  # the verdict cache's file; None for the user's own
    max_llm_calls: int | None = None
    one_to_one: bool = True  # whether comments and references are paired off: tells a cascade what can matter
    ask: str | None = None  # what one question to a model holds: pair or review; None for the judge's own
    cascade: str | None = None  # how much a cascade asks, by name; None for its own
    cascade_low: float | None = None  # the offline scores between which a cascade asks; None for its own
    cascade_high: float | None = None
    examples: Examples | None = None  # known verdicts on the same references
    config: Parameters = field(default_factory=dict)  # the keyword arguments of a factory of the user's own


@dataclass(frozen=True, slots=True)
class JudgePlugin:
    """How a judge is registered: what it does, whether it scores (and so takes a threshold), how it is made."""

    summary: str  # one sentence, for lists of judges
    scores: bool
    make: Callable[[JudgeOptions], Judge]
    asks_chat: bool = False  # whether it asks a chat model, and so takes --ask
    has_bounds: bool = False  # whether it takes --cascade, --cascade-low and --cascade-high


@contextmanager
def open_judge(spec: str | Judge, options: JudgeOptions | None = None) -> Iterator[Judge]:
    """The judge of this name or `package.module:factory`, closed at the end of the `with` block.

    An object that already is a judge is handed on, and left open: it belongs to the caller. UsageError where there
    is no such judge, where it lacks a member, or where a threshold means nothing to it.
    """
    options = options or JudgeOptions()
    if not isinstance(spec, str):
        if options.threshold is not None:
            raise UsageError("A threshold is for judges by name. Set it on the judge object instead.")
        for option in ("ask", "cascade", "cascade_low", "cascade_high"):
            if getattr(options, option) is not None:
                raise UsageError(f"{option} is for judges by name. Set it on the judge object instead.")
        yield _checked(spec, "the judge")
        return
    judge = _make(spec, options)
    guard = nullcontext() if is_built_in(spec) else user_errors(f"judge {spec}", "Correct the judge.", judge)
    with guard, closing(judge):
        yield judge


def is_built_in(spec: str | Judge) -> bool:
    """Whether it is the name of one that ships with the package."""
    return isinstance(spec, str) and JUDGES.is_built_in(spec)


def _make(spec: str, options: JudgeOptions) -> Judge:
    plugin = _plugin(spec)
    if options.threshold is not None:
        if not plugin.scores:
            raise UsageError(f"The judge {spec} does not score, so --threshold means nothing to it. Leave it out.")
        if not 0 <= options.threshold <= 1:
            raise UsageError(f"--threshold must be from 0 to 1, found {options.threshold}.")
    _check_asking(spec, plugin, options)
    if is_built_in(spec):
        return plugin.make(options)  # what goes wrong in it is a defect of ours, not a mistake of the user's
    with user_errors(f"judge {spec}: its factory", "Correct the factory."):
        return _checked(plugin.make(options), f"judge {spec}: what its factory returned")


def check_ask(ask: str) -> None:
    """UsageError where it is no kind of question."""
    if ask not in ASKS:
        raise UsageError(f"--ask {ask!r} is not known.{did_you_mean(ask, ASKS)} Give {' or '.join(ASKS)}.")


def _check_asking(spec: str, plugin: JudgePlugin, options: JudgeOptions) -> None:
    """How a model is asked, and between which scores, must mean something to the judge."""
    if options.ask is not None:
        check_ask(options.ask)
        if not plugin.asks_chat:
            raise UsageError(
                f"The judge {spec} asks no chat model, so --ask means nothing to it. Leave it out, or choose --judge"
                " llm or cascade."
            )
    if options.cascade is not None and not plugin.has_bounds:
        raise UsageError(
            f"--cascade is for the judge cascade, and the judge is {spec}. Leave it out, or choose --judge cascade."
        )
    given = {"--cascade-low": options.cascade_low, "--cascade-high": options.cascade_high}
    for option, value in given.items():
        if value is None:
            continue
        if not plugin.has_bounds:
            raise UsageError(
                f"{option} is for the judge cascade, and the judge is {spec}. Leave it out, or choose --judge cascade."
            )
        if not 0 <= value <= 1:
            raise UsageError(f"{option} must be from 0 to 1, found {value}.")
    low, high = given.values()
    if low is not None and high is not None and low > high:
        raise UsageError(f"--cascade-low {low} is above --cascade-high {high}: nothing lies between. Swap them.")


def _plugin(spec: str) -> JudgePlugin:
    """What a name stands for. A plain factory is called with the user's configuration and takes no threshold."""
    factory = JUDGES.load(spec)
    if isinstance(factory, JudgePlugin):
        return factory
    if not callable(factory):
        raise UsageError(f"judge {spec}: it is not callable. Name a function or a class that returns a judge.")
    return JudgePlugin("", scores=False, make=lambda options: factory(**options.config))


def _checked(judge: Judge, what: str) -> Judge:
    if isinstance(judge, type):
        raise UsageError(f"{what} is the class {judge.__name__}. Make a judge of it: {judge.__name__}().")
    missing = [member for member in _MEMBERS if not hasattr(judge, member)]
    if missing:
        raise UsageError(
            f"{what} ({type(judge).__name__}) is no judge: it has no {', '.join(missing)}. "
            "Inherit from metareview.Judge, set name and write judge(questions)."
        )
    return judge
