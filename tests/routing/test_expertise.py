"""Who knows which files: expertise of lists, and files at risk, by hand and by brute force."""

import random

import pytest
from routing_stories import DAYS, MINUTE, happen, history_of, score_history, summary_of

from metareview.routing.knowledge import Knowledge
from metareview.runs.routing_json import record_from_json, record_to_json, summary_from_json, summary_to_json

STORY = (
    happen(0, "opened", "ann", files=("a", "b")),
    happen(5, "review_submitted", "bob"),
    happen(6, "comment", "cy"),
    happen(100, "opened", "cy", pr=2, files=("b", "c")),
    happen(110, "review_submitted", "dan", pr=2),
    happen(200, "opened", "ann", pr=3, files=("c", "d")),
    happen(210, "review_submitted", "bob", pr=3),
    happen(300, "opened", "bob", pr=4),
    happen(500, "merged", "bob", pr=4),
)


def knows(*events):
    knowledge = Knowledge()
    for event in events:
        knowledge.observe(event)
    return lambda path: knowledge.sources(path)


def test_who_changed_or_reviewed_a_file_knows_it():
    known = knows(*STORY[:5])
    assert [known(path) for path in "abcd"] == [
        {"ann": 1, "bob": 1},
        {"ann": 1, "bob": 1, "cy": 1, "dan": 1},
        {"cy": 1, "dan": 1},
        {},
    ]


def test_a_review_is_of_the_files_of_then():
    pushed = happen(20, "pushed", "eve", files=("a", "c"))
    known = knows(*STORY[:2], pushed)
    assert known("a") == {"ann": 1, "bob": 1, "eve": 1}
    assert known("c") == {"ann": 1, "eve": 1}
    assert known("b") == {"ann": 1, "bob": 1}
    named = happen(30, "review_comment", "fay", files=("c",))
    assert knows(*STORY[:2], pushed, named)("c") == {"ann": 1, "eve": 1, "fay": 1}
    assert knows(*STORY[:2], pushed, happen(30, "review_submitted", "bob"))("a")["bob"] == 1  # once per pull request


def test_files_that_come_late_are_the_authors():
    known = knows(happen(0, "opened", "ann"), happen(1, "review_submitted", "bob"), happen(2, "edited", files=("a",)))
    assert known("a") == {"ann": 1}


def test_expertise_by_hand():
    result = score_history(history_of(*STORY), ["popularity"], k=(1, 2), truth_window="60m")
    # 1: nobody is listed. 2: bob (a review; cy is the author) knows b. 3: dan, then bob; dan knows c. 4: no files.
    assert [record.answers["popularity"].candidates for record in result.records[:3]] == [
        (),
        ("bob",),
        ("dan", "cy", "bob"),
    ]
    figures = [record.answers["popularity"].figures for record in result.records]
    assert [each["expertise@1"] for each in figures] == [0, 1, 1, None]
    found = result.summary.routers["popularity"].expertise
    assert (found.prs, found.metrics) == (3, {"expertise@1": pytest.approx(2 / 3), "expertise@2": pytest.approx(2 / 3)})
    # Really: bob on 1, who knew nothing; dan on 2, likewise; bob on 3, who knew neither c nor d.
    assert [record.truth_expertise for record in result.records] == [False, False, False, None]
    actual = result.summary.expertise
    assert (actual.prs, actual.unknown, actual.observed_prs, actual.expertise) == (3, 1, 3, 0.0)


def test_without_files_nothing_is_known():
    story = [event._replace(files=None) for event in STORY]
    summary = summary_of(history_of(*story), ["popularity"])
    assert summary["expertise"] is summary["files_at_risk"] is None
    assert summary["routers"]["popularity"]["expertise"] is summary["routers"]["popularity"]["files_at_risk"] is None


def test_files_at_risk_by_hand():
    summary = summary_of(history_of(*STORY), ["popularity"], truth_window="60m")
    # a: ann, bob. b: all four. c: cy, dan, ann, bob. d: ann, bob. All are active.
    assert summary["files_at_risk"] == {
        "files": 4, "active_people": 4, "active_days": 180, "actual": {"at_risk": 0, "share": 0.0},
    }  # fmt: skip
    # Bob for dan on 2: b has ann, bob and cy, c cy and bob. Dan for bob on 3: c and d have him instead.
    assert summary["routers"]["popularity"]["files_at_risk"] == {
        "files": 4, "at_risk": 0, "share": 0.0, "replaced": 2,
    }  # fmt: skip


def test_who_has_left_knows_nothing():
    later = [event._replace(at=event.at + 200 * DAYS * MINUTE, pr=event.pr + 10) for event in STORY[5:7]]
    summary = summary_of(history_of(*STORY, *later), ["popularity"], truth_window="60m", prs=[13, 1])
    # At the end only ann and bob were active of late: a, b, c and d are known by both.
    assert summary["files_at_risk"]["actual"] == {"at_risk": 0, "share": 0.0}
    assert summary["files_at_risk"]["active_people"] == 2
    others = [event._replace(actor="eve" if event.kind == "opened" else "fay") for event in later]
    gone = summary_of(history_of(*STORY, *others), ["popularity"], truth_window="60m", prs=[13, 1])
    assert (gone["files_at_risk"]["files"], gone["files_at_risk"]["actual"]["at_risk"]) == (4, 2)


