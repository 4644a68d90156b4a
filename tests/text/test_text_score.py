import json

import pytest

from metareview.errors import UsageError
from metareview.text.matching import MatchingStrategy
from metareview.text.score import TextItem, score_items


def test_means_skip_nulls_and_say_how_many():
    items = [
        TextItem(["a b", "z"], ["a b"]),  # 1/2, 1, 2/3
        TextItem([], ["a b"]),  # null, 0, 0
        TextItem(["z"], []),  # 0, null, 0
        TextItem([], []),  # null, null, null
    ]
    result = score_items(items)
    assert json.loads(json.dumps(result)) == {
        "schema": "metareview.text/1",
        "strategy": "rouge-chunk",
        "threshold": 0.7,
        "n": 4,
        "precision": 0.25,
        "recall": 0.5,
        "f1": pytest.approx(2 / 9, abs=1e-15),
        "nulls": {"precision": 2, "recall": 2, "f1": 1},
        "items": [
            {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3, abs=1e-15)},
            {"precision": None, "recall": 0.0, "f1": 0.0},
            {"precision": 0.0, "recall": None, "f1": 0.0},
            {"precision": None, "recall": None, "f1": None},
        ],
    }


def test_the_strategy_and_the_threshold_are_used_and_told():
    items = [TextItem(["One two three. Nothing else."], ["One two three four. Five."])]
    result = score_items(items, MatchingStrategy.ROUGE_SENTENCE_MATCH, 0.7)
    assert (result["strategy"], result["threshold"]) == ("rouge-sentence", 0.7)
    assert (result["precision"], result["recall"], result["f1"]) == (0.5, 0.5, 0.5)
    assert score_items(items, "rouge-sentence")["recall"] == 0.0
    exact = score_items(items, "exact-sentence")
    assert (exact["threshold"], exact["precision"]) == (None, 0.0)


def test_no_items_have_no_means():
    result = score_items([])
    assert (result["n"], result["precision"], result["recall"], result["f1"]) == (0, None, None, None)


def test_a_wrong_threshold_is_refused_before_anything_is_scored():
    with pytest.raises(UsageError, match="from 0 to 1"):
        score_items([], "rouge-chunk", 7)
