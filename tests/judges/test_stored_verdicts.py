"""Stored verdicts as the judge: who is found how, what an unlisted pair is, and Martian's published table."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from metareview.api import evaluate_comments, load_run
from metareview.errors import UsageError
from metareview.formats.verdicts import read_verdicts
from metareview.judges.labelled import warnings_of
from metareview.judges.protocol import Question
from metareview.judges.stored import FileJudge

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "martian"
real = pytest.mark.skipif(not DATA.exists(), reason="the Code Review Bench data is not beside this checkout")
PR = "https://github.com/octo/app/pull/1"
ENTRY = {"true_positives": [{"golden_comment": "it leaks", "matched_candidate": "leak", "confidence": 0.9}],
         "false_positives": [{"candidate": "style"}], "false_negatives": [{"golden_comment": "race"}],
         "total_candidates": 2}  # fmt: skip


def judge_of(tmp_path, *records):
    path = tmp_path / "verdicts.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return FileJudge(read_verdicts(path))


def question(generated, reference, pr=PR, reviewer="bot", **more):
    pairs = [(g, r) for g in range(len(generated)) for r in range(len(reference))]
    places = {"generated_at": range(len(generated)), "reference_at": range(len(reference))}
    return Question(generated, reference, np.array(pairs, np.int64).reshape(-1, 2), pr, reviewer, **{**places, **more})


def match_of(judge, asked):
    [answer] = judge.judge([asked])
    return answer.match.tolist()


def label(a, b, match, **more):
    return {"a": a, "b": b, "match": match, **more}


def test_an_unlisted_pair_is_a_no_where_both_notes_occur_and_else_undecided(tmp_path):
    judge = judge_of(tmp_path, {PR: {"bot": ENTRY}})
    asked = question(["leak", "style", "new"], ["it leaks", "race", "also new"])
    [answer] = judge.judge([asked])
    assert answer.match.tolist() == [1, 0, -1, 0, 0, -1, -1, -1, -1]
    assert answer.score[:2].tolist() == [0.9, 0.0]
    assert np.isnan(answer.score[2])
    assert set(answer.by[:2]) == {"model"}
    assert judge.parameters == {"verdicts": "martian"}
    [remark] = warnings_of(judge, None, [asked])
    assert remark == "5 pairs without a verdict in verdicts.jsonl: 5 with a note that it does not have"


def test_why_there_is_no_verdict(tmp_path):
    judge = judge_of(tmp_path, {PR: {"bot": ENTRY}})
    asked = [question(["leak"], ["it leaks"], reviewer="Bot"), question(["x"], ["y"], pr="octo/app#2")]
    assert [match_of(judge, each) for each in asked] == [[-1], [-1]]
    [remark] = warnings_of(judge, None, asked)
    assert "1 with a reviewer whom it does not have there, 1 with a pull request that it does not have" in remark


@pytest.mark.parametrize("pr", [PR, "octo/app#1", "https://api.github.com/repos/Octo/App/pulls/1"])
def test_a_pull_request_is_found_however_it_is_written(tmp_path, pr):
    judge = judge_of(tmp_path, {PR: {"bot": ENTRY}})
    assert match_of(judge, question(["leak"], ["it leaks"], pr=pr)) == [1]


def test_a_short_address_that_may_mean_two_is_not_guessed(tmp_path):
    judge = judge_of(tmp_path, {PR: {"bot": ENTRY}, "https://git.example.com/octo/app/pull/1": {"bot": ENTRY}})
    assert match_of(judge, question(["leak"], ["it leaks"], pr="octo/app#1")) == [-1]


def test_one_pull_request_that_the_file_writes_in_two_ways(tmp_path):
    other = {**ENTRY, "true_positives": [], "false_positives": [{"candidate": "late"}]}
    judge = judge_of(tmp_path, {PR: {"bot": ENTRY}, "octo/app#1": {"bot": other}})
    assert match_of(judge, question(["leak", "late"], ["it leaks"])) == [1, 0]


def test_plain_labels_hold_everywhere_and_imply_a_no_within_their_group(tmp_path):
    judge = judge_of(
        tmp_path,
        label("it leaks", "leak", True, group="one"),
        label("race", "style", 0, group="one"),
        label("slow", "loop", True),
    )
    asked = question(["leak", "style", "loop"], ["it leaks", "race", "slow"], reviewer="anybody")
    # Within the group a pair that is not listed is a no; "loop" and "slow" have no group, so nothing is implied.
    assert match_of(judge, asked) == [1, 0, -1, 0, 0, -1, -1, -1, 1]
    assert match_of(judge, question(["leak"], ["it leaks"], negative=True)) == [-1]


def test_a_label_that_was_taken_back_is_no_verdict_though_both_notes_are_known(tmp_path):
    said = {"pr": PR, "reviewer": "bot", "generated": 0, "reference": 0, "at": "2026-01-01T00:00:00Z", "name": "anna"}
    first, second = label("it leaks", "leak", True, **said), label("race", "leak", False, **{**said, "reference": 1})
    judge = judge_of(tmp_path, first, second, {**first, "match": None})
    [answer] = judge.judge([question(["leak"], ["it leaks", "race"])])
    assert answer.match.tolist() == [-1, 0]
    assert answer.by == ["label", "label"]


def test_comments_of_the_file_that_are_not_scored_are_counted(tmp_path):
    judge = judge_of(tmp_path, {PR: {"bot": ENTRY}})
    assert warnings_of(judge, None, [question(["leak"], ["it leaks"])]) == [
        "1 comment of verdicts.jsonl not among those scored: bot 1"
    ]


def test_space_at_the_ends_and_long_notes(tmp_path):
    long = "y" * 120_000
    judge = judge_of(tmp_path, label("it leaks", long, True, group="g"))
    assert match_of(judge, question([long[:20_000]], ["\nit leaks "])) == [1]


def test_notes_are_found_however_their_characters_are_encoded(tmp_path):
    judge = judge_of(tmp_path, label("the caf\u00e9 leaks", "cafe\u0301", True, pr=PR, reviewer="bot"))
    asked = question(["caf\u00e9"], ["the cafe\u0301 leaks"])
    assert match_of(judge, asked) == [1]
    assert warnings_of(judge, None, [asked]) == []


# A run's own verdicts

COMMENTS = [{"pr": PR, "reviewer": "bot", "comments": [
    {"note": "", "path": "a.py", "from_line": 1},  # not counted: positions are not indices
    {"note": "Close the file handle", "path": "a.py", "from_line": 3},
    {"note": "Close the file handle", "path": "a.py", "from_line": 60},
    {"note": "Rename it", "path": "a.py", "from_line": 10}]}]  # fmt: skip
REFERENCES = [{"pr": PR, "comments": [
    {"note": "The file is never closed", "path": "a.py", "from_line": 3},
    {"note": "The file is never closed", "path": "a.py", "from_line": 61},
    {"note": "Name the number", "path": "a.py", "from_line": 12}]}]  # fmt: skip
NEGATIVES = [{"pr": PR, "comments": [{"note": "Rename it", "path": "a.py", "from_line": 10}]}]


def rows(run):
    return [json.loads(line) for line in (run.folder / "pairs.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("notes", [True, False])
def test_a_runs_pairs_give_its_figures_and_its_pairs_again(tmp_path, notes):
    first = evaluate_comments(COMMENTS, reference=REFERENCES, negatives=NEGATIVES, out=tmp_path / "one")
    if not notes:
        for name in ("results.jsonl", "manifest.json"):  # as somebody has it who was given the pairs alone
            (tmp_path / "one" / name).unlink()
    again = evaluate_comments(COMMENTS, reference=REFERENCES, negatives=NEGATIVES, out=tmp_path / "two",
                              verdicts=tmp_path / "one" / "pairs.jsonl")  # fmt: skip
    assert first.metrics == again.metrics
    assert rows(first) == rows(again)
    assert len(rows(first)) == 6  # three of them too far apart to count: those are stored, too
    assert (again.summary["judge"]["name"], again.summary["judge"]["errors"]) == ("verdicts", 0)
    names = [name for name in again.manifest.inputs if name.startswith("verdicts/")]
    assert names == ["verdicts/pairs.jsonl", *(["verdicts/results.jsonl"] if notes else [])]


def test_notes_go_before_positions(tmp_path):
    evaluate_comments(COMMENTS, reference=REFERENCES, out=tmp_path / "one", judge="offline")
    turned = [{**COMMENTS[0], "comments": COMMENTS[0]["comments"][::-1]}]
    again = evaluate_comments(turned, reference=REFERENCES, verdicts=tmp_path / "one" / "pairs.jsonl")
    assert again.metrics["bot"] == load_run(tmp_path / "one").metrics["bot"]


def test_a_run_that_goes_on_after_a_kill_has_the_same_summary(tmp_path):
    entry = {PR: {"bot": ENTRY}, "octo/app#2": {"bot": ENTRY}}
    (tmp_path / "e.json").write_text(json.dumps(entry))
    said = [{"pr": pr, "reviewer": "bot", "comments": [{"note": "leak"}, {"note": "new"}]} for pr in entry]
    wanted = [{"pr": pr, "comments": [{"note": "it leaks"}]} for pr in entry]

    def run():
        return evaluate_comments(said, reference=wanted, verdicts=tmp_path / "e.json", out=tmp_path / "run")

    whole = run().summary
    folder = tmp_path / "run"
    for name in ("results.jsonl", "pairs.jsonl"):
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[: len(lines) // 2]))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "status": "running"}))
    assert run().summary == whole
    assert whole["judge"]["cached"] == 0  # verdicts of a model, and no cache


def test_options_that_contradict(tmp_path):
    for more, message in (
        ({"judge": "exact"}, "takes the place of a judge"),
        ({"threshold": 0.5}, "--threshold means nothing"),
    ):
        with pytest.raises(UsageError, match=message):
            evaluate_comments(COMMENTS, reference=REFERENCES, verdicts="v.json", **more)
    with pytest.raises(UsageError, match="--verdicts FILE"):
        evaluate_comments(COMMENTS, reference=REFERENCES, judge="verdicts")


# Martian's published table


def published(path):
    """The sums that the file publishes, by tool."""
    sums = {}
    for tools in json.loads(path.read_text("utf-8")).values():
        for tool, entry in tools.items():
            if not entry["skipped"]:
                sums.setdefault(tool, Counter()).update({name: entry[name] for name in ("tp", "fp", "fn")})
    return sums


def not_alike(path):
    """By tool, by how much its false positives must differ from what candidates.json gives: comments that the file
    counts and quotes nowhere (a golden comment's second match), those given twice, and those that it has alone."""
    candidates = json.loads((DATA / "candidates.json").read_text("utf-8"))
    differing = Counter()
    for url, tools in json.loads(path.read_text("utf-8")).items():
        for tool, entry in tools.items():
            given = [each["text"] for each in candidates[url].get(tool, ())]
            quoted = {hit["matched_candidate"] for hit in entry["true_positives"]}
            wrong = [each["candidate"] for each in entry["false_positives"]]
            unquoted = sum(note not in quoted and note not in wrong for note in given)
            repeated = sum(note in wrong for note in given) - len({note for note in given if note in wrong})
            differing[tool] += unquoted + repeated - sum(note not in given for note in wrong)
    return differing


@real
def test_martians_table_comes_out_tool_by_tool():
    path = DATA / "evaluations.json"
    run = evaluate_comments(DATA / "candidates.json", reference=sorted(DATA.glob("golden_*.json")), verdicts=path,
                            alignment="coverage", all_prs=True)  # fmt: skip
    table, differing = published(path), not_alike(path)
    assert len(table) == 12
    for tool, wanted in table.items():
        ours = run.summary["reviewers"][tool]
        assert ours["positive_covered_nums"] == wanted["tp"], tool
        assert ours["positive_expected_nums"] - ours["positive_covered_nums"] == wanted["fn"], tool
        assert ours["unmatched_nums"] - differing[tool] == wanted["fp"], tool
    # All that differs, counted in the files themselves; four tools have none, greptile as much more as less.
    assert {tool: count for tool, count in differing.items() if count} == {
        "qodo": 2, "gemini": 2, "claude": 1, "bugbot": 1, "coderabbit": 1, "copilot": 8, "propel": -6, "baz": -10,
    }  # fmt: skip
    assert run.summary["judge"]["errors"] == 22
    assert "22 pairs without a verdict in evaluations.json: 22 with a note that it does not have" in run.result.warnings
    assert "17 comments of evaluations.json not among those scored: baz 10, propel 6, greptile 1" in run.result.warnings


@real
def test_the_table_of_candidates_that_are_quoted_once_is_martians_own_to_the_last_figure(tmp_path):
    """Scored are the comments that the file quotes, each once: nothing differs but a comment that raises two golden
    comments, which Martian counts twice."""
    path = DATA / "evaluations.json"
    quoted, twice = [], Counter()
    for url, tools in json.loads(path.read_text("utf-8")).items():
        for tool, entry in tools.items():
            hits = [hit["matched_candidate"] for hit in entry["true_positives"]]
            notes = dict.fromkeys([*hits, *(each["candidate"] for each in entry["false_positives"])])
            quoted.append({"pr": url, "reviewer": tool, "comments": [{"note": note} for note in notes]})
            twice[tool] += len(hits) - len(set(hits))
    run = evaluate_comments(quoted, reference=sorted(DATA.glob("golden_*.json")), verdicts=path, alignment="coverage")
    assert run.summary["judge"]["errors"] == 0
    for tool, wanted in published(path).items():
        ours = run.summary["reviewers"][tool]
        found = ours["positive_covered_nums"], ours["unmatched_nums"]
        assert (*found, ours["positive_expected_nums"] - found[0]) == (wanted["tp"], wanted["fp"], wanted["fn"]), tool
        assert ours["positive_match_nums"] == wanted["tp"] - twice[tool]
