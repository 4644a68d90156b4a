"""The offline judge: what it promises whatever the weights, and on clear cases what they must say."""

import json
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.errors import UsageError
from metareview.judges.offline.features import all_features
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.layout import lay_out
from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import read_notes
from metareview.judges.offline.words import PieceTable, split, stem
from metareview.judges.protocol import DIFFERENT, SAME, Judge, Question

REFERENCES = [
    "The cache key leaves out the tenant, so one customer can be served another customer's rows.",
    "`retry_count` is never reset, so after three failures in its lifetime the worker gives up for good.",
    "Opening the file inside the loop leaks a descriptor whenever parsing throws.",
]
COMMENTS = [
    "parse_all() opens a file handle per iteration and does not close it on exceptions: descriptor leak",
    "Consider renaming `tmp` to something more descriptive",
    "Cache entries are keyed by query only; different tenants share them, which leaks rows between customers",
    "Worker stops forever because retry_count keeps its value between jobs instead of being reset to 0",
]


def ask(generated, reference, pairs=None):
    everything = np.argwhere(np.ones((len(generated), len(reference))))
    return Question(generated, reference, everything if pairs is None else np.array(pairs, np.int64))


def grid(generated, reference):
    [answer] = OfflineJudge().judge([ask(generated, reference)])
    return answer.score.reshape(len(generated), len(reference))


def test_it_is_a_judge_with_a_learned_threshold():
    judge = OfflineJudge()
    assert isinstance(judge, Judge)
    assert judge.name == "offline"
    stored = json.loads((files("metareview") / "data" / "offline-2.json").read_text("utf-8"))
    assert judge.threshold == stored["threshold"]
    assert OfflineJudge(threshold=0.9).threshold == 0.9


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_probability_is_refused(threshold):
    with pytest.raises(UsageError, match="threshold must be from 0 to 1"):
        OfflineJudge(threshold=threshold)


def test_paraphrases_match_and_others_do_not():
    [answer] = OfflineJudge().judge([ask(COMMENTS, REFERENCES)])
    same = {tuple(pair) for pair in ask(COMMENTS, REFERENCES).pairs[answer.match == SAME]}
    assert same == {(0, 2), (2, 0), (3, 1)}
    assert set(np.unique(answer.match)) == {SAME, DIFFERENT}
    assert answer.score[answer.match == SAME].min() > 0.5
    assert answer.score[answer.match == DIFFERENT].max() < 0.1


def test_a_comment_scores_higher_where_it_stands_out():
    alone = grid([COMMENTS[2]], [REFERENCES[0]])[0, 0]
    rivalled = grid(
        [COMMENTS[2], "The cache key has no tenant: a customer can be served another customer's rows"], [REFERENCES[0]]
    )[0, 0]
    assert rivalled < alone - 0.1


def test_a_repeated_comment_is_no_rival_of_itself():
    once = grid([COMMENTS[2]], [REFERENCES[0]])[0, 0]
    often = grid([COMMENTS[2]] * 12, [REFERENCES[0]])[:, 0]
    assert (often >= OfflineJudge().threshold).all()
    assert np.ptp(often) == 0
    assert once >= OfflineJudge().threshold


def test_equal_notes_match_whatever_the_rivals():
    notes = [*REFERENCES, REFERENCES[0], "  ".join(REFERENCES[1].split(" ")), "ok", "🤷", "漏洞", "if (x) { y(); }"]
    scores = grid(notes, notes)
    assert scores.diagonal().min() > 0.99
    assert scores[0, 3] > 0.99
    assert scores[1, 4] > 0.99


def test_the_same_answer_every_time_and_in_every_order():
    first = grid(COMMENTS, REFERENCES)
    assert (grid(COMMENTS, REFERENCES) == first).all()
    rows, columns = [2, 0, 3, 1], [1, 2, 0]
    moved = grid([COMMENTS[i] for i in rows], [REFERENCES[j] for j in columns])
    assert (moved == first[np.ix_(rows, columns)]).all()


def test_an_answer_depends_on_its_own_question_alone():
    alone = OfflineJudge().judge([ask(COMMENTS, REFERENCES)])[0].score
    others = [ask(["x"], []), ask([], ["y"]), ask(REFERENCES, COMMENTS), ask(COMMENTS, REFERENCES)]
    assert (OfflineJudge().judge(others)[3].score == alone).all()


