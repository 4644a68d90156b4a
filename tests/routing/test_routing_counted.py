import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from routing_stories import pull_request

from metareview.model.event import Eligibility
from metareview.routing.answers import AnswerReader, places_worth
from metareview.routing.counted import INSTANT_BITS, ONE, Asked, Counted, find_together
from metareview.routing.list_measures import measures_of
from metareview.routing.protocol import Ranking
from metareview.routing.ranking import People
from metareview.routing.records import Truth

LOGINS = ["Zoe", "ann", "Bob", "cy", "dan", "Eve", "fay", "gus"]


def people_named(logins):
    people = People()
    for login in logins:
        people.number(login)
    return people


def counted(people, counts):
    """Of (events, latest instant) by person."""
    return Counted(people, np.array([events * ONE + instant for events, instant in counts], np.int64))


def in_order(people, counts):
    """By brute force: everybody with an event, the most first, then the latest, then by name."""
    there = [number for number, (events, _) in enumerate(counts) if events]
    return sorted(there, key=lambda each: (-counts[each][0], -counts[each][1], people.logins[each].casefold()))


counts_of_people = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=len(LOGINS))


@given(counts_of_people, st.integers(1, 9), st.sets(st.integers(0, 7)))
def test_the_first_ones_and_every_place_are_those_of_the_sorted_list(counts, first, left_out):
    people = people_named(LOGINS)
    candidates, expected = counted(people, counts), in_order(people, counts)
    assert len(candidates) == len(expected)
    assert candidates.first(first) == (expected[:first], [float(counts[each][0]) for each in expected[:first]])
    assert [login for login, _ in candidates] == [people.logins[each] for each in expected]
    places = {number: at for at, number in enumerate(expected)}
    assert [candidates.place(number) for number in range(8)] == [places.get(number, -1) for number in range(8)]
    mask = np.array([number in left_out for number in range(8)])
    assert candidates.without(mask).first(8)[0] == [each for each in expected if each not in left_out]


def test_counts_stay_apart_from_instants():
    people = people_named(["a", "b"])
    latest = (1 << INSTANT_BITS) - 1
    assert list(counted(people, [(1, latest), (2, 1)])) == [("b", 2.0), ("a", 1.0)]


@given(
    st.lists(
        st.tuples(counts_of_people, st.sampled_from([None, *LOGINS]), st.sets(st.sampled_from(LOGINS))), max_size=6
    ),
    st.sets(st.integers(0, 7)),
    st.integers(1, 4),
    st.booleans(),
)
def test_many_rankings_are_read_together_as_by_brute_force(rows, bots, kept, include_author):
    """Rankings of one router in which people are still met, read after all of them were made."""
    people = people_named(LOGINS)
    names = {login.casefold(): login for login in LOGINS}
    eligible = Eligibility(frozenset(LOGINS[number].casefold() for number in bots), include_author=include_author)
    reader = AnswerReader(eligible, names, worth=places_worth(measures_of([1], "all_reviewers"), [1]), kept=kept)
    answers = list(
        reader.read_all(
            [Ranking(counted(people, counts), "low") for counts, _, _ in rows],
            [pull_request(author=author) for _, author, _ in rows],
            [Truth("observed", tuple(sorted(targets))) for _, _, targets in rows],
        )
    )
    assert len(answers) == len(rows)
    for answer, (counts, author, targets) in zip(answers, rows, strict=True):
        listed = [
            (LOGINS[number], float(counts[number][0]))
            for number in in_order(people, counts)
            if number not in bots and (include_author or LOGINS[number] != author)
        ]
        assert answer.candidates == tuple(login for login, _ in listed[:kept])
        assert answer.scores == tuple(score for _, score in listed[:kept])
        assert answer.listed == len(listed)
        ranks = tuple(at for at, (login, _) in enumerate(listed, 1) if login in targets)
        assert answer.ranks == ranks
        assert answer.rank == (ranks[0] if ranks else 0)


def test_equal_ones_are_left_to_their_names():
    people = people_named(["b", "a", "c"])
    clear, equal = [(2, 1), (1, 3), (1, 2)], [(2, 1), (1, 3), (1, 3)]
    asked = [Asked(counted(people, each), None, ["a"]) for each in (clear, equal)]
    first, second = find_together(asked, np.zeros(3, dtype=bool), 2)
    assert first == ([0, 1], [2.0, 1.0], 3, (2,))
    assert second is None


def test_answers_of_several_kinds_keep_their_order():
    people = people_named(["a", "b"])
    rankings = [
        Ranking([("b", 1.0)]),
        Ranking(counted(people, [(1, 1)])),
        Ranking([]),
        Ranking(counted(people, [(0, 0)])),
    ]
    reader = AnswerReader(Eligibility(frozenset()), {}, worth=places_worth(measures_of([1], "all_reviewers"), [1]))
    pulls = [pull_request(pr=number) for number in range(4)]
    answers = list(reader.read_all(rankings, pulls, [Truth("no_response")] * 4))
    assert [answer.candidates for answer in answers] == [("b",), ("a",), (), ()]
