"""README and docs/ say what the code does: their examples run, their commands parse, their links lead somewhere.

<!-- file: NAME -->   before a block: the block is that file, in the folder where the page's examples run
```python             runs; as a doctest where it begins with >>>
```console            each line after `$ ` runs, and prints what stands below it
```sh, ```yaml        the `metareview` commands in it parse
<!-- served: … -->    anywhere: the page's examples find a local GitHub server
"""

import ast
import contextlib
import doctest
import io
import json
import math
import re
import shlex
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import click
import pytest

import metareview
from github_data import sample_server
from metareview.api import evaluate_comments
from metareview.cli import COMMANDS, cli, main, output
from metareview.comments.align import MODES
from metareview.comments.measures import MEASURES, Counts
from metareview.formats.reader import read_inputs
from metareview.formats.registry import COMMENT_FORMATS
from metareview.judges.registry import DEFAULT_JUDGE, JUDGES
from metareview.model.measure import find_measure
from metareview.routing.measures import rank_measures
from metareview.runs.comments_json import counts_to_json

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARKDOWN = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
DEMO = files("metareview") / "data" / "demo"
_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_TIME = re.compile(r"runs/\d{8}-\d{6}")


@dataclass(frozen=True)
class Block:
    mark: str
    language: str
    text: str
    line: int

    @property
    def file(self):
        return self.mark.removeprefix("file: ") if self.mark.startswith("file: ") else None


def blocks(page):
    text = page.read_text("utf-8")
    return [
        Block(found["mark"] or "", found["language"], found["text"], text.count("\n", 0, found.start("text")) + 1)
        for found in _FENCE.finditer(text)
    ]


def page_id(page):
    return page.relative_to(ROOT).as_posix()


def pages(chosen=PAGES):
    return pytest.mark.parametrize("page", chosen, ids=page_id)


def write_files(page, folder):
    for block in blocks(page):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


def commands(page):
    """(line, words) of every metareview command that a page tells its readers to type."""
    for block in blocks(page):
        if block.language not in ("console", "sh", "yaml"):
            continue
        for number, line in enumerate(block.text.replace("\\\n", "  ").splitlines()):
            found = re.match(r"\s*(?:\$ |- run: )?(metareview .*)", line)
            if found:
                yield block.line + number, shlex.split(found[1], comments=True)


def run_metareview(arguments):
    """What a reader sees: standard output and error as they come, and the exit code."""
    seen = io.StringIO()
    with (
        contextlib.redirect_stdout(seen),
        contextlib.redirect_stderr(seen),
        mock.patch.object(output, "NOW_AND_THEN", math.inf),  # a busy machine takes longer than a reader's
        pytest.raises(SystemExit) as end,
    ):
        main(arguments)
    return seen.getvalue(), end.value.code


def make_recipe(target):
    """The metareview command that a make target runs."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    found = re.search(rf"^{target}:.*\n\t@?\$\(BIN\)/(metareview .*)$", makefile, re.MULTILINE)
    assert found, f"the Makefile has no target {target} that runs metareview"
    return shlex.split(found[1])


def shell_steps(block):
    """(line, command, the output shown below it) of a console block."""
    step = None
    for number, line in enumerate(block.text.splitlines()):
        if line.startswith("$ "):
            if step:
                yield step
            step = (block.line + number, line[2:], "")
        else:
            assert step, f"line {block.line}: output before any command"
            step = (*step[:2], step[2] + line + "\n")
    if step:
        yield step


def run_console(block, page):
    for line, command, shown in shell_steps(block):
        where = f"{page_id(page)}:{line}: {command}"
        words = shlex.split(command)
        if words[0] == "make":
            words = make_recipe(words[1])
        if words[0] == "metareview":
            printed, code = run_metareview(words[1:])
            assert code == 0, f"{where}\n{printed}"
        else:
            if shutil.which(words[0]) is None:
                continue  # a reader's tool, such as jq, that not every machine has
            printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert _TIME.sub("runs/TIME", printed) == _TIME.sub("runs/TIME", shown), where


def run_python(block, page, names):
    if not block.text.lstrip().startswith(">>>"):
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        exec(code, names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page_id(page), str(page), block.line - 1)
    told = io.StringIO()
    doctest.DocTestRunner().run(test, out=told.write, clear_globs=False)
    names.update(test.globs)  # a doctest works on a copy; the next block goes on from here
    assert not told.getvalue(), told.getvalue()


@contextlib.contextmanager
def served(page, monkeypatch):
    """Where a page says so, GitHub is a local server with the invented repository of examples/github."""
    if "<!-- served: examples/github -->" not in page.read_text("utf-8"):
        yield
        return
    with sample_server() as server:
        monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield


@pages()
def test_the_examples_run_as_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(page, tmp_path)
    names = {"__name__": "example"}
    with served(page, monkeypatch):
        for block in blocks(page):
            if block.language == "python":
                run_python(block, page, names)
            elif block.language == "console":
                run_console(block, page)


def test_the_checks_see_what_is_wrong(tmp_path, monkeypatch):
    """A page that lies is caught: in a doctest, in plain Python, in the output of a command."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "README.md"
    with pytest.raises(AssertionError, match="Expected"):
        run_python(Block("", "python", ">>> 1 + 1\n3\n", 1), page, {})
    with pytest.raises(ZeroDivisionError):
        run_python(Block("", "python", "1 / 0\n", 1), page, {})
    shown = run_metareview(["--version"])[0]
    run_console(Block("", "console", f"$ metareview --version\n{shown}", 1), page)
    with pytest.raises(AssertionError, match="metareview --version"):
        run_console(Block("", "console", f"$ metareview --version\n{shown}more\n", 1), page)


