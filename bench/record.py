"""`bench/latest.json`: what the last runs of the benchmarks found, with the machine and the versions of the peers."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench import GROWTH, SPEED, TRUTH
from bench.measure import Result, Row

LATEST = Path(__file__).with_name("latest.json")
VERSIONS = (
    *("metareview", "numpy", "scipy", "msgspec", "rapidfuzz", "rouge", "rouge-score", "ir-measures"),
    *("pytrec-eval-terrier", "ranx", "scikit-learn", "pyarrow", "pyspark"),
)
"""Of whatever takes part; one that is not installed is null."""


@dataclass(frozen=True)
class Part:
    """One benchmark as it was recorded: what it found, when, in how many seconds, and where."""

    result: Result
    date: str
    seconds: float
    machine: Mapping[str, Any]
    versions: Mapping[str, str | None]


Parts = dict[str, Part]


def this_machine() -> dict[str, Any]:
    """What a reader needs to know of it."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(pages / 2**30, 1),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def these_versions() -> dict[str, str | None]:
    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    return {name: installed(name) for name in VERSIONS}


def recorded_now(result: Result, seconds: float) -> Part:
    """What was just found, here."""
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return Part(result, date, round(seconds, 1), this_machine(), these_versions())


def read(path: Path = LATEST) -> Parts:
    """What is recorded; nothing where there is no such file."""
    if not path.exists():
        return {}
    document = json.loads(path.read_text("utf-8"))
    common = {key: document[key] for key in ("machine", "versions")}
    return {name: _part({**common, **part}) for name, part in document["benchmarks"].items()}


def write(parts: Parts, path: Path = LATEST) -> None:
    """In the order of the benchmarks. Machine and versions are told once; a part measured elsewhere has its own."""
    if not parts:
        return
    newest = max(parts.values(), key=lambda part: part.date)
    common: dict[str, Any] = {"machine": newest.machine, "versions": newest.versions}
    told = {name: _told(parts[name], common) for name in (*SPEED, *TRUTH, *GROWTH) if name in parts}
    document = {"date": newest.date, **common, "benchmarks": told}
    path.write_text("".join(_laid_out(document)) + "\n", "utf-8")


def _told(part: Part, common: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: getattr(part, key) for key in common if getattr(part, key) != common[key]}
    rows = [{key: value for key, value in asdict(row).items() if value is not None} for row in part.result.rows]
    result = part.result
    return {"title": result.title, "data": result.data, "date": part.date, "seconds": part.seconds, **own, "rows": rows}


def _part(told: Mapping[str, Any]) -> Part:
    rows = tuple(Row(**row) for row in told["rows"])
    result = Result(told["title"], rows, told["data"])
    return Part(result, told["date"], told["seconds"], told["machine"], told["versions"])


def rounded(row: Row) -> Row:
    """The row with as many digits as a benchmark can stand for."""
    if isinstance(row.value, str) or row.value == 0 or not math.isfinite(row.value):
        return row
    digits = 3 - math.floor(math.log10(abs(row.value)))
    value = round(row.value, max(digits, 0))
    return replace(row, value=value)


def _laid_out(value: Any, indent: str = "") -> Iterator[str]:
    """JSON with one line per row, so that a change of one figure is a change of one line."""
    if isinstance(value, Mapping) and any(isinstance(each, (Mapping, list)) for each in value.values()):
        yield "{\n"
        for at, (key, each) in enumerate(value.items()):
            yield ",\n" * bool(at) + f"{indent}  {json.dumps(key)}: "
            yield from _laid_out(each, indent + "  ")
        yield f"\n{indent}}}"
    elif isinstance(value, list) and value:
        yield "[\n" + ",\n".join(f"{indent}  {json.dumps(each, ensure_ascii=False)}" for each in value)
        yield f"\n{indent}]"
    else:
        yield json.dumps(value, ensure_ascii=False)
