"""The workflows of examples/actions: in the documentation word for word, with inputs that exist and few permissions."""

import pytest
import yaml
from composite import ACTION, ROOT

from metareview.action.inputs import read_inputs

EXAMPLES = sorted((ROOT / "examples" / "actions").glob("*.yml"))
PERMISSIONS = {
    "base-branch": {"contents": "read", "pull-requests": "write"},
    "gate": {"contents": "read", "pull-requests": "write"},
    "weekly": {"contents": "read", "pull-requests": "read"},
}


def uses_of(path):
    [job] = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    return [step for step in job["steps"] if step.get("uses", "").startswith("OWNER/metareview@")]


def test_there_are_three():
    assert [path.stem for path in EXAMPLES] == sorted(PERMISSIONS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_sound(path):
    text = path.read_text("utf-8")
    assert f"[examples/actions/{path.name}](../examples/actions/{path.name}):\n\n```yaml\n{text}```" in (
        ROOT / "docs" / "ci.md"
    ).read_text("utf-8")
    assert yaml.safe_load(text)["permissions"] == PERMISSIONS[path.stem]
    [use] = uses_of(path)
    given = use["with"]
    assert set(given) <= set(ACTION["inputs"])
    read_inputs({f"INPUT_{name.upper().replace('-', '_')}": value for name, value in given.items()})
    writes = given.get("comment", "true") != "false"
    assert writes == (PERMISSIONS[path.stem]["pull-requests"] == "write")


def test_every_input_and_output_is_documented():
    page = (ROOT / "docs" / "ci.md").read_text("utf-8").partition("### Inputs and outputs")[2].partition("###")[0]
    rows = [line.partition("|")[2].partition("|")[0] for line in page.splitlines() if line.startswith("| `")]
    named = [name.strip(" `") for row in rows for name in row.split(",")]
    assert named == [*ACTION["inputs"], *ACTION["outputs"]]
