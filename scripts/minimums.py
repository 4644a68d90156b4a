"""Prints the oldest versions that pyproject.toml declares for what users install, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
# Spark is half a gigabyte and needs newer versions of what the other extras need: it is tested as it is pinned.
extras = [group for name, group in project["optional-dependencies"].items() if name not in ("dev", "spark")]
for requirement in [*project["dependencies"], *(each for group in extras for each in group)]:
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
    print(f"{name}=={version}")
