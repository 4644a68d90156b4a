"""Known verdicts: what files say of references, what follows from it, and that nobody is measured by their own."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.verdicts import read_verdicts
from metareview.judges.known import KnownVerdicts
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import DIFFERENT, JUDGED_LENGTH, LONG_NOTE, SAME, UNDECIDED, Question
from metareview.judges.registry import JudgeOptions, open_judge
from metareview.runs.judge_json import known_to_json

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "martian"
real = pytest.mark.skipif(not DATA.exists(), reason="the Code Review Bench data is not beside this checkout")
PR, OTHER_PR = "https://github.com/octo/app/pull/1", "https://github.com/octo/app/pull/2"
LEAK, RACE, TYPO = "it leaks", "a race", "a typo"
REFERENCES = {PR: [LEAK, RACE, TYPO]}
Y, N, U = SAME, DIFFERENT, UNDECIDED


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def file_of(*records, name="v.jsonl"):
    return read_verdicts(InputFile.of_text(lines(*records), name))


def label(a, b, match, **more):
    return {"a": a, "b": b, "match": match, **more}


def known_of(*files, references=REFERENCES):
    return KnownVerdicts.of(files, references)


def asked(generated=("mine",), reference=tuple(REFERENCES[PR]), pr=PR, reviewer="bot", **more):
    pairs = [(g, r) for g in range(len(generated)) for r in range(len(reference))]
    return Question(generated, reference, np.array(pairs, np.int64).reshape(-1, 2), pr, reviewer, **more)


def table(known, question=None):
    """What is known, by note: one verdict per reference of the question."""
    found = known.known(question or asked())
    if found is None:
        return {}
    rows = enumerate(zip(found.notes, found.match.tolist(), strict=True))
    return {note: verdicts for row, (note, verdicts) in rows if row not in found.left_out}


def evaluation(true=(), wrong=(), missed=(), **more):
    return {"true_positives": [{"golden_comment": a, "matched_candidate": b, "confidence": 0.9} for a, b in true],
            "false_positives": [{"candidate": each} for each in wrong],
            "false_negatives": [{"golden_comment": each} for each in missed],
            "total_candidates": len({b for _, b in true}) + len(wrong), **more}  # fmt: skip


def test_an_evaluation_says_no_of_what_was_missed_and_nothing_of_a_second_match():
    tool = evaluation([(LEAK, "handle stays open")], ["not closed", "rename"], [RACE])
    known = known_of(file_of({PR: {"eve": tool}}))
    # A false positive may be the second comment on the leak; it is not on the race, which nobody raised. The typo is
    # a reference that the file does not know.
    assert table(known) == {"handle stays open": [Y, N, U], "not closed": [U, N, U], "rename": [U, N, U]}
    assert {each.by for each in known.verdicts} == {"model"}


def test_a_comment_that_is_known_to_raise_one_issue_is_a_no_of_the_others():
    tool = evaluation([(LEAK, "open"), (RACE, "lock"), (TYPO, "lock")])
    assert table(known_of(file_of({PR: {"eve": tool}}))) == {"lock": [N, Y, Y], "open": [Y, N, N]}


def test_what_failed_in_an_evaluation_is_not_known():
    failed = evaluation([], ["x", "y"], [LEAK, RACE], errors=[{"golden_comment": LEAK, "candidate": "x"}])
    assert table(known_of(file_of({PR: {"eve": failed}}))) == {"x": [U, N, U], "y": [N, N, U]}
    unsaid = evaluation([(LEAK, "x")], ["y"], [RACE], errors=["timeout"])
    assert table(known_of(file_of({PR: {"eve": unsaid}}))) == {"x": [Y, U, U]}
    assert table(known_of(file_of({PR: {"eve": unsaid, "zoe": {"skipped": True}}}))) == {"x": [Y, U, U]}


def test_labels_imply_a_no_where_both_notes_occur_for_one_reviewer():
    file = file_of(
        label(LEAK, "open", True, pr="octo/app#1", reviewer="eve"),
        label(RACE, "lock", True, pr=PR, reviewer="eve"),
        label(TYPO, "teh", True, pr=PR, reviewer="zoe"),
        label(LEAK, "elsewhere", True, pr=OTHER_PR, reviewer="eve"),
    )
    assert table(known_of(file)) == {"lock": [U, Y, U], "open": [Y, U, U], "teh": [U, U, Y]}
    same = [label(LEAK, "open", True, pr=PR, reviewer="eve"), label(RACE, "lock", True, pr=PR, reviewer="eve")]
    assert table(known_of(file_of(*same))) == {"lock": [N, Y, U], "open": [Y, N, U]}


def test_labels_of_a_run_are_what_people_were_asked_about_and_imply_nothing():
    at = {"at": "2026-01-01T00:00:00Z", "pr": PR, "reviewer": "eve"}
    said = [
        label(LEAK, "open", True, generated=0, reference=0, **at),
        label(RACE, "lock", False, generated=1, reference=1, **at),
        label(TYPO, "open", True, generated=0, reference=2, **at),
        label(TYPO, "open", None, generated=0, reference=2, **at),
    ]
    assert table(known_of(file_of(*said))) == {"lock": [U, N, U], "open": [Y, U, U]}


def test_labels_without_a_pull_request_hold_wherever_the_reference_is():
    file = file_of(label(LEAK, "open", True, group="g"), label(RACE, "lock", True, group="g"), label("gone", "x", True))
    references = REFERENCES | {OTHER_PR: [RACE]}
    known = known_of(file, references=references)
    assert table(known) == {"lock": [N, Y, U], "open": [Y, N, U]}
    assert table(known, asked(reference=(RACE,), pr=OTHER_PR)) == {"lock": [Y], "open": [N]}
    assert table(known, asked(reference=(RACE,), pr="nowhere#9")) == {"lock": [Y], "open": [N]}
    assert {each.pr for each in known.verdicts} == {None}
    assert "gone" not in {each.reference for each in known.verdicts}


def run_folder(tmp_path, pairs, notes=("open", "lock", "far away")):
    record = {"github_pr_url": PR, "reviewer": "eve",
              "match_details": [{"generated": n, "note": note} for n, note in enumerate(notes)],
              "reference_comments": [{"reference": n, "note": note} for n, note in enumerate(REFERENCES[PR])],
              "negative_comments": [{"negative": 0, "note": RACE}]}  # fmt: skip
    head = {"pr": PR, "reviewer": "eve", "score": 0.5, "reason": "", "by": "model", "negative": False}
    (tmp_path / "results.jsonl").write_text(lines(record))
    (tmp_path / "pairs.jsonl").write_text(lines(*(head | pair for pair in pairs)))
    return tmp_path / "pairs.jsonl"


def pair(generated, reference, match, **more):
    return {"generated": generated, "reference": reference, "match": match, **more}


def test_of_a_run_only_what_was_judged_is_known(tmp_path):
    path = run_folder(
        tmp_path,
        [pair(0, 0, True), pair(0, 1, False, by="judge"), pair(1, 1, None), pair(1, 2, False, by="cache"),
         pair(2, 0, True, negative=True)],
    )  # fmt: skip
    # Locations kept the other pairs apart, so that nobody read them; a negative is no reference.
    assert table(known_of(read_verdicts(path))) == {"lock": [U, U, N], "open": [Y, N, U]}


def test_what_went_by_location_alone_is_no_verdict(tmp_path):
    path = run_folder(tmp_path, [pair(0, 0, True, reason="by location alone", by="judge"), pair(1, 1, True)])
    assert table(known_of(read_verdicts(path))) == {"lock": [U, Y, U]}


def votes(*said):
    """Verdicts on one pair of notes: (file, reviewer, match, by)."""
    files = {}
    for number, reviewer, match, by in said:
        files.setdefault(number, []).append(label(LEAK, "open", match, pr=PR, reviewer=reviewer, by=by))
    return known_of(*(file_of(*records) for records in files.values()))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([(1, "eve", True, "model"), (2, "eve", False, "model")], None),
        ([(1, "eve", True, "model"), (2, "eve", False, "model"), (3, "eve", True, "judge")], Y),
        ([(1, "eve", True, "model"), (2, "eve", True, "model"), (3, "eve", False, "label")], N),
        ([(1, "eve", True, "model"), (1, "zoe", False, "model")], None),
        ([(1, "eve", True, "model"), (1, "zoe", True, "cache"), (1, "amy", False, "judge")], Y),
        ([(1, "eve", True, "model"), (1, "zoe", True, "model"), (1, None, False, "label")], N),
        ([(1, "eve", True, "label"), (1, "zoe", False, "label")], None),
        # Three models on one reviewer's comment are one voice beside another reviewer's.
        ([(1, "eve", True, "model"), (2, "eve", True, "model"), (1, "zoe", False, "model")], None),
    ],
)
def test_people_come_first_then_most_and_a_tie_is_not_known(said, expected):
    assert table(votes(*said)) == ({} if expected is None else {"open": [expected, U, U]})


def test_who_wrote_a_comment_is_not_judged_by_it_however_the_name_is_written():
    tool = evaluation([(LEAK, "open")], ["rename"], [RACE])
    known = known_of(file_of({"octo/app#1": {"Bot": tool, "eve": evaluation([(RACE, "lock")], ["open"], [LEAK])}}))
    # eve's "open" is in the words of bot's, and so no example for bot either; nor is what bot says now.
    assert table(known, asked(["mine"], reviewer="bot ")) == {"lock": [N, Y, U]}
    assert table(known, asked(["lock"], reviewer="BOT")) == {}
    # For anybody else, the two contradict each other about the leak.
    assert table(known, asked(reviewer="new")) == {"lock": [N, Y, U], "open": [U, N, U], "rename": [U, N, U]}
    chosen = known.chosen(asked(reviewer="bot"))
    assert {each.note for each in chosen.own} == {"open", "rename"}
    assert len(chosen.own) + len(chosen.examples) == len(known.verdicts)


def test_line_ends_and_capitals_do_not_make_a_comment_somebody_elses():
    known = known_of(
        file_of(label(LEAK, "It stays\r\n  open", True), label(LEAK, "never shut", True), label(RACE, "lock", True))
    )
    assert table(known, asked(["it stays\nopen"])) == {"lock": [U, Y, U], "never shut": [Y, U, U]}


@pytest.mark.parametrize("name", ["octo[bot]", "Octo", "octo ", "OCTO[BOT]"])
def test_a_bot_is_the_same_with_the_ending_of_its_account_and_without(name):
    known = known_of(
        file_of(label(LEAK, "open", True, pr=PR, reviewer=name), label(RACE, "x", True, pr=PR, reviewer="octo-2[bot]"))
    )
    assert [table(known, asked(reviewer=reviewer)) for reviewer in ("octo", "octo[bot]")] == [{"x": [U, Y, U]}] * 2


def test_a_label_without_a_reviewer_is_refused_by_its_words_and_one_without_a_pull_request_by_its_reviewer():
    known = known_of(file_of(label(LEAK, " open\n", True), label(LEAK, "shut", True), label(RACE, "lock", True)))
    assert table(known, asked(["open ", "lock"])) == {"shut": [Y, U, U]}
    known = known_of(file_of(label(LEAK, "open", True, reviewer="bot"), label(LEAK, "shut", True, reviewer="eve")))
    assert table(known) == {"shut": [Y, U, U]}


def test_notes_are_found_however_their_characters_are_encoded():
    one, two = "the caf\u00e9 leaks", "the cafe\u0301 leaks"
    for stored, written in ((one, two), (two, one)):
        known = known_of(
            file_of(label(stored, "open", True), label(stored, f"mine: {stored}", True)), references={PR: [written]}
        )
        question = asked(["mine", f"mine: {written}"], [written])
        assert table(known, question) == {"open": [Y]}
        # The offline judge composes notes before it asks: it must be told the same.
        assert (
            OfflineJudge(examples=known).judge([question])[0].score.tolist()
            == OfflineJudge(examples=known_of(file_of(label(one, "open", True)), references={PR: [one]}))
            .judge([asked(["mine", f"mine: {one}"], [one])])[0]
            .score.tolist()
        )


def test_questions_about_negatives_have_no_examples_and_equal_references_the_same():
    known = known_of(file_of(label(LEAK, "open", True)))
    assert known.known(asked(negative=True)) is None
    assert table(known, asked(reference=(LEAK, RACE, f" {LEAK} "))) == {"open": [Y, U, Y]}


def test_of_a_huge_note_what_a_judge_reads_counts():
    huge = "x" * (LONG_NOTE + 1)
    known = known_of(file_of(label(LEAK, huge, True), label(huge, "open", True)), references={PR: [LEAK, huge]})
    assert {len(each.note) for each in known.verdicts} == {JUDGED_LENGTH, 4}
    assert table(known, asked([huge[:JUDGED_LENGTH]], [LEAK, huge[:JUDGED_LENGTH]])) == {"open": [U, Y]}


def test_the_digest_is_of_what_is_known_about_the_references():
    one, other = label(LEAK, "open", True, pr=PR, reviewer="eve"), label(RACE, "lock", True, pr=PR, reviewer="zoe")
    digest = known_of(file_of(one, other)).digest
    assert digest == known_of(file_of(other), file_of(one, name="other.jsonl")).digest
    assert digest == known_of(file_of(other | {"pr": "octo/app#1"}, one)).digest
    assert digest == known_of(file_of(one, other, label("not asked", "x", True, pr=PR))).digest
    changes = ({"match": False}, {"b": "shut"}, {"reviewer": "amy"}, {"a": TYPO}, {"reviewer": None})
    assert digest not in [known_of(file_of(one | change, other)).digest for change in changes]
    assert len({known_of(file_of(one | change)).digest for change in changes}) == len(changes)


def test_the_judges_name_what_they_learned_from(monkeypatch):
    for name, value in (("MODEL_URL", "http://127.0.0.1:1"), ("MODEL", "m"), ("API_KEY", "k")):
        monkeypatch.setenv(f"LLM_{name}", value)
    known = known_of(file_of(label(LEAK, "open", True)))
    assert "examples" not in OfflineJudge().parameters
    for name in ("offline", "cascade"):
        with open_judge(name, JudgeOptions(examples=known)) as judge:
            assert judge.parameters["examples"] == known.digest


@real
def test_on_the_published_evaluations_each_tool_learns_from_all_others():
    """By the letter of the file: per tool, every match of another one, where no two tools contradict each other."""
    document = json.loads((DATA / "evaluations.json").read_text("utf-8"))
    file = read_verdicts(DATA / "evaluations.json")
    said = {}  # (pull request, golden comment, candidate) -> (tool, match)
    goldens = {}
    for pr, tools in document.items():
        for tool, found in tools.items():
            if found.get("skipped"):
                continue
            matches = {(e["golden_comment"].strip(), e["matched_candidate"].strip()) for e in found["true_positives"]}
            missed = {e["golden_comment"].strip() for e in found["false_negatives"]}
            raised = {golden for golden, _ in matches}
            goldens.setdefault(pr, set()).update(missed, raised)
            wrong = {e["candidate"].strip() for e in found["false_positives"]}
            for candidate in wrong | {each for _, each in matches}:
                for golden in missed | raised:
                    same = (golden, candidate) in matches
                    if same or golden in missed or candidate in {each for _, each in matches}:
                        said.setdefault((pr, golden, candidate), []).append((tool, same))
    known = KnownVerdicts.of([file], goldens)
    assert len(known.verdicts) == sum(map(len, said.values()))
    tools = {tool for of_pair in said.values() for tool, _ in of_pair}
    assert len(tools) == 12
    for pr, references in goldens.items():
        listed = sorted(references)
        for tool in tools:
            own = {candidate for (at, _, candidate), whose in said.items() if at == pr and tool in dict(whose)}
            expected = {}
            for (at, golden, candidate), votes_on in said.items():
                yes = sum(same for _, same in votes_on)
                if at == pr and candidate not in own and 2 * yes != len(votes_on):
                    row = expected.setdefault(candidate, [U] * len(listed))
                    row[listed.index(golden)] = Y if 2 * yes > len(votes_on) else N
            assert table(known, asked((), listed, pr, tool)) == expected


# The frozen file


def frozen(known):
    return file_of(*map(known_to_json, known.verdicts), name="examples.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"match": None}, "match"),
        ({"by": "nobody"}, "by"),
        ({"a": ""}, "a is empty"),
        ({"b": None}, "b"),
        ({"pr": 3}, "pr"),
    ],
)
def test_a_frozen_line_that_was_changed_is_refused_with_its_number(line, message):
    good = {"pr": PR, "reviewer": "eve", "a": LEAK, "b": "open", "match": True, "by": "model"}
    with pytest.raises(InputError, match=message) as refused:
        file_of(good, good | line)
    assert ":2" in str(refused.value)


PEOPLE, NOTES = [None, "bot", "Bot ", "BOT", "eve", "amy"], ["one", "two", "three", "four", "five"]
_LABEL = st.fixed_dictionaries(
    {"a": st.sampled_from([LEAK, RACE, TYPO, "other"]), "b": st.sampled_from(NOTES), "match": st.booleans()},
    optional={
        "pr": st.sampled_from([PR, "octo/app#1", OTHER_PR]),
        "reviewer": st.sampled_from(PEOPLE),
        "group": st.sampled_from("gh"),
    },
)
_EVALUATION = st.builds(
    evaluation,
    st.lists(st.tuples(st.sampled_from([LEAK, RACE, TYPO]), st.sampled_from(NOTES)), max_size=3),
    st.lists(st.sampled_from(NOTES), max_size=3),
    st.lists(st.sampled_from([LEAK, RACE, TYPO]), max_size=2),
)
_MARTIAN = st.dictionaries(
    st.sampled_from([PR, OTHER_PR]),
    st.dictionaries(st.sampled_from([each for each in PEOPLE if each]), _EVALUATION, min_size=1, max_size=4),
    min_size=1,
)
_FILE = st.one_of(st.lists(_LABEL, min_size=1, max_size=12), _MARTIAN.map(lambda document: [document]))


def is_bots(verdict):
    return (verdict.reviewer or "").strip().lower() == "bot"


def own_notes(records, name):
    """By the letter of the file: every note that it has of a reviewer on the pull request."""
    for record in records:
        if "b" in record:
            if (record.get("reviewer") or "").strip().lower() == name and record.get("pr") != OTHER_PR:
                yield record["b"]
            continue
        for tool, found in record.get(PR, {}).items():
            if tool.strip().lower() == name:
                yield from (each["matched_candidate"] for each in found["true_positives"])


@given(st.lists(_FILE, min_size=1, max_size=3), st.lists(st.sampled_from(NOTES), max_size=3), st.randoms())
def test_nobody_is_measured_by_their_own_comments_whatever_the_files(documents, said, chance):
    files = [file_of(*records) for records in documents]
    known = known_of(*files)
    question = asked(said, reviewer="bot")
    found = table(known, question)
    listed = {note for records in documents for note in own_notes(records, "bot")}
    if all(file.kind == "martian" for file in files):
        # A match is always a known verdict; labels may take each other back.
        assert not listed & set(found)
    assert not set(said) & set(found)
    assert not {each.note for each in known.verdicts if is_bots(each) and each.pr in (PR, None)} & set(found)
    assert all(any(verdict != U for verdict in row) for row in found.values())
    assert list(found) == sorted(found)
    # The order of files and of what is in them says nothing, and the frozen file says the same.
    chance.shuffle(files)
    assert known_of(*files).digest == known.digest
    again = known_of(frozen(known)) if known.verdicts else known
    assert (again.digest, table(again, question)) == (known.digest, found)


@given(_MARTIAN, st.integers(0, 99))
def test_positions_in_a_file_do_not_matter(document, seed):
    chance, mixed = random.Random(seed), json.loads(json.dumps(document))
    for tools in mixed.values():
        for found in tools.values():
            for key in ("true_positives", "false_positives", "false_negatives"):
                chance.shuffle(found[key])
    before, after = known_of(file_of(document)), known_of(file_of(mixed))
    assert before.verdicts == after.verdicts
    assert table(before) == table(after)
