"""Figures, names, options, paths and steps that the documentation names are those of the code."""

import re

import click
import pytest

from metareview.cli import cli
from metareview.comments.case import Rules
from metareview.compat.aacr import EvaluatorConfig
from metareview.judges.builtin.cascade import SETTINGS
from metareview.judges.builtin.rouge import THRESHOLD as ROUGE
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.remote.embedding import THRESHOLD as EMBEDDING
from metareview.pipelines.routing.options import RoutingOptions
from metareview.routing.weeks import FEWEST_WEEKS
from metareview.text.matching import MatchingStrategy
from metareview.viewer.settings import Settings
from test_docs import PAGES, ROOT, blocks, page_id

PACKAGE = ROOT / "src" / "metareview"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
CODE = [
    path
    for folder in ("src", "tests", "bench", "fuzz", "scripts", "examples")
    for path in (ROOT / folder).rglob("*.py")
]
OFFLINE = OfflineJudge().threshold
CAREFUL = SETTINGS["careful"]

FIGURES = [
    ("comments.md", r"`offline`.*`--threshold` \(default ([\d.]+)\)", [OFFLINE]),
    ("offline-judge.md", r"The threshold is ([\d.]+\d)", [OFFLINE]),
    ("comments.md", r"`rouge`.*`--threshold` \(default ([\d.]+)\)", [ROUGE]),
    ("judges.md", r"the default of ([\d.]+) is a starting point", [EMBEDDING]),
    ("model-judges.md", r"Its threshold of ([\d.]+) is a starting point", [EMBEDDING]),
    ("judges.md", r"asked about at all: (\S+) and ([\d.]+\d)", [CAREFUL.low, CAREFUL.high]),
    ("comments.md", r"`--line-distance` \(default (\d+)", [Rules().line_distance]),
    ("comments.md", r"`--line-distance` \(default (\d+)", [EvaluatorConfig().line_distance_threshold]),
    ("text.md", r"`rouge-chunk`.*greater than ([\d.]+)", [MatchingStrategy.ROUGE_CHUNK_MATCH.default_threshold]),
    ("text.md", r"`rouge-sentence`.*greater than ([\d.]+)", [MatchingStrategy.ROUGE_SENTENCE_MATCH.default_threshold]),
    ("routing.md", r"over blocks of weeks \(with fewer than (\d+)", [FEWEST_WEEKS]),
    ("statistics.md", r"With fewer than (\d+) weeks", [FEWEST_WEEKS]),
    ("migration.md", r"`--truth-window (\d+)m` \(default\)", [int(RoutingOptions("x").truth_window.removesuffix("m"))]),
    ("viewer.md", r"`--port N` \| (\d+)", [Settings().port]),
]
FOREIGN = {
    *("pull_request_target", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread"),
    *("OLLAMA_NUM_PARALLEL", "OLLAMA_KEEP_ALIVE", "SSL_CERT_FILE"),
    *("EMBEDDING_TIMEOUT", "DIGITS", "our_notes", "comments_r_5", "repo_number", "merged_rate_", "x_2"),
}
"""Names of GitHub's and of model servers, names that are put together, and those of examples."""
FOREIGN_OPTIONS = {
    "README.md": set(),
    "CONTRIBUTING.md": {"--minutes", "--seed", "--write"},
    "docs/ci.md": {"--user"},
    "docs/formats.md": {"--paginate"},
    "docs/github.md": {"--hostname"},
    "docs/local-models.md": {"--ctx-size", "--n-predict", "--parallel", "--reasoning-budget"},
    "docs/offline-judge.md": {"--check"},
}
"""Options of pip, gh, model servers, and of scripts that are no command of metareview."""


@pytest.mark.parametrize(
    ("page", "pattern", "expected"), FIGURES, ids=[f"{page}-{n}" for n, (page, *_) in enumerate(FIGURES)]
)
def test_a_documented_figure_is_that_of_the_code(page, pattern, expected):
    found = re.findall(pattern, (ROOT / "docs" / page).read_text("utf-8"))
    assert found, f"docs/{page} does not say {pattern}"
    for figures in found:
        assert [float(each.rstrip(",;")) for each in ([figures] if isinstance(figures, str) else figures)] == expected


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_no_page_gives_the_offline_judge_another_threshold(page):
    text = page.read_text("utf-8")
    told = re.findall(r"offline(?:'s|` judge's)?[^.\n|]* threshold (?:of|is) (0\.\d+)", text, re.IGNORECASE)
    assert set(map(float, told)) <= {OFFLINE}


def options(command):
    """Every option of a command and of those below it."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from options(command.get_command(context, name))


@pytest.mark.parametrize("page", [*PAGES, CONTRIBUTING], ids=page_id)
def test_a_documented_option_exists(page):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*\w", page.read_text("utf-8")))
    assert named <= {*options(cli), "--help", "--version"} | FOREIGN_OPTIONS.get(page_id(page), set())


def spans(page):
    """What stands in `code` in the prose of a page."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", prose)