@pages(MARKDOWN)
def test_commands_parse(page):
    for line, words in commands(page):
        where = f"{page_id(page)}:{line}: {shlex.join(words)}"
        assert words[1] in COMMANDS, where
        command, words = cli.get_command(click.Context(cli), words[1]), words[1:]
        while isinstance(command, click.Group):
            command, words = command.get_command(click.Context(command), words[1]), words[1:]
            assert command, where
        try:
            values = command.make_context(words[0], words[1:]).params
        except click.ClickException as error:
            pytest.fail(f"{where}: {error.format_message()}")
        judge = values.get("judge") or DEFAULT_JUDGE
        assert judge in JUDGES.names() or ":" in judge, where
        assert values.get("alignment") in (None, *MODES), where
        assert values.get("format_name") in (None, *COMMENT_FORMATS.names()), where
        assert values.get("reference_format") in (None, *COMMENT_FORMATS.names()), where
        for gate in (*values.get("fail_under", ()), *values.get("fail_over", ())):
            find_measure(gate.partition("=")[0], [*MEASURES, *rank_measures([1, 3, 5])], where)


def test_there_are_commands_to_parse():
    assert {words[1] for page in PAGES for _, words in commands(page)} >= {"comments", "check", "text"}


def anchors(page):
    """What GitHub calls the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages(MARKDOWN)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        to = (page.parent / name).resolve() if name else page
        assert to.is_file(), f"{page_id(page)}: {target}"
        assert to.is_relative_to(ROOT), f"{page_id(page)}: {target} leads out of the repository"
        if anchor:
            assert anchor in anchors(to), f"{page_id(page)}: {target}"


def options_of(name):
    command = cli.get_command(click.Context(cli), name)
    return {option for parameter in command.params for option in parameter.opts if option.startswith("--")}


def test_options_are_those_of_the_command():
    mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", (ROOT / "docs/comments.md").read_text("utf-8")))
    assert mentioned <= options_of("comments") | {"--help"}
    assert options_of("comments") <= mentioned, "an option that docs/comments.md does not mention"
    text = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", (ROOT / "docs/text.md").read_text("utf-8")))
    assert text <= options_of("text")


def code_words(page):
    """Every word that stands in `code` on a page."""
    spans = re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))
    return {word for span in spans for word in re.findall(r"[\w.@-]+", span)}


def test_every_metric_count_judge_and_alignment_is_documented():
    rows = re.findall(r"^\| `([\w-]+)`", (ROOT / "docs/comments.md").read_text("utf-8"), re.MULTILINE)
    counts = counts_to_json(Counts())
    assert set(rows) >= {*(measure.name for measure in MEASURES), *counts, *JUDGES.names(), *MODES}


def keys_of(value):
    return set(value) if isinstance(value, dict) else set()


def test_every_field_of_a_run_is_documented(tmp_path):
    folder = tmp_path / "run"
    run = evaluate_comments(
        DEMO / "reviews",
        reference=DEMO / "references.jsonl",
        negatives=DEMO / "negatives.jsonl",
        filters=metareview.FilterConfig(project_languages=["Go"]),
        out=folder,
    )
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    lines = (folder / "pairs.jsonl").read_text("utf-8").splitlines()
    block = run.summary["reviewers"]["noisy"]
    judged = [record for record in run.records if not record["skipped"]]
    assert len(judged) < len(run.records)
    written = keys_of(manifest) | keys_of(run.summary) | keys_of(run.summary["config"])
    written |= keys_of(run.summary["judge"]) | keys_of(block) | keys_of(block["macro"]) | keys_of(block["slices"])
    for record in run.records:
        written |= keys_of(record)
    for record in judged:
        for name in ("match_details", "matched_reference_comments", "llm_comparisons"):
            for entry in record[name]:
                written |= keys_of(entry) - set(metareview.Comment(note="").keys())
    for line in lines:
        written |= keys_of(json.loads(line))
    assert len(written) > 60
    assert written <= code_words(ROOT / "docs/comments.md")


def test_every_format_is_shown_and_found_by_content(tmp_path):
    page = ROOT / "docs/formats.md"
    write_files(page, tmp_path)
    sections = re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)
    shown = {}
    for section in sections:
        title = section.partition("\n")[0].strip("`")
        for name in re.findall(r"^<!-- file: (.*) -->$", section, re.MULTILINE):
            shown.setdefault(title, []).append(name)
    assert set(shown) == set(COMMENT_FORMATS.names())
    for title, names in shown.items():
        for name in names:
            inputs = read_inputs(tmp_path / name)
            assert {file.format for file in inputs.files} == {title}, name
            assert any(comment.counted for review in inputs.reviews for comment in review.comments), name
            assert not inputs.warnings, name


def test_the_github_example_leaves_out_the_reply(tmp_path):
    write_files(ROOT / "docs/formats.md", tmp_path)
    [review] = read_inputs(tmp_path / "comments_shop_7.json").reviews
    assert (review.reviewer, review.key) == ("bot-a", "github.com/acme/shop#7")
    assert [(c.from_line, c.to_line) for c in review.comments] == [(10, 14)]


def test_the_picture_speaks_to_those_who_do_not_see_it():
    picture = ElementTree.parse(ROOT / "docs/alignment.svg").getroot()
    space = {"svg": "http://www.w3.org/2000/svg"}
    assert picture.get("role") == "img"
    for name in ("title", "desc"):
        found = picture.find(f"svg:{name}", space)
        assert found is not None
        assert found.text.strip()
        assert found.get("id") in picture.get("aria-labelledby").split()


def test_every_dependency_has_its_reason():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    listed = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)[1]
    names = set(re.findall(r'"([a-z0-9-]+)', listed))
    section = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Dependencies")[2]
    assert set(re.findall(r"^\| ([a-z0-9-]+) \|", section, re.MULTILINE)) - {"package"} == names


def imported(path, package):
    """The modules of the package that a file imports, as paths such as comments/model.py."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "metareview":
            base = node.module.split(".")[1:]
            for name in node.names:
                for parts in ([*base, name.name], base):
                    module = package.joinpath(*parts)
                    if parts and module.with_suffix(".py").is_file():
                        yield "/".join(parts) + ".py"
                        break
                    if parts and (module / "__init__.py").is_file():
                        yield "/".join(parts) + "/__init__.py"
                        break


