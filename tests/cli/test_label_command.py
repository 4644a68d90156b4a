"""`metareview label`: questions from a pipe and from a terminal, answers that are kept, figures that they make."""

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from review_sample import lines
from rich.cells import cell_len

import metareview
from labelled_runs import label_all, make_run
from metareview.comparison.frame import open_frame
from metareview.runs.labels import LabelFile
from metareview.runs.run import load_run
from model_server import ModelServer, chat, error

PR = "https://github.com/octo/app/pull/{}"
HOSTILE = "\x1b[2J\x1b]0;owned\x07::error::boom \u202eevil\u202c\n::error::again"


def note(text, line=1, **fields):
    return {"note": text, "path": "src/a.py", "side": "right", "from_line": line, "to_line": line, **fields}


@pytest.fixture
def typed(run, monkeypatch):
    """Runs a command with these keys, a line each, on standard input."""

    def command(keys, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
        return run(*arguments)

    return command


def scored(run, here, said=("leak", "race", "slow"), expected=("leak", "data race", "typo"), options=()):
    """Run `r`: a pull request for each pair of notes. The judge `exact` matches the first alone."""
    (here / "ref.jsonl").write_text(
        lines(*({"pr": PR.format(n), "comments": [note(text)]} for n, text in enumerate(expected, 1)))
    )
    (here / "said.jsonl").write_text(
        lines(*({"pr": PR.format(n), "reviewer": "bot", "comments": [note(t)]} for n, t in enumerate(said, 1)))
    )
    files = ("said.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--overwrite", "--out", "r", "-q")
    assert run("comments", *files, *options)[0] == 0


@pytest.fixture
def small(run, here):
    scored(run, here)
    return here


def stored(folder="r"):
    return [json.loads(line) for line in (Path(folder) / "labels.jsonl").read_text().splitlines()]


def verdicts(folder="r"):
    return [label["match"] for label in stored(folder)]


def truth(small):
    """The keys of somebody who calls a race a data race, in the order of asking."""
    frame = open_frame(load_run(Path("r")))
    same = {PR.format(1): "s", PR.format(2): "s", PR.format(3): "d"}
    return [same[block.pr] for _, block in frame.drawn]


def test_answers_are_kept_one_by_one_and_the_command_goes_on(small, typed):
    code, out, err = typed("sd", "label", "r")
    assert (code, err) == (0, "")
    asked = [block.pr for _, block in open_frame(load_run(Path("r"))).drawn]
    assert [(label["pr"], label["match"]) for label in stored()] == [(asked[0], True), (asked[1], False)]
    assert re.findall(r"^Block (\d) of 3", out, re.MULTILINE) == ["1", "2", "3"]
    assert "3 blocks, all to be asked about. A block is" in out
    assert "2 of the 3 blocks in the sample labelled" in out
    _, again, _ = typed("q", "label", "r")
    assert "2 labelled so far" in again
    assert re.findall(r"^Block (\d) of 3", again, re.MULTILINE) == ["3"]
    assert len(stored()) == 2


def test_all_answers_make_the_figures_of_who_answered(small, typed):
    code, out, _ = typed(truth(small), "label", "r", "--json")
    document = json.loads(out)
    assert code == 0
    # The judge has 1 of 3 comments and 1 of 3 references; the labels have 2 of 3 and 2 of 3.
    of_bot = document["corrected"]["bot"]
    assert of_bot["judged"]["f1"] == pytest.approx(1 / 3)
    assert {key: round(of_bot["metrics"][key], 9) for key in ("f1", "positive_match_rate", "positive_recall_rate")} == {
        "f1": round(2 / 3, 9),
        "positive_match_rate": round(2 / 3, 9),
        "positive_recall_rate": round(2 / 3, 9),
    }
    expected = {"blocks": 3, "drawn": 3, "labelled": 3, "missing": 0, "provisional": False, "passed_over": 0}
    assert document["frame"] == expected


def test_json_is_alone_on_standard_output(small, typed):
    _, out, err = typed("sq", "label", "r", "--json")
    assert json.loads(out)["schema"] == "metareview.labels/1"
    assert "Block 2 of 3" in err
    assert "The same issue? s same, d different" in err


def test_the_judge_speaks_only_after_the_answer(small, typed):
    _, out, _ = typed(truth(small), "label", "r")
    parts = out.split("Block ")[1:]
    for part in parts:
        question, _, after = part.partition("q quit: ")
        assert "judge" not in question.lower()
        assert "The judge" in after
    assert sum("The judge says different (0.00).\n" in part for part in parts) == 1
    assert sum("too." in part for part in parts) == 2


def test_an_unknown_key_asks_again_and_later_is_not_an_answer(small, typed):
    _, out, _ = typed("xjs", "label", "r")
    assert len(re.findall("The same issue\\?", out)) == 4  # x, j, s, and the end of the input
    first, second = (block.pr for _, block in open_frame(load_run(Path("r"))).drawn[:2])
    assert [label["pr"] for label in stored()] == [second]
    typed("d", "label", "r")
    assert [label["pr"] for label in stored()] == [second, first]


def test_what_was_put_off_is_counted_at_the_end(small, typed):
    _, out, _ = typed("jss", "label", "r")
    assert "1 put off; the same command asks again." in out
    _, out, _ = typed("d", "label", "r")
    assert "Nothing is left to ask." in out


def test_undo_reaches_across_sessions(small, typed):
    typed("ssq", "label", "r")
    _, out, _ = typed("uuuq", "label", "r")
    assert out.count("Taken back.") == 2
    assert out.count("Nothing to undo.") == 1
    assert verdicts() == [True, True, None, None]
    assert "0 of the 3 blocks in the sample labelled" in out


def test_two_people_answer_the_same_questions(small, typed):
    typed("sss", "label", "r", "--name", "anna")
    _, out, _ = typed("uddd", "label", "r", "--name", "ben")
    assert "Nothing to undo." in out  # what anna said is not his to take back
    assert re.findall(r"^Block (\d) of 3", out, re.MULTILINE) == ["1", "1", "2", "3"]
    assert [(label["name"], label["match"]) for label in stored()] == [("anna", True)] * 3 + [("ben", False)] * 3


def test_labels_of_other_notes_answer_nothing(small, typed, run, here):
    typed("sss", "label", "r")
    scored(run, here, said=("leak!", "race", "slow"))
    _, out, _ = typed("uuuq", "label", "r")
    # The pair with another note is asked again, and what was said of the old one cannot be taken back by accident.
    assert out.count("Taken back.") == 2
    assert "leak!" in out
    assert "1 label of other notes, from an earlier run in this folder, not used." in out


def test_a_larger_budget_adds_blocks(typed, here):
    folder = here / "big"
    stored_run = make_run(folder, reviewers=("x", "y"))
    typed("q", "label", folder, "--budget", "60")
    before = open_frame(stored_run).drawn
    _, out, _ = typed("q", "label", folder, "--budget", "90")
    after = open_frame(stored_run).drawn
    assert (len(before), len(after)) == (60, 90)
    assert {(b.pr, b.reviewer, b.pairs) for _, b in before} < {(b.pr, b.reviewer, b.pairs) for _, b in after}
    assert "Block 1 of 90" in out
    typed("q", "label", folder, "--budget", "70")
    assert open_frame(stored_run).drawn == after


def test_what_cannot_be_labelled_is_refused(small, typed, run, here):
    opened = {"repo": "o/r", "pr": 1, "at": "2025-06-01T01:00:00Z", "kind": "opened", "actor": "ann"}
    (here / "events.jsonl").write_text(lines(opened))
    assert run("routing", "events.jsonl", "--router", "popularity", "--out", "routed", "-q")[0] == 0
    for options in ([], ["--unlisted"]):
        code, _, err = typed("", "label", "routed", *options)
        assert (code, "routed is a run of routing" in err) == (2, True)
    scored(run, here, options=("--alignment", "greedy"))
    code, _, err = typed("", "label", "r")
    assert code == 2
    assert "Evaluate with --alignment optimal." in err
    manifest = json.loads((here / "r/manifest.json").read_text())
    (here / "r/manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    assert typed("", "label", "r")[0] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "llm"], "--judge goes with --unlisted"),
        (["--promote", "x.jsonl"], "--promote goes with --unlisted"),
        (["--unlisted", "--judge", "offline"], "only llm can label"),
        (["--unlisted", "--judge", "llm", "--promote", "x.jsonl"], "two steps"),
        (["--budget", "3"], "--budget must be 8 or more"),
        (["--unlisted", "--budget", "0"], "Give 1 or more"),
    ],
)
def test_options_that_cannot_be_meant(small, typed, options, message):
    code, _, err = typed("", "label", "r", *options)
    assert code == 2
    assert message in err
    assert not (small / "r/labels.jsonl").exists()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_hostile_notes_stay_text_and_fit(run, here, typed, monkeypatch, width):
    scored(run, here, said=(HOSTILE, "x" * 3_000), expected=(HOSTILE + " too", "缓冲区在关闭连接时被释放两次" * 30))
    monkeypatch.setenv("COLUMNS", str(width))
    for options in ([], ["--unlisted"]):
        _, out, err = typed("jjq", "label", "r", *options)
        assert not set(out + err) & set("\x1b\x07\u202e")
        assert not re.search(r"^::", out, re.MULTILINE)
        prompts = re.compile("The same issue|Is it right")
        assert [line for line in out.splitlines() if cell_len(line) > width and not prompts.match(line)] == []


