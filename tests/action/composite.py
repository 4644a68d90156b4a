"""Runs the steps of action.yml as GitHub's runner does those of a composite action, as far as ours use it.

Expressions are evaluated where the runner evaluates them, each `run` goes to bash with the runner's own flags, and
steps hand on outputs through files. A step that `uses` another action gives the outputs that a test names for it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_LEXEME = re.compile(r"\s*('(?:[^']|'')*'|\|\||&&|==|!=|!|\(|\)|[A-Za-z_][\w.-]*)")


class Expression:
    """`inputs.x != '' && inputs.y || 'z'`: the operators return operands, as GitHub's do."""

    def __init__(self, text: str, contexts: dict) -> None:
        self._lexemes, at = [], 0
        while text[at:].strip():
            found = _LEXEME.match(text, at)
            assert found, f"not known here: {text[at:]!r}"
            self._lexemes.append(found[1])
            at = found.end()
        self._contexts = contexts
        self.value = self._any()
        assert not self._lexemes, f"left over: {self._lexemes}"

    def _taken(self, *wanted: str) -> str | None:
        return self._lexemes.pop(0) if self._lexemes and self._lexemes[0] in wanted else None

    def _any(self):
        value = self._all()
        while self._taken("||"):
            other = self._all()
            value = value or other
        return value

    def _all(self):
        value = self._compared()
        while self._taken("&&"):
            other = self._compared()
            value = value and other
        return value

    def _compared(self):
        value = self._one()
        if sign := self._taken("==", "!="):
            same = str(value or "").casefold() == str(self._one() or "").casefold()
            return same if sign == "==" else not same
        return value

    def _one(self):
        if self._taken("!"):
            return not self._one()
        if self._taken("("):
            value = self._any()
            assert self._taken(")")
            return value
        word = self._lexemes.pop(0)
        if word.startswith("'"):
            return word[1:-1].replace("''", "'")
        value = self._contexts
        for part in word.split("."):
            assert value is not self._contexts or part in value, f"no context {part}"
            value = value.get(part, "") if isinstance(value, dict) else ""  # what is not there is empty
        return value


def filled(text: str, contexts: dict) -> str:
    return _EXPRESSION.sub(lambda found: str(Expression(found[1], contexts).value), str(text))


def read_outputs(path: Path) -> dict[str, str]:
    """NAME=VALUE, or NAME<<END with lines up to END."""
    lines = iter(path.read_text("utf-8").splitlines())
    found = {}
    for line in lines:
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, end = line[:heredoc], line[heredoc + 2 :]
            value = []
            for inner in lines:
                if inner == end:
                    break
                value.append(inner)
            else:
                raise AssertionError(f"{name} does not end")
            found[name] = "\n".join(value)
        else:
            assert equals > 0, line
            found[line[:equals]] = line[equals + 1 :]
    return found


@dataclass
class Done:
    """What a job shows of a use of the Action."""

    failed: bool
    outputs: dict[str, str]
    log: str
    page: str
    steps: dict[str, int] = field(default_factory=dict)
    """The exit code of each step that ran, by name."""


@dataclass
class Job:
    """A workspace and an event; `use` is a step that uses the Action."""

    workspace: Path
    temp: Path
    event: dict
    environment: dict[str, str] = field(default_factory=dict)
    token: str = "ghs_0123456789of-the-job"
    uses: dict[str, dict[str, str]] = field(default_factory=dict)

    def use(self, **given: str) -> Done:
        inputs = {name: spec.get("default", "") for name, spec in ACTION["inputs"].items()}
        assert {name.replace("_", "-") for name in given} <= set(inputs), "an input that action.yml does not have"
        github = {"token": self.token, "action_path": str(ROOT)}
        inputs = {name: filled(value, {"github": github}) for name, value in inputs.items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        contexts = {"inputs": inputs, "github": github, "steps": {}}
        page = self.temp / "page.md"
        page.write_text("", "utf-8")
        done = Done(False, {}, "", "")
        for number, step in enumerate(ACTION["runs"]["steps"]):
            if done.failed or ("if" in step and not Expression(step["if"], contexts).value):
                continue
            if "uses" in step:
                contexts["steps"][step["id"]] = {"outputs": self.uses.get(step["uses"], {})}
                continue
            self._run(step, number, contexts, page, done)
        values = {name: filled(spec["value"], contexts) for name, spec in ACTION["outputs"].items()}
        done.outputs, done.page = values, page.read_text("utf-8")
        return done

    def _run(self, step: dict, number: int, contexts: dict, page: Path, done: Done) -> None:
        assert step["shell"] == "bash"
        script, outputs, event = (self.temp / name for name in (f"{number}.sh", f"{number}.out", "event.json"))
        script.write_text(filled(step["run"], contexts), "utf-8")
        outputs.write_text("", "utf-8")
        event.write_text(json.dumps(self.event), "utf-8")
        own = Path(sys.executable).parent
        environment = {
            "PATH": f"{own}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.temp), "LANG": "C.UTF-8",
            "CI": "true", "GITHUB_ACTIONS": "true",
            "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_RUN_ID": "4711",
            "GITHUB_SHA": "3f786850e387550fdab836ed7e6dc881de23001b", "GITHUB_WORKFLOW": "quality",
            "GITHUB_JOB": "gate", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(page), "GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(self.temp),
            "GITHUB_WORKSPACE": str(self.workspace), **self.environment,
            **{name: filled(value, contexts) for name, value in step.get("env", {}).items()},
        }  # fmt: skip
        ended = subprocess.run(
            [*BASH, script], cwd=self.workspace, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        done.log += ended.stdout
        done.steps[step["name"]] = ended.returncode
        done.failed = ended.returncode != 0
        if "id" in step:
            contexts["steps"][step["id"]] = {"outputs": read_outputs(outputs)}