def random_history(seed):
    rng = random.Random(seed)
    people = ["ann", "bob", "cy", "dan", "eve"]
    events = []
    for pr in range(1, 15):
        repo, at = f"o/r{pr % 2}", pr * rng.choice([1, 20]) * DAYS
        files = tuple(sorted(rng.sample("abcdef", rng.randint(0, 3))))
        events.append(happen(at, "opened", rng.choice(people), pr=pr, repo=repo, files=files))
        for step in range(rng.randint(0, 4)):
            kind = rng.choice(["review_submitted", "review_comment", "comment", "pushed"])
            new = tuple(sorted(rng.sample("abcdef", 2))) if kind == "pushed" and rng.random() < 0.5 else None
            person = rng.choice(people)
            events.append(happen(at + step + 1, kind, person, pr=pr, repo=repo, files=new))
    return history_of(*events)


def sources(events, left_out=(), added=()):
    """(repository, file) to who knows it; `left_out` and `added` are (pull request, person) of reviews."""
    known, files, authors = {}, {}, {}
    for event in events:
        key = (event.repo, event.pr)
        learning = []
        if event.kind in ("review_submitted", "review_comment"):
            learning = [event.actor] if (key, event.actor) not in left_out else []
            learning += [person for pr, reviewer, person in added if pr == key and reviewer == event.actor]
        elif event.kind != "comment":
            if event.kind == "opened":
                authors[key] = event.actor
            if event.files is not None:
                files[key] = event.files
                learning.append(authors[key])
            learning += [event.actor] if event.kind == "pushed" else []
        for person in learning:
            for path in files.get(key, ()):
                known.setdefault((event.repo, path), set()).add(person)
    return known


@pytest.mark.parametrize("seed", range(25))
def test_both_equal_brute_force(seed):
    history = random_history(seed)
    result = score_history(history, ["popularity", "chrev"], truth_window="none", k=(1, 2))
    at_risk = dict.fromkeys(("actual", "popularity", "chrev"), 0)
    scored = {(record.repo, path) for record in result.records for path in files_at(history, record)}
    swaps = {"actual": [], "popularity": [], "chrev": []}
    last = {record.repo: record.cutoff for record in result.records}  # They come by cutoff, within each.
    for record in result.records:
        key = (record.repo, record.pr)
        before = [event for event in history.events if event.repo == record.repo and event.at <= record.cutoff]
        files = files_at(history, record)
        experts = set().union(*(sources(before).get((record.repo, path), set()) for path in files))
        reviews = [
            event.actor for event in history.events
            if (event.repo, event.pr) == key and record.cutoff < event.at <= last[record.repo]
            and event.actor != record.author and event.kind in ("review_submitted", "review_comment")
        ]  # fmt: skip
        for name, answer in record.answers.items():
            for k in (1, 2):
                expected = int(bool(experts & set(answer.candidates[:k]))) if files else None
                assert answer.figures[f"expertise@{k}"] == expected
            if reviews and answer.candidates and answer.candidates[0] != reviews[0]:
                swaps[name].append((key, reviews[0], answer.candidates[0]))
        told = bool(experts & set(record.truth.targets)) if files and record.truth.targets else None
        assert record.truth_expertise == told
    for repo in {record.repo for record in result.records}:
        events = [event for event in history.events if event.repo == repo]
        end = last[repo]
        events = [event for event in events if event.at <= end]
        active = {event.actor for event in events if event.at > end - 180 * DAYS * MINUTE}
        for name, changes in swaps.items():
            known = sources(events, {(pr, reviewer) for pr, reviewer, _ in changes}, changes)
            at_risk[name] += sum(len(known.get(key, set()) & active) < 2 for key in scored if key[0] == repo)
    summary = result.summary
    if not scored:
        assert summary.files_at_risk is None
        return
    assert (summary.files_at_risk.files, summary.files_at_risk.at_risk) == (len(scored), at_risk["actual"])
    for name in ("popularity", "chrev"):
        risk = summary.routers[name].files_at_risk
        assert (risk.at_risk, risk.replaced) == (at_risk[name], len(swaps[name]))


def files_at(history, record):
    story = [e for e in history.events if (e.repo, e.pr) == (record.repo, record.pr) and e.at <= record.cutoff]
    return next((event.files for event in reversed(story) if event.files is not None), ())


def test_what_was_written_is_read_back_equal():
    asked = happen(1, "review_requested", "ann", target="bob")
    for truth in ("first_response", "all_reviewers"):
        result = score_history(history_of(*STORY, asked), ["popularity", "chrev"], truth=truth)
        assert summary_from_json(summary_to_json(result.summary)) == result.summary
        assert [record_from_json(record_to_json(record)) for record in result.records] == result.records


def test_a_run_of_before_is_still_read():
    result = score_history(history_of(*STORY), ["popularity"], truth="all_reviewers").summary
    document = summary_to_json(result)
    new = [name for name in document["routers"]["popularity"] if name.startswith(("map", "ndcg", "recall"))]
    for key in ("expertise", "files_at_risk", "responses"):
        del document[key]
    for key in (*new, "expertise", "files_at_risk"):
        del document["routers"]["popularity"][key]
    old = summary_from_json(document)
    assert [measure.name for measure in old.measures] == ["hit@1", "hit@3", "hit@5", "mrr"]
    assert old.expertise is old.files_at_risk is old.responses is None
