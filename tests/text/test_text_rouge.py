import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

import metareview.text.rouge
from metareview.text.rouge import EncodedTexts, tokens

AACR = Path(__file__).parents[3] / "shared" / "data" / "aacr" / "positive_samples.json"
ROUGE_SCORE = RougeScorer(["rougeL"])

# Few words, so that they repeat and cross over; texts past 64 and 128 words need several machine words.
WORDS = ["a", "b", "c", "d", "null", "file", "Ünï", "x_y", "7", "..."]
WORDY = st.lists(st.sampled_from(WORDS), max_size=150).map(" ".join)
ANY = st.one_of(WORDY, st.text())


def rouge_l_recall(reference, candidate):
    return EncodedTexts([reference, candidate]).recall_pairs([(0, 1)]).item()


def theirs(reference: str, candidate: str) -> float:
    return ROUGE_SCORE.score(reference, candidate)["rougeL"].recall


def common_by_table(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before, row = row, [0]
        for j, y in enumerate(b, start=1):
            row.append(before[j - 1] + 1 if x == y else max(before[j], row[j - 1]))
    return row[-1]


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("close the file handle", "The handle: close the handle!", 3 / 4),
        ("a b c d", "d c b a", 1 / 4),
        ("a a a", "a", 1 / 3),
        ("a", "a a a", 1.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("", "", 0.0),
        ("?!", "?!", 0.0),
    ],
)
def test_recall_by_hand(reference, candidate, expected):
    assert rouge_l_recall(reference, candidate) == expected


@given(ANY, ANY)
def test_recall_is_rouge_scores(reference, candidate):
    assert rouge_l_recall(reference, candidate) == theirs(reference, candidate)


@given(WORDY, WORDY)
def test_recall_is_the_longest_common_subsequence_over_the_reference(reference, candidate):
    a, b = tokens(reference), tokens(candidate)
    assert rouge_l_recall(reference, candidate) == (common_by_table(a, b) / len(a) if a else 0.0)


@given(st.lists(ANY, max_size=6))
def test_the_matrix_has_references_in_rows(texts):
    matrix = EncodedTexts(texts).recall_matrix()
    assert matrix.shape == (len(texts), len(texts))
    assert matrix.dtype == np.float64
    assert matrix.tolist() == [[theirs(a, b) for b in texts] for a in texts]


def test_rows_and_columns_can_be_chosen():
    texts = EncodedTexts(["a b", "a", "a b c d"])
    assert len(texts) == 3
    assert texts.recall_matrix([2, 0], [1]).tolist() == [[0.25], [0.5]]
    assert texts.recall_matrix(references=[1]).tolist() == [[1.0, 1.0, 1.0]]
    assert texts.recall_matrix(candidates=[1]).tolist() == [[0.5], [1.0], [0.25]]
    assert texts.recall_matrix([], [0]).shape == (0, 1)
    assert texts.recall_matrix([0], []).shape == (1, 0)


@given(st.lists(WORDY, min_size=1, max_size=12), st.data())
def test_pairs_are_cells_of_the_matrix(texts, data):
    position = st.integers(0, len(texts) - 1)
    pairs = data.draw(st.lists(st.tuples(position, position), max_size=30))
    encoded = EncodedTexts(texts)
    matrix = encoded.recall_matrix()
    assert encoded.recall_pairs(pairs).tolist() == [matrix[pair] for pair in pairs]


@pytest.mark.parametrize("advantage", [0, 10**9])
def test_few_and_many_pairs_take_different_ways_to_one_answer(monkeypatch, advantage):
    monkeypatch.setattr(metareview.text.rouge, "DENSE_ADVANTAGE", advantage)
    texts = EncodedTexts(["a b c d", "a c", "", "d a"])
    pairs = [(0, 1), (1, 0), (2, 0), (0, 2), (0, 3), (0, 1)]
    assert texts.recall_pairs(np.array(pairs)).tolist() == [0.5, 1.0, 0.0, 0.0, 0.25, 0.5]
    assert texts.recall_pairs([]).tolist() == []


def test_a_sparse_choice_of_many_texts_is_not_a_dense_matrix(monkeypatch):
    texts = EncodedTexts([f"w{i} common" for i in range(100)])
    monkeypatch.setattr(EncodedTexts, "recall_matrix", None)
    assert texts.recall_pairs([(i, i + 1) for i in range(99)]).tolist() == [0.5] * 99


@given(st.lists(WORDY, min_size=1, max_size=5), st.integers(0, 8))
def test_more_words_than_characters_change_nothing(texts, characters):
    with pytest.MonkeyPatch.context() as patch:
        expected = EncodedTexts(texts).recall_matrix().tolist()
        patch.setattr(metareview.text.rouge, "CHARACTERS", characters)
        encoded = EncodedTexts(texts)
        assert encoded.recall_matrix().tolist() == expected
        everything = [(i, j) for i in range(len(texts)) for j in range(len(texts))]
        assert encoded.recall_pairs(everything).tolist() == [cell for row in expected for cell in row]


def test_the_surrogate_range_is_code_space_like_any_other():
    words = [f"w{i}" for i in range(0x10002)]
    texts = EncodedTexts([" ".join(words), "w55296 w57343 w65536", "w57343 w55296"])
    assert texts.recall_matrix([1, 2], [0, 1, 2]).tolist() == [[1.0, 1.0, 1 / 3], [0.5, 0.5, 1.0]]


def test_lengths_past_small_integers_are_counted():
    long = " ".join(["a", "b"] * 40_000)
    assert rouge_l_recall(long, long) == 1.0
    assert rouge_l_recall(long, "a " * 70_000) == 0.5


@pytest.mark.skipif(not AACR.exists(), reason="../shared/data/aacr is not here")
def test_all_pairs_of_a_sample_of_real_notes_equal_rouge_score():
    pull_requests = json.loads(AACR.read_text(encoding="utf-8"))
    notes = [comment["note"] for pull_request in pull_requests for comment in pull_request["comments"]]
    sample = random.Random(7).sample(notes, 40)
    expected = [[theirs(a, b) for b in sample] for a in sample]
    assert np.abs(EncodedTexts(sample).recall_matrix() - np.array(expected)).max() <= 1e-12
