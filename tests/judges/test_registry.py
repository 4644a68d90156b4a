"""Judges by name, of an installed package's or the user's own: found, checked, opened, and closed by whoever opened."""

import asyncio
import json
import re
from pathlib import Path

import numpy as np
import pytest

import metareview
from metareview.cli import _run
from metareview.errors import InputError, UsageError
from metareview.judges.builtin.exact import ExactJudge
from metareview.judges.protocol import Answer, Judge, ModelJudge, Planned, Question, Usage
from metareview.judges.registry import DEFAULT_JUDGE, JUDGES, JudgeOptions, JudgePlugin, open_judge

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["none", "exact", "rouge", "offline", "embedding", "llm", "cascade"]
QUESTION = Question(["Leak here"], ["leak there"], np.array([[0, 0]]))
REVIEW = {"pr": "https://github.com/o/r/pull/1", "reviewer": "bot"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with a comment that exact and first-word judges find in the references."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    for kind in ("LLM", "EMBEDDING"):
        monkeypatch.setenv(f"{kind}_MODEL_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv(f"{kind}_MODEL", "m")
    for name, notes in (("said", ["Leak of a handle", "Typo"]), ("expected", ["leak of memory", "Typo"])):
        comments = [
            {"note": note, "path": "a.py", "from_line": line, "to_line": line}
            for line, note in zip((1, 9), notes, strict=True)
        ]
        Path(f"{name}.jsonl").write_text(json.dumps({**REVIEW, "comments": comments}) + "\n")
    Path("labels.jsonl").write_text('{"a": "x", "b": "x", "match": true}\n')
    return tmp_path


def module(text):
    """Writes a module of the user's own; its name is new each time, since Python keeps what it has imported."""
    module.count += 1
    Path(f"user_judge_{module.count}.py").write_text("import metareview\n" + text)
    return f"user_judge_{module.count}"


module.count = 0


def test_our_own_are_listed_in_order_each_with_a_sentence(here):
    ours = [plugin.name for plugin in JUDGES.installed.values() if plugin.built_in]
    assert ours == NAMES
    assert DEFAULT_JUDGE in ours
    for name in ours:
        plugin = JUDGES.load(name)
        assert re.fullmatch(r"[A-Z][^\n]{20,98}\.", plugin.summary), name
        with open_judge(name) as judge:
            assert isinstance(judge, Judge)
            assert judge.name == name
            assert isinstance(judge, ModelJudge) == (name in ("embedding", "llm", "cascade"))
            assert (plugin.scores, json.loads(json.dumps(dict(judge.parameters)))) == (
                name not in ("none", "exact"),
                judge.parameters,
            )


def test_a_threshold_is_for_judges_that_score():
    with open_judge("rouge", JudgeOptions(threshold=0.4)) as judge:
        assert judge.threshold == 0.4
    for name, threshold, message in (("exact", 0.5, "does not score"), ("rouge", 1.5, "from 0 to 1")):
        with pytest.raises(UsageError, match=message), open_judge(name, JudgeOptions(threshold=threshold)):
            pass
    with pytest.raises(UsageError, match="on the judge object"), open_judge(ExactJudge(), JudgeOptions(threshold=0.5)):
        pass


def test_an_unknown_name_says_which_there_are():
    with pytest.raises(UsageError, match=", ".join(NAMES)), open_judge("oracle"):
        pass


class Bare:
    """What somebody writes who has not read on."""

    name = "bare"

    def judge(self, questions):
        return []


@pytest.mark.parametrize(
    ("judge", "missing"), [(Bare(), "threshold, parameters, close"), (object(), "name, threshold, parameters, judge")]
)
def test_an_object_that_lacks_a_member_is_told_which(judge, missing):
    with pytest.raises(UsageError, match=rf"no {missing}.*Inherit from metareview\.Judge"), open_judge(judge):
        pass


def test_a_class_is_no_judge_yet():
    with pytest.raises(UsageError, match=r"the class ExactJudge.*ExactJudge\(\)"), open_judge(ExactJudge):
        pass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def make():\n    raise KeyError('weights')\n", r"factory raised KeyError: 'weights'.*Correct the factory"),
        ("def make():\n    raise SystemExit(0)\n", "factory raised SystemExit"),
        ("def make():\n    raise metareview.UsageError('no key')\n", "^no key$"),
        ("def make(size):\n    pass\n", "factory raised TypeError.*size"),
        ("def make():\n    return 7\n", r"returned \(int\) is no judge"),
        ("make = 7\n", "not callable"),
        ("class make(metareview.Judge):\n    name = 'x'\n", "factory raised TypeError.*abstract"),
        (
            "class make(metareview.Judge):\n    def judge(self, questions):\n        return []\n",
            r"\(make\) is no judge: it has no name\. Inherit",
        ),
        ("raise ValueError('broken')\n", "cannot be loaded"),
    ],
)
def test_a_factory_that_fails_is_one_message(here, text, message):
    with pytest.raises(UsageError, match=message), open_judge(f"{module(text)}:make"):
        pass