@pytest.mark.parametrize("page", [page for page in (*PAGES, CONTRIBUTING) if page.name != "migration.md"], ids=page_id)
def test_a_documented_name_occurs_in_the_code(page):
    """Keys, functions, classes and variables; the page on migration also has other tools' names."""
    known = {*re.findall(r"\w+", "".join(path.read_text("utf-8") for path in CODE)), *(path.stem for path in CODE)}
    known |= set(re.findall(r"\w+", (ROOT / "action.yml").read_text("utf-8"))) | FOREIGN
    pattern = r"\b(?:[a-z]+_[a-z_0-9]+|[A-Z][a-z]+[A-Z]\w+|[A-Z][A-Z_]{4,})\b"
    named = {name for span in spans(page) for name in re.findall(pattern, span)}
    assert named <= known


def test_a_path_in_contributing_exists():
    for span in spans(CONTRIBUTING):
        for path in re.findall(r"(?<![\w/.])(?:\.?[\w-]+/)+[\w.-]*|(?<![\w/.])[\w-]+\.(?:py|toml|txt|md)", span):
            places = [root / path for root in (ROOT, PACKAGE, PACKAGE / "viewer", ROOT / "tests" / "viewer")]
            is_made = path.startswith((".venv", "runs/"))
            assert is_made or any(place.exists() or place.with_suffix(".py").exists() for place in places), path


def test_the_steps_of_a_pipeline_are_its_modules():
    [layout] = [block for block in blocks(CONTRIBUTING) if block.mark == "layout"]
    line = next(line for line in layout.text.splitlines() if line.startswith("pipelines/"))
    folders = [path.name for path in (PACKAGE / "pipelines").iterdir() if (path / "__init__.py").is_file()]
    told = dict(re.findall(r"(\w+) \(([a-z, ]+)\)", line))
    assert {*told} == {*folders}
    for name, steps in told.items():
        said = (PACKAGE / "pipelines" / name / "__init__.py").read_text("utf-8").partition('"""\n')[0]
        assert f"{steps}." in said.lower(), f"{name}: {steps}"
        for step in steps.split(", "):
            assert (PACKAGE / "pipelines" / name / f"{step}.py").is_file(), f"{name}: {step}"


def test_a_measure_is_added_as_contributing_says():
    section = CONTRIBUTING.read_text("utf-8").partition("**A measure.**")[2].partition("\n\n")[0]
    source = (PACKAGE / "comments" / "measures.py").read_text("utf-8")
    assert ("decorated" in section) == bool(re.search(r"^@(?!dataclass|classmethod)\w+", source, re.MULTILINE))
    makers = re.findall(r"`(_\w+)\(", section)
    assert {*makers} == {"_rate", "_f"}
    assert all(f"def {maker}(" in source for maker in makers)


def test_keys_that_other_tools_call_otherwise_are_not_promised_to_stay():
    """The runner's unmatched_count is unmatched_nums here: where the page has such a row, it promises less."""
    page = (ROOT / "docs" / "migration.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page, re.MULTILINE)
    assert any(theirs != ours for theirs, ours in rows)
    assert not re.search(r"\bkeys stay\b", page)