# Makes standard input the controlling terminal, from which Ctrl-C comes, and becomes the command.
_CONTROLLED = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "metareview", *sys.argv[1:]])
"""


@contextmanager
def terminal(*arguments, folder):
    """`metareview` in a terminal of its own: what it writes comes back, what is sent is typed."""
    source = Path(metareview.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source), "COLUMNS": "80", "TERM": "dumb"}
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _CONTROLLED, *arguments],
        stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    seen = ""

    def until(text):
        """Everything since the last call, up to where this text was written."""
        nonlocal seen
        while text not in seen:
            ready, _, _ = select.select([master], [], [], 30)
            assert ready, f"no {text!r} in {seen!r}"
            try:
                seen += os.read(master, 4096).decode()
            except OSError:
                raise AssertionError(f"ended without {text!r}: {seen!r}") from None
        before, _, seen = seen.partition(text)
        return before

    try:
        yield process, until, lambda keys: os.write(master, keys)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_single_keys_and_an_interrupt_at_a_terminal(small):
    with terminal("label", "r", folder=small) as (process, until, send):
        until("Block 1 of 3")
        until("q quit: ")
        send(b"s")  # no Enter
        until("Block 2 of 3")
        until("q quit: ")
        send(b"\x1b[A")  # an arrow is no key of ours, and is not sent back
        assert "\x1b" not in until("q quit: ")
        send(b"\x03")
        until("Interrupted. Every answer is kept; the same command goes on.")
        assert process.wait(30) == 130
    assert verdicts() == [True]


def test_the_end_of_input_at_a_terminal_is_quitting(small):
    with terminal("label", "r", folder=small) as (process, until, send):
        until("q quit: ")
        send(b"d")
        until("Block 2 of 3")
        until("q quit: ")
        send(b"\x04")
        until("1 of the 3 blocks in the sample labelled")
        assert process.wait(30) == 0
    assert verdicts() == [False]


# Unlisted issues


@pytest.fixture
def unlisted(run, here):
    """Run `r`: three issues that no reference covers, one of them said by two reviewers."""
    leak = "The file handle is never closed, so `readAll` leaks a descriptor."
    (here / "ref.jsonl").write_text(lines({"pr": PR.format(1), "comments": [note("Spelling of receive.", 50)]}))
    ann = [note(leak, 10), note("Prefer a dataclass over this tuple of five strings.", 80)]
    bob = [note(leak, 10), note("`counter` is incremented without holding the lock.", 30)]
    reviews = [{"pr": PR.format(1), "reviewer": who, "comments": said} for who, said in (("ann", ann), ("bob", bob))]
    (here / "said.jsonl").write_text(lines(*reviews))
    assert run("comments", "said.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--out", "r", "-q")[0] == 0
    return here


def test_issues_are_labelled_valid_invalid_and_repeat(unlisted, typed):
    code, out, _ = typed("vuvir", "label", "r", "--unlisted", "--name", "anna")
    assert code == 0
    assert [label["verdict"] for label in stored()] == ["valid", None, "valid", "invalid", "repeat"]
    assert {label["name"] for label in stored()} == {"anna"}
    assert "Nothing is left to ask." in out
    assert "3 of the 3 issues in the sample labelled by people." in out


def test_labels_of_issues_move_p_plus(unlisted, typed):
    _, out, _ = typed("q", "label", "r", "--unlisted", "--json")
    before = json.loads(out)
    # 0 of 2 comments match; both may be valid.
    assert before["reviewers"]["ann"]["bounds"]["precision_plus"] == [0, 1]
    assert before["reviewers"]["ann"]["metrics"]["precision_plus"] is None
    _, out, _ = typed("vvv", "label", "r", "--unlisted", "--json")
    after = json.loads(out)["reviewers"]["ann"]
    assert after["metrics"] == {
        "precision_plus": 1.0,  # 2 valid of 2 comments
        "recall_plus": 0.5,  # 2 of 1 reference and 3 valid issues
        "f1_plus": pytest.approx(2 * 2 / (2 + 1 + 3)),
    }


def test_a_seed_and_a_budget_keep_what_was_drawn(unlisted, typed):
    def drawn():
        return json.loads((unlisted / "r/unlisted.json").read_text())

    typed("q", "label", "r", "--unlisted", "--seed", "5", "--budget", "2")
    first = drawn()
    assert first["seed"] == 5
    typed("q", "label", "r", "--unlisted", "--budget", "1")
    assert drawn() == first
    typed("q", "label", "r", "--unlisted", "--budget", "120")
    assert (drawn()["seed"], drawn()["budget"]) == (5, 120)
    assert set(first["drawn"]) <= set(drawn()["drawn"])


def test_valid_issues_become_references_beside_the_others(unlisted, typed, run):
    assert typed("", "label", "r", "--unlisted", "--promote", "new.jsonl")[0] == 2  # nothing is valid yet
    typed("vii", "label", "r", "--unlisted")
    code, out, err = typed("", "label", "r", "--unlisted", "--promote", "new.jsonl")
    assert code == 0
    assert "Wrote 1 reference on 1 pull request to new.jsonl." in out
    assert "--reference new.jsonl" in err
    code, _, err = typed("", "label", "r", "--unlisted", "--promote", "new refs.jsonl")
    assert (code, "--reference 'new refs.jsonl'." in err) == (0, True)
    written = (unlisted / "new.jsonl").read_text()
    code, _, err = typed("", "label", "r", "--unlisted", "--promote", "new.jsonl")
    assert (code, "new.jsonl exists" in err) == (2, True)
    assert (unlisted / "new.jsonl").read_text() == written
    both = ("--reference", "ref.jsonl", "--reference", "new.jsonl", "--judge", "exact", "--out", "second", "--json")
    code, out, _ = run("comments", "said.jsonl", *both, "-q")
    assert code == 0
    reviewers = json.loads(out)["reviewers"].values()
    assert {each["positive_expected_nums"] for each in reviewers} == {2}
    assert sum(each["positive_match_nums"] for each in reviewers) == len(stored()[0]["comments"])


@pytest.fixture
def model(monkeypatch, here):
    running = []

    def start(script):
        server = ModelServer(script).__enter__()
        running.append(server)
        monkeypatch.setenv("LLM_MODEL_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        monkeypatch.setenv("LLM_API_KEY", "sk-very-secret")
        return server

    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    yield start
    for server in running:
        server.__exit__(None, None, None)


def says(verdict):
    return chat(json.dumps({"verdict": verdict, "reason": "so it is"}))


def test_a_model_labels_under_its_own_name_and_people_go_before_it(unlisted, typed, model):
    server = model(lambda exchange: says("valid"))
    code, out, _ = typed("", "label", "r", "--unlisted", "--judge", "llm")
    assert code == 0
    assert "3 issues labelled by the model (3 model calls, 0 from the cache)." in out
    assert "A model's labels alone: people's labels of a sample would correct them." in out
    assert [(label["model"], label["name"], label["verdict"]) for label in stored()] == [
        ("test-model", None, "valid")
    ] * 3
    _, out, _ = typed("iii", "label", "r", "--unlisted", "--json")
    document = json.loads(out)
    assert document["labels"]["people"] == 3
    assert document["labels"]["corrected"] is True
    assert document["valid"] == pytest.approx(0)
    typed("", "label", "r", "--unlisted", "--judge", "llm")
    assert len(server.log) == 3  # the cache has the answers


def test_what_a_model_leaves_open_ends_in_exit_4(unlisted, typed, model):
    def script(exchange):
        text = exchange.body["messages"][-1]["content"]
        return error(400, "no") if "dataclass" in text else says("invalid")

    model(script)
    code, out, err = typed("", "label", "r", "--unlisted", "--judge", "llm")
    assert code == 4
    assert "2 issues labelled by the model" in out
    assert "1 issue stayed without a label" in err
    assert "The same command asks again." in err
    assert len(stored()) == 2
    assert "sk-very-secret" not in out + err


def test_without_a_model_the_fix_is_named(unlisted, typed, monkeypatch):
    for name in ("LLM_MODEL_URL", "LLM_MODEL", "LLM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, _, err = typed("", "label", "r", "--unlisted", "--judge", "llm")
    assert code == 2
    assert "LLM_" in err
    assert not (unlisted / "r/labels.jsonl").exists()


def test_figures_of_thin_strata_are_called_provisional(typed, here):
    stored_run = make_run(here / "big", reviewers=("x", "y"))
    frame = label_all(stored_run, budget=60)
    _, out, _ = typed("q", "label", here / "big", "--json")
    assert json.loads(out)["frame"]["provisional"] is False
    LabelFile(stored_run.folder).path.unlink()
    fewest = 2 * len(frame.strata)
    label_all(stored_run, only=fewest)
    _, out, _ = typed("q", "label", here / "big", "--json")
    document = json.loads(out)
    assert document["frame"]["labelled"] == fewest
    assert document["frame"]["provisional"] is True
    _, out, _ = typed("q", "label", here / "big")
    assert "Provisional: intervals need" in out
