"""Corrected figures against a second, plain implementation of their definition, on many small made-up runs."""

import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from labelled_runs import Lenient, People, issue_of, label_all, make_run, records
from metareview.api import evaluate_comments, load_run
from metareview.benchmark.run_labels import calibrate_run
from metareview.comments.filters import FilterConfig
from metareview.comparison.frame import open_frame
from metareview.formats.labels import read_labels
from metareview.judges.protocol import UNDECIDED, Answer
from metareview.runs.labels import LABELS, LabelFile

NOTES = ("null", "lock", "slow", "loop", "typo")


class Torn(Lenient):
    """Now and then without a verdict."""

    name = "torn"

    def _answer(self, question):
        answer = super()._answer(question)
        undecided = np.array([len(question.generated[g]) % 7 == 0 for g, _ in question.pairs], bool)
        score, match = np.where(undecided, np.nan, answer.score), np.where(undecided, UNDECIDED, answer.match)
        return Answer(score, match.astype(np.int8))


def a_note(rng, with_place):
    comment = {"note": f"i{rng.randrange(3)} " + " ".join(rng.choices(NOTES, k=rng.randint(1, 8)))}
    if with_place:
        line = 1 + 4 * rng.randrange(9)
        comment |= {"path": rng.choice(["a.py", "b.py"]), "from_line": line, "to_line": line + rng.randrange(4)}
    return comment


def a_world(seed):
    """Everything that a run can have: several reviewers, not all on every pull request, equal notes, neutral and
    filtered references, pull requests without references."""
    rng = random.Random(seed)
    with_place, reviewers = seed % 4 != 0, rng.randint(1, 3)
    references, reviews = [], []
    for number in range(1, 26):
        pr = f"https://github.com/o/r/pull/{number}"
        expected = [a_note(rng, with_place) for _ in range(rng.choice([0, 1, 3, 6] if with_place else [0, 1, 2]))]
        for each in expected:
            each |= {"category": rng.choice(["Code Defect", "Other"])} | ({"neutral": True} if seed % 3 == 1 else {})
            if rng.random() < 0.7:
                each.pop("neutral", None)
        references.append({"pr": pr, "comments": expected + expected[:1]})
        for reviewer in range(reviewers):
            if rng.random() < 0.85:
                said = [a_note(rng, with_place) for _ in range(rng.choice([0, 1, 4, 7]))]
                reviews.append({"pr": pr, "reviewer": f"r{reviewer}", "comments": said + said[1:2]})
    return reviews, references


def matching(edges):
    """The most pairs of which no two share an end, by augmenting paths."""
    taken = {}

    def find(comment, seen):
        for reference in (r for g, r in edges if g == comment and r not in seen):
            seen.add(reference)
            if reference not in taken or find(taken[reference], seen):
                taken[reference] = comment
                return True
        return False

    return sum(find(comment, set()) for comment in sorted({g for g, _ in edges}))


def components(edges):
    parts = []
    for edge in edges:
        touching = [part for part in parts if any(edge[0] == g or edge[1] == r for g, r in part)]
        parts = [part for part in parts if part not in touching] + [
            [edge, *(each for part in touching for each in part)]
        ]
    return parts


def near(comment, reference):
    """At most a line apart, in one file; a run without places compares none."""
    if "path" not in comment:
        return True
    gap = max(reference["from_line"] - comment["to_line"], comment["from_line"] - reference["to_line"])
    return comment["path"] == reference["path"] and gap <= 1


