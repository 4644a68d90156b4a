import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metareview.text.matching
from metareview.errors import UsageError
from metareview.text.matching import MatchingStrategy, PrecisionRecallF1
from metareview.text.rouge import EncodedTexts

S = MatchingStrategy


def rouge_l_recall(reference, candidate):
    return EncodedTexts([reference, candidate]).recall_pairs([(0, 1)]).item()


def score(strategy, retrieved, truth, threshold=None):
    return PrecisionRecallF1(strategy, threshold)(retrieved_context=retrieved, ground_truth_context=truth)


def rates(strategy, retrieved, truth, threshold=None):
    return tuple(score(strategy, retrieved, truth, threshold).values())


def test_the_strategies_have_the_names_of_the_command_and_their_thresholds():
    assert {s.name: (s.value, s.default_threshold) for s in S} == {
        "EXACT_CHUNK_MATCH": ("exact-chunk", None),
        "EXACT_SENTENCE_MATCH": ("exact-sentence", None),
        "ROUGE_CHUNK_MATCH": ("rouge-chunk", 0.7),
        "ROUGE_SENTENCE_MATCH": ("rouge-sentence", 0.8),
    }
    assert PrecisionRecallF1("rouge-sentence").strategy is S.ROUGE_SENTENCE_MATCH
    assert PrecisionRecallF1(S.ROUGE_CHUNK_MATCH).threshold == 0.7
    assert PrecisionRecallF1(S.ROUGE_CHUNK_MATCH, 0).threshold == 0.0
    assert PrecisionRecallF1(S.ROUGE_CHUNK_MATCH, np.float32(0.5)).threshold == 0.5


def test_half_precision_and_full_recall_make_two_thirds():
    result = score(
        S.ROUGE_SENTENCE_MATCH,
        ["The lock is never released. Unrelated words follow here."],
        ["The lock is never released."],
    )
    assert result == {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3, abs=1e-15)}


@pytest.mark.parametrize("strategy", S)
def test_repeats_count_in_precision_and_not_in_recall(strategy):
    # Four retrieved, three of them right; two distinct in the ground truth, one of them found.
    result = rates(strategy, ["Alpha one.", "Alpha one.", "Alpha one.", "Other."], ["Alpha one.", "Beta.", "Beta."])
    assert result == (0.75, 0.5, pytest.approx(0.6, abs=1e-15))


def test_sentences_of_chinese_are_found_and_compared():
    truth = ["缓存没有过期时间。", "文件没有关闭。"]
    retrieved = ["这个缓存没有过期时间！foo 的名字不清楚。文件没有关闭。"]
    # By hand: of three sentences the first has all 8 characters of the first truth, the third is the second truth.
    assert rates(S.ROUGE_SENTENCE_MATCH, retrieved, truth) == (2 / 3, 1.0, pytest.approx(0.8))
    assert rates(S.EXACT_SENTENCE_MATCH, retrieved, truth) == (1 / 3, 0.5, pytest.approx(0.4))
    assert rates(S.ROUGE_CHUNK_MATCH, retrieved, truth) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("strategy", S)
def test_composed_and_decomposed_characters_are_equal(strategy):
    # Two ways to write one ground truth: one distinct component.
    assert rates(strategy, ["Le cafe\u0301."], ["Le café.", "Le cafe\u0301."]) == (1.0, 1.0, 1.0)


def test_exact_chunks_are_compared_as_they_are():
    assert rates(S.EXACT_CHUNK_MATCH, ["a b", "a b ", "A b"], ["a b"]) == (1 / 3, 1.0, 0.5)


def test_exact_sentences_are_found_in_any_chunk():
    retrieved = ["Close the file. It leaks.", "Rename it."]
    truth = ["Rename it. Close the file.", "Add a test."]
    assert rates(S.EXACT_SENTENCE_MATCH, retrieved, truth) == (2 / 3, 2 / 3, pytest.approx(2 / 3))
    assert rates(S.EXACT_CHUNK_MATCH, retrieved, truth) == (0.0, 0.0, 0.0)


