"""The oldest versions of what users install are above those with known holes."""

import re
import tomllib
from pathlib import Path

SOUND = {"filelock": (3, 20, 3), "urllib3": (2, 7), "starlette": (1, 3, 1), "h11": (0, 16)}
"""The first versions in which every published hole that we know of is closed."""


def test_no_minimum_lies_below_a_version_with_a_known_hole():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["view"]]
    lowest = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", each).groups() for each in required)
    for name, version in SOUND.items():
        assert tuple(map(int, lowest[name].split("."))) >= version, name


def test_what_is_run_with_the_oldest_versions_is_there():
    root = Path(__file__).parents[1]
    listed = re.search(r"^OLD_TESTS := (.*?)\n\n", (root / "Makefile").read_text("utf-8"), re.MULTILINE | re.DOTALL)[1]
    named = re.sub(
        r"\$\(addprefix (\S+),([^)]*)\)",
        lambda found: " ".join(found[1] + each for each in found[2].split()),
        listed.replace("\\\n", " "),
    )
    paths = named.split()
    assert len(paths) > 15
    assert [path for path in paths if not (root / path).exists()] == []
