"""RevFinder by its algebra against RevFinder by its definition, in exact fractions."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from routing_stories import happen, logins, pull_request

from metareview.routing import paths
from metareview.routing.routers.revfinder import RevFinder


def prefix(a, b):
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


def suffix(a, b):
    return prefix(a[::-1], b[::-1])


def run(a, b):
    return max((prefix(a[i:], b[j:]) for i in range(len(a)) for j in range(len(b))), default=0)


def subsequence(a, b):
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return 1 + subsequence(a[:-1], b[:-1])
    return max(subsequence(a[:-1], b), subsequence(a, b[:-1]))


MEASURES = (prefix, suffix, run, subsequence)


def by_definition(past, files):
    """`past`: (files, reviewers) in order. Everybody by Borda count, ties by first appearance."""
    people = list(dict.fromkeys(person for _, reviewers in past for person in reviewers))
    if not people or not files:
        return []
    points = dict.fromkeys(people, 0)
    for measure in MEASURES:
        scores = dict.fromkeys(people, Fraction(0))
        for old, reviewers in past:
            total = Fraction(0)
            for a in files:
                for b in old:
                    one, other = a.split("/"), b.split("/")
                    total += Fraction(measure(one, other), max(len(one), len(other)))
            for person in dict.fromkeys(reviewers):
                scores[person] += total / (len(files) * len(old)) if old else 0
        ranked = sorted(people, key=lambda person: -scores[person])
        for position, person in enumerate(ranked, 1):
            points[person] += len(people) - position
    return sorted(people, key=lambda person: -points[person])


def by_algebra(past, files):
    router = RevFinder()
    for pr, (old, reviewers) in enumerate(past):
        router.observe(happen(pr, "opened", "someone", pr=pr, files=tuple(old)))
        for reviewer in reviewers:
            router.observe(happen(pr, "review_submitted", reviewer, pr=pr))
    return logins(router.rank(pull_request(files=tuple(files))))


# Few parts, so that names and folders collide all the time; `a` and `b` are both.
path = st.lists(st.sampled_from(["a", "b", "src", "x.c", "y.c", ""]), min_size=1, max_size=5).map("/".join)
some_files = st.lists(path.filter(bool), max_size=4, unique=True)
reviews = st.lists(st.tuples(some_files, st.lists(st.sampled_from("pqrs"), min_size=1, max_size=3)), max_size=6)


@settings(max_examples=300, deadline=None)
@given(reviews, some_files)
@example([(["a/b/x.c"], "p"), (["x.c"], "q")], ["a/b/y.c"])
@example([(["a/b"], "p"), (["b"], "q"), (["b/a"], "r")], ["a/b", "b/a", "b"])
@example([(["lib/a"], "p")], ["a/lib/a"])  # `a` is a name first, and a folder later
def test_the_algebra_equals_the_definition(past, files):
    assert by_algebra(past, files) == by_definition(past, files)


@settings(max_examples=60, deadline=None)
@given(reviews, some_files)
def test_pairs_that_are_not_kept_are_worked_out_alike(past, files):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "_STORED", 0)
        patch.setattr(paths, "_FIRST", 1)
        assert by_algebra(past, files) == by_definition(past, files)


@settings(max_examples=200, deadline=None)
@given(st.lists(path.filter(bool), min_size=1, max_size=12, unique=True))
def test_common_parts_equal_the_plain_ones(found):
    places = paths.Places()
    parts = [paths.split_path(each) for each in found]
    numbers = [places.number(each, named=True) for each in parts]
    common = places.common(numbers)
    order = {prefix: paths.PREFIX, suffix: paths.SUFFIX, run: paths.RUN, subsequence: paths.SUBSEQUENCE}
    for measure, index in order.items():
        expected = [[measure(list(a), list(b)) for b in parts] for a in parts]
        assert np.array_equal(common[index], expected)


def test_files_that_change_later_change_what_a_past_review_was_about():
    router = RevFinder()
    router.observe(happen(0, "opened", "ann", files=("old/x.c",)))
    router.observe(happen(1, "review_submitted", "bob"))
    router.observe(happen(2, "opened", "ann", pr=2, files=("new/z.c",)))
    router.observe(happen(3, "review_submitted", "cy", pr=2))
    assert logins(router.rank(pull_request(files=("old/y.c",)))) == ["bob", "cy"]
    assert logins(router.rank(pull_request(files=("new/y.c",)))) == ["cy", "bob"]
    router.observe(happen(4, "pushed", "ann", files=("new/x.c", "new/w.c")))
    router.observe(happen(5, "pushed", "ann", pr=2, files=("old/z.c",)))
    assert logins(router.rank(pull_request(files=("new/y.c",)))) == ["bob", "cy"]


def test_a_review_before_the_opening_counts_from_the_opening_on_and_one_of_the_author_never():
    router = RevFinder()
    router.observe(happen(0, "review_submitted", "bob"))
    router.observe(happen(1, "opened", "ann", files=("a/x.c",)))
    router.observe(happen(2, "review_submitted", "ANN"))
    router.observe(happen(3, "review_submitted", None))
    ranking = router.rank(pull_request(files=("a/y.c",)))
    assert logins(ranking) == ["bob"]
    assert ranking.risk == "low"


def test_risk():
    router = RevFinder()
    assert router.rank(pull_request(files=("a/x.c",))).risk == "high"
    router.observe(happen(0, "opened", "ann", files=("a/x.c",)))
    router.observe(happen(1, "review_submitted", "bob"))
    assert router.rank(pull_request(files=("a/y.c",))).risk == "low"
    assert router.rank(pull_request(files=("b/y.c",))).risk == "medium"
    nothing = router.rank(pull_request(files=()))
    assert (logins(nothing), nothing.risk) == ([], "high")


def test_a_path_of_any_depth_is_compared():
    deep = "/".join("d" * 300)
    router = RevFinder()
    router.observe(happen(0, "opened", "ann", files=(deep + "/x.c",)))
    router.observe(happen(1, "review_submitted", "bob"))
    assert logins(router.rank(pull_request(files=(deep + "/y.c",)))) == ["bob"]
    assert len(paths.split_path(deep)) == 63


def test_many_places_outgrow_the_first_room():
    past = [([f"dir{n}/sub{n % 7}/f{n % 5}.c"], [f"r{n % 9}"]) for n in range(150)]
    files = ["dir3/sub3/f3.c", "dir149/sub0/g.c"]
    assert by_algebra(past, files) == by_definition(past, files)


@pytest.mark.parametrize(("letters", "deepest"), [("a", 12), ("ab", 9), ("abcde", 5), ("ab", 20)])
def test_common_parts_of_folders_that_share_what_is_above_them(letters, deepest):
    chance = random.Random(deepest)
    folders = list({tuple(chance.choices(letters, k=chance.randint(0, deepest))) for _ in range(40)})
    places = paths.Places()
    for number, folder in enumerate(folders):
        assert places.number(folder, named=False) == number
    common = places.common(range(len(folders)))
    order = {prefix: paths.PREFIX, suffix: paths.SUFFIX, run: paths.RUN, subsequence: paths.SUBSEQUENCE}
    for measure, index in order.items():
        plain = common_subsequence if measure is subsequence else measure
        assert np.array_equal(common[index], [[plain(a, b) for b in folders] for a in folders])


def common_subsequence(a, b):
    """By the usual table, for parts too many for the plain definition."""
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def test_what_folders_have_above_them_is_compared_once_for_all_of_them():
    """A thousand folders below twenty: as many steps as there are folders, not twenty times as many."""
    places = paths.Places()
    above = tuple(f"level{n}" for n in range(20))
    for number in range(1000):
        places.number((*above, f"folder{number}"), named=False)
    assert sum(len(level.numbers) for level in places._levels) == 1020