def plain_blocks(folder, reviews, references, kept, coverage):
    """(record, what it counts, pairs) of every block, with the judge's number and its greatest s(1 - s)."""
    expected = {each["pr"]: each["comments"] for each in references}
    said = {(each["pr"], each["reviewer"]): each["comments"] for each in reviews}
    judged = {}
    for pair in map(json.loads, (folder / "pairs.jsonl").read_text().splitlines()):
        judged[pair["pr"], pair["reviewer"], pair["generated"], pair["reference"]] = pair
    for record in map(json.loads, (folder / "results.jsonl").read_text().splitlines()):
        key = record["github_pr_url"], record["reviewer"]
        left_out = {each["generated"] for each in record["match_details"] if each["left_out"]}
        edges = [
            (g, r)
            for g, ours in enumerate(said[key])
            for r, theirs in enumerate(expected[key[0]])
            if g not in left_out and kept(theirs) and near(ours, theirs)
        ]
        parts = [("matches", part) for part in components(edges)]
        if coverage:
            parts = [("references", [edge for edge in edges if edge[1] == r]) for r in {r for _, r in edges}]
            parts += [("comments", [edge for edge in edges if edge[0] == g]) for g in {g for g, _ in edges}]
        for counted, part in parts:
            pairs = [judged[(*key, *edge)] for edge in part]
            scores = [0.5 if pair["score"] is None else pair["score"] for pair in pairs]
            number = matching([edge for edge, pair in zip(part, pairs, strict=True) if pair["match"]])
            yield key, counted, frozenset(part), number > 0, max(score * (1 - score) for score in scores)


def plain_numbers(strata, budget):
    """n_h for {stratum: [s(1-s), ...]}: by weight, at least 8 or all, never more than there are."""
    weight = {h: len(of) * math.sqrt(max(0.04, sum(of) / len(of))) for h, of in strata.items()}
    fixed = {}
    while free := [h for h in strata if h not in fixed]:
        left = budget - sum(fixed.values())
        quota = {h: left * weight[h] / sum(weight[each] for each in free) for h in free}
        low = {h: min(8, len(strata[h])) for h in free if quota[h] < min(8, len(strata[h]))}
        high = {h: len(strata[h]) for h in free if quota[h] > len(strata[h])}
        if not low and not high:
            number = {h: math.floor(quota[h]) for h in free}
            for h in sorted(free, key=lambda h: number[h] - quota[h])[: left - sum(number.values())]:
                number[h] += 1
            return fixed | number
        too_low, too_high = sum(low[h] - quota[h] for h in low), sum(quota[h] - high[h] for h in high)
        fixed |= low if too_low >= too_high else high
    return fixed