def test_the_words_of_a_reason_depend_on_its_own_question_alone():
    """Other notes may write the same word in another way, or number words in another order."""
    earlier = ask(
        ["Retrying the CACHEKEY, retries of parsers, keyed caches"], ["cacheKey retried; tenants' rows, leaking"]
    )
    question = ask([*COMMENTS, "`cache_key` retry parsing leak"], [*REFERENCES, "the cacheKey is parsed on each retry"])
    [alone] = OfflineJudge().judge([question])
    [_, after] = OfflineJudge().judge([earlier, question])
    assert list(after.reason) == list(alone.reason)
    assert "shares `cache_key`, retry, cache (4 words)" in alone.reason[-1]


def test_equal_comments_are_told_alike():
    [answer] = OfflineJudge().judge([ask([*COMMENTS, *COMMENTS, *COMMENTS], REFERENCES)])
    reasons = list(answer.reason)
    assert reasons[:12] == reasons[12:24] == reasons[24:]


def test_small_batches_change_nothing(monkeypatch):
    questions = [ask(COMMENTS[:k] * 3, REFERENCES * 2) for k in (4, 1, 3, 2)]
    whole = OfflineJudge().judge(questions)
    monkeypatch.setattr("metareview.judges.offline.judge.BATCH", 1)
    monkeypatch.setattr("metareview.judges.offline.layout.WORD_PAIRS", 60)
    monkeypatch.setattr("metareview.judges.offline.alignment.WIDE", 5)
    parts = OfflineJudge().judge(questions)
    assert [a.score.tolist() for a in parts] == [a.score.tolist() for a in whole]
    assert [list(a.reason) for a in parts] == [list(a.reason) for a in whole]


def test_only_the_pairs_asked_about_are_answered_among_all_rivals():
    whole = grid(COMMENTS, REFERENCES)
    judge = OfflineJudge()
    pairs = [(3, 1), (0, 0), (3, 1)]
    [some, none] = judge.judge([ask(COMMENTS, REFERENCES, pairs), ask(COMMENTS, REFERENCES, np.zeros((0, 2)))])
    assert some.score.tolist() == [whole[3, 1], whole[0, 0], whole[3, 1]]
    assert len(some.reason) == 3
    assert len(none.score) == len(none.match) == len(none.reason) == 0


def test_reasons_say_what_is_shared_and_how_the_pair_stands():
    [answer] = OfflineJudge().judge([ask(COMMENTS, REFERENCES)])
    reasons = dict(zip(map(tuple, ask(COMMENTS, REFERENCES).pairs.tolist()), answer.reason, strict=True))
    assert reasons[3, 1].startswith(f"p {answer.score[10]:.2f}: shares `retry_count`, ")
    assert reasons[3, 1].endswith("; stands out from rivals")
    assert "fit better" in reasons[1, 2] or "fits better" in reasons[1, 2]
    assert list(answer.reason)[2:4] == answer.reason[2:4]
    [same] = OfflineJudge().judge([ask(["Same words"], ["same  words".replace("s", "S", 1)])])
    assert list(same.reason) == [f"p {same.score[0]:.2f}: equal notes; has no rivals"]
    [nothing] = OfflineJudge().judge([ask(["alpha"], ["omega"])])
    assert list(nothing.reason) == [f"p {nothing.score[0]:.2f}: shares no word; has no rivals"]


HOSTILE = [
    "",
    "   \n",
    "🤷‍♀️🔥",
    "缓存键缺少租户",
    "a" * 20_000,
    " ".join(f"w{i}" for i in range(4_000)),
    "null " * 4_000,
    "```\nfor (;;) { x[i]++; }\n```",
    "=" * 50,
    "__init__ $ _ 0 \x00 \ud800",
    "Zażółć gęślą jaźń",
]


def test_hostile_notes_get_finite_scores():
    scores = grid(HOSTILE, HOSTILE)
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[0].max() < 0.5
    [answer] = OfflineJudge().judge([ask(HOSTILE, HOSTILE)])
    assert all(len(reason) < 300 for reason in answer.reason)


@pytest.mark.parametrize(("generated", "reference"), [([], []), (["x"], []), ([], ["x"])])
def test_a_side_without_notes(generated, reference):
    [answer] = OfflineJudge().judge([ask(generated, reference, np.zeros((0, 2)))])
    assert len(answer.score) == 0
    assert OfflineJudge().judge([]) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=5), st.lists(st.text(max_size=60), max_size=4), st.randoms())
