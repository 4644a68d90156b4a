"""Text against text: ROUGE-L, exact and ROUGE matching, precision and recall of retrieved contexts.

Names are resolved when first asked for, so that importing one module loads neither NumPy nor sentencex for
another. The functions `tokens` and `sentences` share their modules' names and are imported from there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metareview.text.matching import MatchingStrategy, PrecisionRecallF1, Scores
    from metareview.text.rouge import EncodedTexts, rouge_l_recall
    from metareview.text.score import TextItem, score_items

__all__ = [
    "EncodedTexts",
    "MatchingStrategy",
    "PrecisionRecallF1",
    "Scores",
    "TextItem",
    "rouge_l_recall",
    "score_items",
]

_HOMES = {
    "EncodedTexts": "rouge",
    "MatchingStrategy": "matching",
    "PrecisionRecallF1": "matching",
    "Scores": "matching",
    "TextItem": "score",
    "rouge_l_recall": "rouge",
    "score_items": "score",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