def test_recall_must_exceed_the_threshold():
    truth = ["a b c d e f g h i j"]
    assert rates(S.ROUGE_CHUNK_MATCH, ["a b c d e f g"], truth) == (0.0, 0.0, 0.0)
    assert rates(S.ROUGE_CHUNK_MATCH, ["a b c d e f g h"], truth) == (1.0, 1.0, 1.0)
    assert rates(S.ROUGE_SENTENCE_MATCH, ["a b c d e f g h"], truth) == (0.0, 0.0, 0.0)
    assert rates(S.ROUGE_SENTENCE_MATCH, ["a b c d e f g h"], truth, 0.79) == (1.0, 1.0, 1.0)
    assert rates(S.ROUGE_CHUNK_MATCH, truth, truth, 1.0) == (0.0, 0.0, 0.0)


def test_recall_is_that_of_the_ground_truth_and_not_of_what_was_retrieved():
    # The long chunk holds all of the short truth; the short chunk holds little of the long truth.
    assert rates(S.ROUGE_CHUNK_MATCH, ["a b c d e"], ["b d"]) == (1.0, 1.0, 1.0)
    assert rates(S.ROUGE_CHUNK_MATCH, ["b d"], ["a b c d e"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("strategy", S)
def test_empty_sides(strategy):
    assert rates(strategy, [], ["Some truth."]) == (None, 0.0, 0.0)
    assert rates(strategy, ["Some chunk."], []) == (0.0, None, 0.0)
    assert rates(strategy, [], []) == (None, None, None)


def test_blank_chunks_have_no_sentences_but_are_chunks():
    assert rates(S.ROUGE_SENTENCE_MATCH, [" \n"], ["Truth."]) == (None, 0.0, 0.0)
    assert rates(S.ROUGE_CHUNK_MATCH, [" \n"], ["Truth."]) == (0.0, 0.0, 0.0)
    assert rates(S.EXACT_CHUNK_MATCH, [""], [""]) == (1.0, 1.0, 1.0)


def test_a_truth_without_words_is_never_matched_by_rouge_even_at_zero():
    assert rates(S.ROUGE_CHUNK_MATCH, ["?!"], ["?!"], 0) == (0.0, 0.0, 0.0)


CHUNKS = st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), max_size=6)


@given(CHUNKS, CHUNKS, st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0]), st.sampled_from([1, 5, 10**6]))
def test_rouge_rates_equal_the_definition_whatever_the_block(retrieved, truth, threshold, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metareview.text.matching, "BLOCK_CELLS", cells)
        result = score(S.ROUGE_CHUNK_MATCH, retrieved, truth, threshold)
    distinct = set(truth)
    right = [r for r in retrieved if any(rouge_l_recall(t, r) > threshold for t in distinct)]
    found = [t for t in distinct if any(rouge_l_recall(t, r) > threshold for r in retrieved)]
    assert result["precision"] == (len(right) / len(retrieved) if retrieved else None)
    assert result["recall"] == (len(found) / len(distinct) if distinct else None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rouge",), "Use one of: exact-chunk, exact-sentence, rouge-chunk, rouge-sentence."),
        ((None,), "unknown strategy None"),
        ((S.EXACT_CHUNK_MATCH, 0.5), "exact-chunk takes no threshold. Leave it out, or use rouge-chunk."),
        ((S.EXACT_SENTENCE_MATCH, 0.8), "or use rouge-sentence."),
        ((S.ROUGE_CHUNK_MATCH, 1.01), "must be a number from 0 to 1, found 1.01"),
        ((S.ROUGE_CHUNK_MATCH, -0.1), "found -0.1"),
        ((S.ROUGE_CHUNK_MATCH, math.nan), "found nan"),
        ((S.ROUGE_CHUNK_MATCH, True), "found True"),
        ((S.ROUGE_CHUNK_MATCH, "0.5"), "found '0.5'"),
    ],
)
def test_a_wrong_metric_says_what_is_right(arguments, message):
    with pytest.raises(UsageError) as error:
        PrecisionRecallF1(*arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("retrieved", "truth", "message"),
    [
        ("a", ["a"], "retrieved_context must be a list of strings, found str. Put a single text into a list"),
        (["a"], "a", "ground_truth_context must be a list of strings, found str."),
        (["a"], None, "ground_truth_context must be a list of strings, found NoneType."),
        ({"a"}, ["a"], "retrieved_context must be a list of strings, found set."),
        (["a", 3], ["a"], "retrieved_context[1] must be a string, found int."),
        (b"a", ["a"], "retrieved_context[0] must be a string, found int."),
    ],
)
def test_wrong_contexts_are_refused(retrieved, truth, message):
    with pytest.raises(UsageError) as error:
        score(S.EXACT_CHUNK_MATCH, retrieved, truth)
    assert message in str(error.value)