def test_any_text_in_any_order(generated, reference, random):
    scores = grid(generated, reference)
    assert ((scores >= 0) & (scores <= 1)).all()
    order = list(range(len(generated)))
    random.shuffle(order)
    assert np.allclose(grid([generated[i] for i in order], reference), scores[order], rtol=0, atol=2e-9)


def test_words_and_stems():
    assert split("getUserID2") == (("get", "user", "id", "2"), "=getuserid2")
    assert split("max_wait")[0] == ("max", "wait")
    assert split("HTTPServer")[0] == ("http", "server")
    assert split("plain") == (("plain",), None)
    assert stem("validates") == stem("validation") == stem("validated")
    assert stem("caches") == stem("caching") == stem("cached")
    assert stem("class") == "class"
    assert stem("404s") == "404s"


def test_unknown_words_are_cut_into_the_longest_pieces():
    table = PieceTable(["a", "ab", "abc", "d"], np.array([[1], [2], [4], [8]], np.int8))
    assert table.cut("abc") == [2]
    assert table.cut("abcdab") == [2, 3, 1]
    assert table.cut("xay") == [0]
    assert table.cut("") == []


def test_features_worked_out_by_hand():
    model = shipped()
    question = ask(["alpha beta", "gamma"], ["alpha delta"])
    texts, layout = lay_out([question])
    notes = read_notes(texts, model.background)
    features = all_features(notes, layout)
    words, _, _, length = features.values[0]
    r = dict(zip(notes.term_name, notes.rarity, strict=True))
    # Three notes: a term that two of them have weighs log(4/2), one that one has log(4/1).
    weight = {name: r[stem(name)] ** 0.5 * np.log(4 / n) for name, n in (("alpha", 2), ("beta", 1), ("delta", 1))}
    total = [(weight["alpha"] + weight[other]) ** 0.5 for other in ("beta", "delta")]
    assert words == pytest.approx(weight["alpha"] / (total[0] * total[1]))
    assert features.values[1, 0] == 0
    assert length == pytest.approx(np.log(2))


def test_each_distinct_note_is_read_once():
    texts, layout = lay_out([ask(["a", "b", "a"], ["b"]), ask(["b"], ["a", "c"])])
    assert sorted(texts) == ["a", "b", "c"]
    assert [texts[i] for i in layout.left.note] == ["a", "b", "a", "b"]
    assert [texts[i] for i in layout.right.note] == ["b", "a", "c"]
    comment, reference = layout.all_pairs()
    assert comment.tolist() == [0, 1, 2, 3, 3]
    assert reference.tolist() == [0, 0, 0, 1, 2]
    assert layout.places(comment, reference).tolist() == [0, 1, 2, 3, 4]


def test_two_comments_that_quote_a_reference_do_not_rule_each_other_out():
    references = ["Coupon is applied twice", "The total can fall below zero", "Connection is never closed"]
    said = ["The coupon is applied twice", "Coupon is applied twice here", "Add a docstring", "The connection is open"]
    pairs = np.array([(i, j) for i in range(len(said)) for j in range(len(references))])
    [answer] = OfflineJudge().judge([Question(said, references, pairs)])
    match = answer.match.reshape(len(said), len(references))
    assert match[:, 0].tolist() == [1, 1, 0, 0]
    assert not match[:, 1].any()


@pytest.mark.parametrize(
    ("reference", "wordings"),
    [
        (
            "SQL query is built by string concatenation; injection risk",
            [
                "SQL injection risk: the query is concatenated",
                "Building the SQL query by string concatenation is an injection risk",
                "Injection: query string concatenation",
            ],
        ),
        (
            "Missing await, so the promise is never resolved before returning",
            [
                "Missing await",
                "The promise is never awaited, await is missing",
                "You forgot await so the promise is not resolved before returning",
            ],
        ),
    ],
)
def test_one_thing_said_in_three_wordings_matches_once_at_least(reference, wordings):
    said = [*wordings, "Rename this variable"]
    [answer] = OfflineJudge().judge([Question(said, [reference], np.array([(i, 0) for i in range(4)]))])
    assert answer.match[:3].any()
    assert answer.match[3] == 0