def test_a_factory_gets_its_configuration_and_a_plug_in_all_options(here):
    name = module(
        "class Sized(metareview.Judge):\n"
        "    name = 'sized'\n"
        "    def __init__(self, size=1, threshold=None):\n"
        "        self.parameters, self.threshold = {'size': size}, threshold\n"
        "    def judge(self, questions):\n"
        "        return []\n"
        "from metareview.judges.registry import JudgePlugin\n"
        "PLUGIN = JudgePlugin('Sized.', True, lambda options: Sized(2, options.threshold))\n"
    )
    with open_judge(f"{name}:Sized", JudgeOptions(config={"size": 5})) as judge:
        assert judge.parameters == {"size": 5}
    with pytest.raises(UsageError, match="does not score"), open_judge(f"{name}:Sized", JudgeOptions(threshold=0.5)):
        pass
    with open_judge(f"{name}:PLUGIN", JudgeOptions(threshold=0.5)) as judge:
        assert (judge.parameters, judge.threshold) == ({"size": 2}, 0.5)


def test_a_judge_of_an_installed_package_is_found_by_its_name(monkeypatch, here):
    name = module(
        "class Other(metareview.Judge):\n    name = 'other'\n    def judge(self, questions):\n        return []\n"
    )

    class Point:
        dist, value = None, f"{name}:Other"

        def __init__(self, name):
            self.name = name

    monkeypatch.setattr("metareview.plugins.entry_points", lambda group: [Point("other"), Point("exact")])
    JUDGES.__dict__.pop("installed", None)
    try:
        assert JUDGES.names() == [*NAMES, "other"]
        with open_judge("other") as judge, open_judge("exact") as ours:
            assert (judge.name, type(ours)) == ("other", ExactJudge)
    finally:
        JUDGES.__dict__.pop("installed", None)