ROW = {"retrieved_context": ["a b c d"], "ground_truth_context": ["a b c x"], "question": "why?", "id": 7}


def test_further_columns_of_a_row_are_not_looked_at():
    metric = PrecisionRecallF1(MatchingStrategy.ROUGE_CHUNK_MATCH)
    assert metric(**ROW) == {"precision": 1.0, "recall": 1.0, "f1": 1.0}


def test_a_batch_is_each_item_in_order():
    metric = PrecisionRecallF1(MatchingStrategy.EXACT_CHUNK_MATCH)
    rows = [ROW, ROW | {"retrieved_context": ["a b c x", "y"]}]
    columns = {name: [row[name] for row in rows] for name in ROW}
    expected = [metric(**row) for row in rows]
    assert [scores["precision"] for scores in expected] == [0, 0.5]
    assert metric.batch(rows) == metric.batch(**columns) == expected
    assert metric.batch([]) == metric.batch() == []
    with pytest.raises(UsageError, match="of one length, found retrieved_context 1, ground_truth_context 2"):
        metric.batch(retrieved_context=[["a"]], ground_truth_context=[["a"], ["b"]])
    with pytest.raises(UsageError, match="item 0 has no ground_truth_context"):
        metric.batch(retrieved_context=[["a"]])
    with pytest.raises(UsageError, match="rows or columns"):
        metric.batch(rows, id=[1, 2])


def test_thresholds_by_the_names_of_continuous_eval():
    """ROUGE-L recall of the row is 3 of 4 tokens."""

    def precision(strategy, **thresholds):
        return PrecisionRecallF1(strategy, **thresholds)(**ROW)["precision"]

    assert precision("rouge-chunk", ROUGE_CHUNK_MATCH_THRESHOLD=0.75) == 0
    assert precision("rouge-chunk", ROUGE_CHUNK_MATCH_THRESHOLD=0.74) == 1
    assert precision("rouge-sentence", ROUGE_CHUNK_SENTENCE_THRESHOLD=0.7) == 1
    assert precision("rouge-sentence", rouge_chunk_sentence_threshold=0.8) == 0
    assert precision("rouge-sentence", ROUGE_CHUNK_MATCH_THRESHOLD=0.1) == 0  # of another strategy
    with pytest.raises(UsageError, match="Leave one out"):
        precision("rouge-chunk", threshold=0.5, ROUGE_CHUNK_MATCH_THRESHOLD=0.5)
    with pytest.raises(UsageError, match="Did you mean 'rouge_chunk_match_threshold'"):
        precision("rouge-chunk", rouge_chunk_threshold=0.5)
    with pytest.raises(UsageError, match="from 0 to 1"):
        precision("rouge-chunk", ROUGE_CHUNK_MATCH_THRESHOLD=7)


def test_a_strategy_goes_by_its_name_too():
    assert PrecisionRecallF1("ROUGE_SENTENCE_MATCH").strategy is MatchingStrategy.ROUGE_SENTENCE_MATCH
