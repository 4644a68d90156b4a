import json
import subprocess
import sys

import pytest

import metareview


@pytest.mark.parametrize("name", metareview.__all__)
def test_every_public_name_is_there(name):
    assert getattr(metareview, name) is not None
    assert name in dir(metareview)


def test_the_names_of_the_interface_are_public():
    promised = {
        "get_evaluator_ans_from_json", "load_generated_comments_from_file", "EvaluatorConfig", "PrecisionRecallF1",
        "MatchingStrategy", "evaluate_comments", "FilterConfig", "SemanticMatcherType", "PRCategory",
        "ProjectLanguage", "CommentCategory", "CommentContext", "Comment", "Judge",
    }  # fmt: skip
    assert promised <= set(metareview.__all__)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'metareview' has no attribute 'evaluate_everything'"):
        _ = metareview.evaluate_everything


def test_a_star_import_brings_the_public_names():
    names = {}
    exec("from metareview import *", names)
    assert set(metareview.__all__) <= set(names)


def loaded_after(statement):
    program = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(shown.stdout.split())


def test_importing_the_package_imports_nothing_heavy():
    heavy = {"numpy", "scipy", "click", "rich", "rapidfuzz", "pandas", "sentencex"}
    assert loaded_after("import metareview") & heavy == set()
    assert loaded_after("import metareview.cli") & heavy == {"click"}
    assert loaded_after("from metareview.errors import InputError") & heavy == set()


COMMENTS = """
import sys
from metareview.cli import main
try:
    main(["comments", "said.jsonl", "--reference", "expected.jsonl", "--out", "run", "-q"])
except SystemExit as end:
    assert not end.code, end.code
servers = ("urllib3", "sqlite3", "dotenv", "filelock", "metareview.judges.remote", "metareview.judges.cascade")
others = "routing outcomes benchmark viewer engines.spark formats.sarif formats.bodies report.page".split()
unneeded = (*servers, *(f"metareview.{name}." for name in others), "pyarrow", "pandas", "pyspark")
print([name for name in sys.modules if f"{name}.".startswith(unneeded)])
"""


def test_comments_import_nothing_that_asks_a_server_and_no_other_kind_of_run(tmp_path):
    for name, notes in {"said": ["leak"], "expected": ["it leaks"]}.items():
        record = {
            "pr": "https://github.com/o/r/pull/1",
            "reviewer": "x",
            "comments": [{"note": note} for note in notes],
        }
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    command = [sys.executable, "-c", COMMENTS]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "[]"
