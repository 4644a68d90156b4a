"""metareview measures code review: comments, reviewer routing, retrieved text.

The public names, and nothing else. They are imported when they are first used, so that `metareview --help` is quick.
"""

from importlib import import_module

TYPE_CHECKING = False  # for type checkers it is true; typing takes a while to import, and Ctrl-C may come meanwhile
__version__ = "0.1.0"

if TYPE_CHECKING:
    from metareview.api import (
        Comparison,
        Run,
        compare,
        evaluate_comments,
        evaluate_outcomes,
        evaluate_routing,
        load_run,
    )
    from metareview.comments.filters import FilterConfig
    from metareview.compat.aacr import (
        EvaluatorConfig,
        SemanticMatcherType,
        get_evaluator_ans_from_json,
        load_generated_comments_from_file,
    )
    from metareview.errors import GateFailed, InputError, MetareviewError, Undecided, UsageError
    from metareview.judges.protocol import Judge
    from metareview.model.comment import Comment, CommentCategory, CommentContext, PRCategory, ProjectLanguage
    from metareview.routing.protocol import Router
    from metareview.text.matching import MatchingStrategy, PrecisionRecallF1

_HOME = {
    "Comment": "model.comment",
    "CommentCategory": "model.comment",
    "CommentContext": "model.comment",
    "Comparison": "api",
    "EvaluatorConfig": "compat.aacr",
    "FilterConfig": "comments.filters",
    "GateFailed": "errors",
    "InputError": "errors",
    "Judge": "judges.protocol",
    "MatchingStrategy": "text.matching",
    "MetareviewError": "errors",
    "PRCategory": "model.comment",
    "PrecisionRecallF1": "text.matching",
    "ProjectLanguage": "model.comment",
    "Router": "routing.protocol",
    "Run": "api",
    "SemanticMatcherType": "compat.aacr",
    "Undecided": "errors",
    "UsageError": "errors",
    "compare": "api",
    "evaluate_comments": "api",
    "evaluate_outcomes": "api",
    "evaluate_routing": "api",
    "get_evaluator_ans_from_json": "compat.aacr",
    "load_generated_comments_from_file": "compat.aacr",
    "load_run": "api",
}

__all__ = [
    "Comment",
    "CommentCategory",
    "CommentContext",
    "Comparison",
    "EvaluatorConfig",
    "FilterConfig",
    "GateFailed",
    "InputError",
    "Judge",
    "MatchingStrategy",
    "MetareviewError",
    "PRCategory",
    "PrecisionRecallF1",
    "ProjectLanguage",
    "Router",
    "Run",
    "SemanticMatcherType",
    "Undecided",
    "UsageError",
    "__version__",
    "compare",
    "evaluate_comments",
    "evaluate_outcomes",
    "evaluate_routing",
    "get_evaluator_ans_from_json",
    "load_generated_comments_from_file",
    "load_run",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'metareview' has no attribute {name!r}")
    return getattr(import_module(f"metareview.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