def plain_interval(y, x, hidden=0.0):
    """`hidden`: the variance of the sum of y that strata without a surprise add."""
    rows = [(one, of) for one, of in zip(y, x, strict=True) if of]
    n, total, size = len(rows), sum(one for one, _ in rows), sum(of for _, of in rows)
    if n < 2:
        return None
    rate = min(max(total / size, 0.0), 1.0)
    without = [(total - one) / (size - of) for one, of in rows]
    error = math.sqrt((n - 1) / n * sum((each - sum(without) / n) ** 2 for each in without))
    t, extra = stats.t.ppf(0.975, n - 1), hidden / size**2
    if not 0 < rate < 1:
        low = stats.beta.ppf(0.025, rate * n, n + 1 - rate * n) if rate else 0
        high = stats.beta.ppf(0.975, rate * n + 1, n - rate * n) if rate < 1 else 1
        below, above = (math.sqrt((end - rate) ** 2 + t**2 * extra) for end in (low, high))
        return max(0, rate - below), min(1, rate + above)
    reach = t * math.sqrt(error**2 + extra) / rate / (1 - rate)
    odds = [math.log(rate / (1 - rate)) + sign * reach for sign in (-1, 1)]
    return tuple(1 / (1 + math.exp(-each)) for each in odds)


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
@pytest.mark.parametrize("seed", range(6))
def test_blocks_strata_estimates_and_intervals_are_as_defined(tmp_path, seed, alignment):
    reviews, references = a_world(seed)
    filters = FilterConfig(comment_categories=["Code Defect"]) if seed % 3 == 2 else None
    judge = Torn() if seed % 2 else Lenient()
    folder, budget = tmp_path / "run", 70
    evaluate_comments(reviews, reference=references, judge=judge, alignment=alignment, filters=filters, out=folder)
    run, coverage = load_run(folder), alignment == "coverage"

    def kept(reference):
        return not reference.get("neutral") and (filters is None or reference["category"] == "Code Defect")

    blocks = list(plain_blocks(folder, reviews, references, kept, coverage))
    frame = open_frame(run, budget=budget)
    fine = {stratum.counted for stratum in frame.strata if stratum.reviewer is not None}

    # Strata, and how many are drawn of each.
    def stratum_of(block):
        band = 0 if block[4] < 0.05 else 1 if block[4] < 0.15 else 2
        return block[1], block[0][1] if block[1] in fine else None, block[3], band

    strata = {}
    for block in blocks:
        strata.setdefault(stratum_of(block), []).append(block[4])
    names = [(each.counted, each.reviewer, each.judged, each.unsure) for each in frame.strata]
    assert dict(zip(names, [each.size for each in frame.strata], strict=True)) == {
        h: len(of) for h, of in strata.items()
    }
    drawn = [((block.pr, block.reviewer), block.counted, frozenset(block.pairs)) for _, block in frame.drawn]
    for counted in {name[0] for name in names}:
        of_kind = {h: of for h, of in strata.items() if h[0] == counted}
        numbers = {h: sum(names[at] == h for at, _ in frame.drawn) for h in of_kind}
        assert numbers == plain_numbers(of_kind, budget // 2 if coverage else budget)
    assert set(drawn) <= {block[:3] for block in blocks}

    # People label the drawn blocks; each stands for its stratum.
    label_all(run)
    said = {(each["pr"], each["reviewer"]): each["comments"] for each in reviews}
    expected = {each["pr"]: each["comments"] for each in references}

    def true_number(key, pairs):
        return matching(
            [(g, r) for g, r in pairs if issue_of(said[key][g]["note"]) == issue_of(expected[key[0]][r]["note"])]
        )

    known = {block: true_number(block[0], block[2]) for block in drawn}
    if coverage:  # labels on a drawn reference may settle blocks of comments that were drawn, which are known as well
        assert calibrate_run(run).to_dict()["frame"]["labelled"] == len(known)
    sample = {}
    for block in blocks:
        if block[:3] in known:
            sample.setdefault(stratum_of(block), []).append(known[block[:3]])

    def estimate(key, *counted):
        total = 0.0
        for block in blocks:
            if block[0] == key and block[1] in counted:
                of = sample[stratum_of(block)]
                mean = sum(of) / len(of)
                total += mean
                if block[:3] in known:
                    total += len(strata[stratum_of(block)]) / len(of) * (known[block[:3]] - mean)
        return total

    def hidden(name, *counted):
        """Half a surprise for each stratum whose labelled blocks all have the number 0, or all 1."""
        total = 0.0
        for h, of in sample.items():
            if h[0] in counted and len(of) < len(strata[h]) and (set(of) in ({0}, {1})):
                u = sum(block[0][1] == name and block[:3] not in known for block in blocks if stratum_of(block) == h)
                p = 0.5 / (len(of) + 1)
                total += u * (u + len(of)) * p * (1 - p) / (len(of) + 1)
        return total

    corrected = calibrate_run(run).to_dict()["corrected"]
    assert set(corrected) == {each["reviewer"] for each in reviews}
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    for name, figures in corrected.items():
        own = [row for row in rows if row["reviewer"] == name]
        keys = [(row["github_pr_url"], name) for row in own]
        generated = [row["total_generated_nums"] for row in own]
        wanted = [row["positive_expected_nums"] for row in own]
        matched = [estimate(key, "matches", "comments") for key in keys]
        covered = [estimate(key, "matches", "references") for key in keys]
        of_comments, of_references = hidden(name, "matches", "comments"), hidden(name, "matches", "references")
        cases = {
            "positive_match_rate": (matched, generated, of_comments),
            "positive_recall_rate": (covered, wanted, of_references),
        }
        if not coverage:
            cases["f1"] = matched, [(g + r) / 2 for g, r in zip(generated, wanted, strict=True)], of_comments
        for metric, (y, x, unseen) in cases.items():
            assert figures["metrics"][metric] == pytest.approx(min(max(sum(y) / sum(x), 0), 1))
            assert figures["intervals"][metric] == pytest.approx(plain_interval(y, x, unseen))


@pytest.mark.parametrize("alignment", ["optimal", "coverage", "greedy"])
@pytest.mark.parametrize(
    "options", [{}, {"ignore_location": True}, {"filters": FilterConfig(comment_categories=["Other"])}]
)
def test_a_runs_own_pairs_as_verdicts_give_its_figures_again(tmp_path, alignment, options):
    reviews, references = a_world(5)
    negatives = [{"pr": each["pr"], "comments": each["comments"][:2]} for each in reversed(a_world(6)[1])]
    options = options | {"alignment": alignment, "negatives": negatives, "reference": references}
    first = evaluate_comments(reviews, judge=Torn(), out=tmp_path / "first", **options)
    again = evaluate_comments(reviews, verdicts=tmp_path / "first" / "pairs.jsonl", out=tmp_path / "again", **options)
    assert again.summary["reviewers"] == first.summary["reviewers"]


def test_kappa_with_a_runs_labels_by_hand(tmp_path):
    run = make_run(tmp_path / "run", prs=20, reviewers=("x", "y"))
    label_all(run, name="anna")
    said = {label.key: label.match for label in LabelFile(run.folder).read().pairs}
    pairs = [json.loads(line) for line in (run.folder / "pairs.jsonl").read_text().splitlines()]
    keys = {(each["pr"], each["reviewer"], each["generated"], each["reference"]): each["match"] for each in pairs}
    both = [(keys[key], match) for key, match in said.items()]
    n, agreed = len(both), sum(judge == person for judge, person in both)
    yes = [sum(column) for column in zip(*both, strict=True)]
    by_chance = (yes[0] * yes[1] + (n - yes[0]) * (n - yes[1])) / n**2
    found = calibrate_run(run).to_dict()
    assert found["n"] == n
    assert found["kappa"] == pytest.approx((agreed / n - by_chance) / (1 - by_chance))


def test_labels_of_other_notes_at_the_same_positions_change_nothing(tmp_path):
    run = make_run(tmp_path / "run")
    label_all(run, name="anna")
    before, labels = calibrate_run(run).to_dict(), LabelFile(run.folder)
    first = labels.read().pairs[0]
    read_before = {(each.pr, each.candidate, each.reference): each.match for each in read_labels(run.folder / LABELS)}
    labels.append([replace(first, comment_note="of an earlier run", match=not first.match)])
    after = calibrate_run(run).to_dict()
    assert after == before | {"stale_labels": 1}
    read_after = {(each.pr, each.candidate, each.reference): each.match for each in read_labels(run.folder / LABELS)}
    assert read_after == read_before | {(first.pr, "of an earlier run", first.reference_note): not first.match}


def test_the_plan_foretells_what_every_block_labelled_would_bring(tmp_path):
    """Also of a judge that is always right, of whose errors a sample shows none."""
    reviews, references = records(prs=200)
    figures = []
    for name, budget in (("some", 32), ("all", 2000)):
        evaluate_comments(reviews, reference=references, judge=People(), out=tmp_path / name)
        run = load_run(tmp_path / name)
        label_all(run, budget=budget)
        figures.append(calibrate_run(run).to_dict()["corrected"]["x"]["plan"])
    some, full = figures
    assert full["half_width"] == pytest.approx(full["at_best"])
    assert some["at_best"] == pytest.approx(full["half_width"], rel=0.25)
    assert some["half_width"] >= some["at_best"]