def contributing_example():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    [code] = re.findall(r"<!-- file: first_word\.py -->\n```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return code


def test_the_judge_of_contributing_works_from_python_and_the_command_line(here, capsys):
    Path("first_word.py").write_text(contributing_example())
    names = {}
    exec(contributing_example(), names)
    judge = names["FirstWord"]()
    run = metareview.evaluate_comments("said.jsonl", reference="expected.jsonl", judge=judge)
    [block] = run.summary["reviewers"].values()
    assert (block["positive_match_nums"], block["judge_error_nums"]) == (2, 0)
    command = ["comments", "said.jsonl", "--reference", "expected.jsonl", "--judge", "first_word:FirstWord"]
    assert _run([*command, "--json", "-q"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["reviewers"] == run.summary["reviewers"]
    assert summary["config"]["judge"] == "first-word"
    assert (summary["config"]["threshold"], summary["config"]["judge_parameters"]) == (None, {})
    assert _run([*command, "--dry-run", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["llm_calls"] == 0
    assert _run(["calibrate", "labels.jsonl", "--judge", "first_word:FirstWord", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0


def test_a_judge_that_asks_a_model_is_asked_only_within_the_distance_and_accounted_for(here):
    class Costly(ModelJudge):
        """Says that nothing is the same, at two calls per pair."""

        name = "costly"

        def __init__(self):
            self.usage = Usage()

        def planned(self, questions):
            return Planned(2 * sum(len(question.pairs) for question in questions))

        def judge(self, questions):
            self.usage.llm_calls += self.planned(questions).calls
            return [Answer(np.zeros(n), np.zeros(n, np.int8)) for n in (len(q.pairs) for q in questions)]

    def costs(judge):
        run = metareview.evaluate_comments("said.jsonl", reference="expected.jsonl", judge=judge)
        return run.summary["judge"]

    # Two comments and two references, eight lines apart: each may match one.
    assert (costs(Costly())["pairs"], costs(Costly())["llm_calls"]) == (2, 4)
    assert costs(ExactJudge())["llm_calls"] == 0


COUNTING = """
class Counting(metareview.Judge):
    name = "counting"
    closed = 0
    def judge(self, questions):
        if "fail" in questions[0].generated[0]:
            raise RuntimeError("broken")
        from metareview.judges.builtin.exact import ExactJudge
        return ExactJudge().judge(questions)
    def close(self):
        Counting.closed += 1
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["comments", "said.jsonl", "--reference", "expected.jsonl"], 0),
        (["comments", "said.jsonl", "--reference", "expected.jsonl", "--dry-run"], 0),
        (["comments", "said.jsonl", "--reference", "absent.jsonl"], 2),
        (["comments", "said.jsonl", "--reference", "expected.jsonl", "--fail-under", "f1=1"], 3),
        (["calibrate", "labels.jsonl"], 0),
    ],
)
def test_a_command_closes_the_judge_that_it_opened(here, arguments, code):
    name = module(COUNTING)
    assert _run([*arguments, "--judge", f"{name}:Counting", "-q"]) == code
    assert __import__(name).Counting.closed == 1


def test_whoever_opens_a_judge_by_name_closes_it_and_no_other(here):
    name = module(COUNTING)
    with pytest.raises(ZeroDivisionError), open_judge(f"{name}:Counting"):
        raise ZeroDivisionError
    counting = __import__(name).Counting
    assert counting.closed == 1

    def evaluate(judge, said="said.jsonl"):
        return metareview.evaluate_comments(said, reference="expected.jsonl", judge=judge)

    evaluate(f"{name}:Counting")
    assert counting.closed == 2
    with pytest.raises(InputError):
        evaluate(f"{name}:Counting", "absent.jsonl")
    Path("fail.jsonl").write_text(Path("said.jsonl").read_text().replace("Leak", "fail"))
    with pytest.raises(UsageError, match=f"judge {name}:Counting raised RuntimeError: broken"):
        evaluate(f"{name}:Counting", "fail.jsonl")
    assert counting.closed == 4
    evaluate(counting())
    with pytest.raises(RuntimeError, match="broken"):
        evaluate(counting(), "fail.jsonl")
    assert counting.closed == 4
    with counting() as own:
        evaluate(own)
    assert counting.closed == 5


def test_the_runner_and_check_close_their_judges(here, monkeypatch):
    closed = []
    monkeypatch.setattr(ExactJudge, "close", lambda self: closed.append(self))
    config = metareview.EvaluatorConfig(semantic_matcher_type="exact")
    comments = [{"note": "Typo", "path": "a.py", "from_line": 1}]
    url = "https://github.com/o/r/pull/1"
    asyncio.run(metareview.get_evaluator_ans_from_json(url, comments, comments, config))
    assert len(closed) == 1
    assert _run(["check", "--reference", "expected.jsonl", "-q"]) == 0
    assert len(closed) > 1
    assert len(closed) == len(set(map(id, closed)))


def test_a_user_writes_no_more_than_a_name_and_judge():
    class Mine(metareview.Judge):
        name = "mine"

        def judge(self, questions):
            return [Answer(np.ones(1), np.ones(1, np.int8))]

    with Mine() as judge:
        assert (judge.threshold, dict(judge.parameters), judge.judge([QUESTION])[0].score.tolist()) == (None, {}, [1.0])
    assert not isinstance(judge, ModelJudge)
    assert isinstance(JudgePlugin("Mine.", False, lambda _: Mine()).make(JudgeOptions()), Judge)
