"""The registry of judges, and opening one: by name, as `package.module:factory`, or as an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from metareview.errors import UsageError, did_you_mean
from metareview.judges.examples import Examples
from metareview.judges.protocol import Judge, Parameters, check_threshold
from metareview.plugins import Registry, user_errors

DEFAULT_JUDGE = "offline"
VERDICTS = "verdicts"
"""The name of the judge that answers from a file; it is opened with the file, never by its name alone."""
LEARNING_JUDGES = (DEFAULT_JUDGE, "cascade")
"""Judges that learn from known verdicts on the same references."""
JUDGES = Registry(
    kind="judge",
    folder="metareview.judges.builtin",
    group="metareview.judges",
    order=("none", "exact", "rouge", "offline", "embedding", "llm", "cascade"),
)
PAIR, REVIEW = "pair", "review"
"""The content of one question to a chat model: two notes, or one reviewer's unsure notes on one pull request."""
ASKS = (PAIR, REVIEW)
_MEMBERS = ("name", "threshold", "parameters", "judge", "close")


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The options of a judge. A judge that asks no model uses none but the threshold."""

    threshold: float | None = None
    concurrency: int = 16
    cache: Path | None = None  # the verdict cache's file; None for the user's own
    max_llm_calls: int | None = None
    one_to_one: bool = True  # comments and references are paired off: decides what can matter to a cascade
    ask: str | None = None  # the content of a question to a model: pair or review; None for the judge's own
    cascade: str | None = None  # how much a cascade asks, by name; None for its own
    cascade_low: float | None = None  # the offline scores between which a cascade asks; None for its own
    cascade_high: float | None = None
    examples: Examples | None = None  # known verdicts on the same references
    config: Parameters = field(default_factory=dict)  # the keyword arguments of a factory of the user's own


@dataclass(frozen=True, slots=True)
class JudgePlugin:
    """The registration of a judge."""

    summary: str  # one sentence, for lists of judges
    scores: bool  # takes --threshold
    make: Callable[[JudgeOptions], Judge]
    asks: tuple[str, ...] = ()  # the values of --ask that it takes
    has_bounds: bool = False  # takes --cascade, --cascade-low and --cascade-high


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
    """True for the name of a judge that ships with the package."""
    return isinstance(spec, str) and JUDGES.is_built_in(spec)


def _make(spec: str, options: JudgeOptions) -> Judge:
    plugin = _plugin(spec)
    if options.threshold is not None:
        if not plugin.scores:
            raise UsageError(f"The judge {spec} does not score, so --threshold means nothing to it. Leave it out.")
        check_threshold(options.threshold)
    _check_asking(spec, plugin, options)
    if is_built_in(spec):
        return plugin.make(options)  # an error in it is a defect of ours, not a mistake of the user's
    with user_errors(f"judge {spec}: its factory", "Correct the factory."):
        return _checked(plugin.make(options), f"judge {spec}: what its factory returned")


def check_ask(ask: str) -> None:
    """UsageError for an unknown kind of question."""
    if ask not in ASKS:
        raise UsageError(f"--ask {ask!r} is not known.{did_you_mean(ask, ASKS)} Give {' or '.join(ASKS)}.")


def _check_asking(spec: str, plugin: JudgePlugin, options: JudgeOptions) -> None:
    """UsageError for options of asking that mean nothing to the judge."""
    if options.ask is not None:
        check_ask(options.ask)
        if not plugin.asks:
            raise UsageError(
                f"The judge {spec} asks no chat model, so --ask means nothing to it. Leave it out, or choose --judge"
                " llm or cascade."
            )
        if options.ask not in plugin.asks:
            raise UsageError(
                f"The judge {spec} asks in lists only, so --ask {options.ask} means nothing to it. Leave --ask out, or"
                " choose --judge llm."
            )
    given = {"--cascade": options.cascade, "--cascade-low": options.cascade_low, "--cascade-high": options.cascade_high}
    for option, value in given.items():
        if value is not None and not plugin.has_bounds:
            raise UsageError(
                f"{option} is for the judge cascade, and the judge is {spec}. Leave it out, or choose --judge cascade."
            )
        if isinstance(value, (int, float)) and not 0 <= value <= 1:
            raise UsageError(f"{option} must be from 0 to 1, found {value}.")


def _plugin(spec: str) -> JudgePlugin:
    """The plug-in of a name. A plain factory is called with the user's configuration and takes no threshold."""
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
