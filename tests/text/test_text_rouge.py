import json
import random
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

import metareview.text.rouge
from metareview.text.rouge import EncodedTexts
from metareview.text.tokens import tokens

AACR = Path(__file__).parents[3] / "shared" / "data" / "aacr" / "positive_samples.json"
ROUGE_SCORE = RougeScorer(["rougeL"])

# Few words, so that they repeat and cross over; texts past 64 and 128 words need several machine words.
ASCII_WORDS = ["a", "b", "c", "d", "null", "file", "x_y", "7", "..."]
WORDY_ASCII = st.lists(st.sampled_from(ASCII_WORDS), max_size=150).map(" ".join)
ASCII = st.one_of(WORDY_ASCII, st.text(st.characters(max_codepoint=127)))
WORDY = st.lists(st.sampled_from([*ASCII_WORDS, "Ünï", "缓存", "файл", "👍"]), max_size=150).map(" ".join)
ANY = st.one_of(WORDY, st.text(st.characters(codec=None)))


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
        ("缓存没有过期", "缓存没有过期", 1.0),
        ("缓存没有过期时间", "这个缓存永远没有过期", 6 / 8),
        ("ファイルを閉じる", "ファイルが閉じない", 6 / 8),
        ("Файл не закрыт", "файл, увы, НЕ закрыт!", 1.0),
        ("파일을 닫으세요", "파일을 꼭 닫으세요", 1.0),
        ("cafe\u0301 fermé", "CAFÉ", 1 / 2),
        ("naïve parse", "na ve parse", 1 / 2),
        ("👍", "👍", 1.0),
        ("👍", "👎", 0.0),
        ("？！", "？！", 1.0),
    ],
)
def test_recall_by_hand(reference, candidate, expected):
    assert rouge_l_recall(reference, candidate) == expected


@given(ASCII, ASCII)
def test_recall_of_ascii_texts_is_rouge_scores(reference, candidate):
    assert rouge_l_recall(reference, candidate) == theirs(reference, candidate)


@given(WORDY, WORDY)
def test_recall_is_the_longest_common_subsequence_over_the_reference(reference, candidate):
    a, b = tokens(reference), tokens(candidate)
    assert rouge_l_recall(reference, candidate) == (common_by_table(a, b) / len(a) if a else 0.0)


@given(ANY)
def test_a_text_with_tokens_contains_itself(text):
    assert rouge_l_recall(text, text) == (1.0 if tokens(text) else 0.0)
    assert rouge_l_recall(normalize("NFD", text), normalize("NFC", text)) == (1.0 if tokens(text) else 0.0)


@given(ANY, ANY)
def test_both_directions_have_as_much_in_common(one, other):
    a, b = len(tokens(one)), len(tokens(other))
    assert rouge_l_recall(one, other) * a == pytest.approx(rouge_l_recall(other, one) * b)
    if set(tokens(one)).isdisjoint(tokens(other)):
        assert rouge_l_recall(one, other) == 0.0


@given(st.lists(ASCII, max_size=6))
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
    # Five notes of 1,505 have words beyond ASCII, which rouge-score cuts up or leaves out.
    usual = [note for note in notes if tokens(note) == ROUGE_SCORE._tokenizer.tokenize(note)]
    assert len(notes) - len(usual) == 5
    sample = random.Random(7).sample(usual, 40)
    expected = [[theirs(a, b) for b in sample] for a in sample]
    assert np.abs(EncodedTexts(sample).recall_matrix() - np.array(expected)).max() <= 1e-12