def test_a_module_imports_only_from_those_above_it():
    [layout] = [b for b in blocks(ROOT / "CONTRIBUTING.md") if b.mark == "layout"]
    order = [line.split()[0] for line in layout.text.splitlines()]
    package = ROOT / "src" / "metareview"

    def rank(name):
        found = [entry for entry in order if name == entry or (entry[-1] == "/" and name.startswith(entry))]
        assert found, f"{name} has no place in CONTRIBUTING.md's list"
        return order.index(max(found, key=len))

    modules = [path.relative_to(package).as_posix() for path in package.rglob("*.py")]
    for module in modules:
        for other in imported(package / module, package):
            assert rank(other) <= rank(module), f"{module} imports {other}, which stands below it"
    for entry in order:
        assert (package / entry).exists(), f"{entry} is listed in CONTRIBUTING.md and does not exist"


def test_headings_go_down_one_step_at_a_time():
    for page in MARKDOWN:
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
        assert levels[0] == 1, page_id(page)
        assert levels.count(1) == 1, page_id(page)
        assert all(after <= before + 1 for before, after in pairwise(levels)), page_id(page)


LIBRARY = ("formats", "model", "text", "http", "sources", "judges")
# To be renamed: each stands in formats/github or sources/ beside another class of its name.
SHARED_NAMES = {"Patience", "PullRequest", "Said"}


def test_a_class_of_the_library_has_a_name_of_its_own():
    package = ROOT / "src" / "metareview"
    modules = [path for folder in LIBRARY for path in (package / folder).rglob("*.py")]
    classes = [
        node.name
        for path in modules
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    uses = Counter(name for name in classes if not name.startswith("_"))
    assert {name for name, count in uses.items() if count > 1} <= SHARED_NAMES
