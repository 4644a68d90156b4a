"""What the offline judge reads of a whole batch of notes at once, against reading them one by one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.judges.offline.model import shipped
from metareview.judges.offline.notes import MOST_WORDS, read_notes
from metareview.judges.offline.reasons import _best_other
from metareview.judges.offline.words import RUN, STOP, runs, split, stem

WORDS = ["the", "cacheKey", "cache_key", "CacheKey", "caches", "Caching", "retry", "retries", "$x", "_", "1st", "naïve"]
notes = st.lists(st.sampled_from([*WORDS, "缓存", "...", "\n", "–"]), max_size=12).map(" ".join) | st.text(max_size=30)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_runs_of_an_ascii_note_are_those_of_the_pattern(note):
    assert runs(note) == RUN.findall(note)


def terms_as_written(note):
    """Each term by its name, as the note first writes it."""
    written = {}
    for run in runs(note):
        words, name = split(run)
        for word in words:
            written.setdefault(stem(word), word)
        if name is not None:
            written.setdefault(name, run)
    text = note.strip()
    return written or ({"=" + text: text} if text else {})


@settings(max_examples=100, deadline=None)
@given(st.lists(notes, max_size=6))
def test_a_batch_of_notes_is_read_as_each_would_be(texts):
    read = read_notes(texts, shipped().background)
    for number, text in enumerate(texts):
        written = terms_as_written(text)
        assert {read.term_name[term]: as_written for term, as_written in read.wording(number).items()} == written
        assert {read.term_name[term] for term in read.terms_of(number)} == set(written)
        assert {term for term in read.terms_of(number) if term in read.identifiers} == {
            term for term in read.terms_of(number) if read.term_name[term].startswith("=")
        }
        said = [word for run in runs(text) for word in split(run)[0]]
        assert read.length[number] == len(said)
        told = list(dict.fromkeys(word for word in said if word not in STOP))
        assert [read.spelling.words[word] for word in read.words[number].tolist()] == (told or [""])


def test_only_the_first_words_of_a_long_note_are_compared_by_meaning():
    long = " ".join(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(MOST_WORDS + 20))
    read = read_notes(["short one here", f"{long} {long}", "another"], shipped().background)
    assert [len(words) for words in read.words] == [3, MOST_WORDS, 1]
    first = [read.spelling.words[word] for word in read.words[1].tolist()]
    assert first == [word for run in runs(long) for word in split(run)[0]][:MOST_WORDS]


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-1.0, 0.0, 0.5, 2.0])), max_size=12))
def test_the_best_rival_is_the_highest_of_the_others(entries):
    group, fit = (np.array([entry[column] for entry in entries], kind) for column, kind in ((0, np.int64), (1, float)))
    expected = [
        max((value for j, (other, value) in enumerate(entries) if other == own and j != i), default=-np.inf)
        for i, (own, _) in enumerate(entries)
    ]
    assert _best_other(fit, group, 5).tolist() == expected
