"""Outputs without what may change: prose, paths, addresses. Keys, their order and every number stay."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from html import unescape
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

Digest = dict[str, Any]
"""`sha256`, `rounded_sha256`, `lines` and, of standard output, `counts`."""
PROSE = frozenset({"reason", "skip_reason", "verdict", "message", "expected", "run", "warnings"})
"""Keys whose texts say something in words, or where a run lies."""
_SIZES = frozenset({"bytes"})
_VARYING = PROSE | _SIZES
_FIGURE = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?(?:–[\d.]+)?(?: ?%)?(?: \([\d,.–]+%?\))?")
_LONG_NUMBER = re.compile(r"-?\d+(?:\.\d{6,}(?:e[+-]\d+)?|(?:\.\d+)?e[+-]\d+)")
_COUNTS = (
    "positive_expected_nums", "total_generated_nums", "positive_match_nums", "positive_line_match_nums",
    "positive_covered_nums", "negative_match_nums", "judge_error_nums",
)  # fmt: skip


def normal_text(suffix: str, text: str, roots: Mapping[str, str]) -> str:
    """The normal form of a file's text, by the file's suffix: texts of `PROSE` empty, sizes of files 0, folders of this
    machine under the names that `roots` gives them. Of a page or Markdown: a line per table, its figures."""
    for folder, name in roots.items():
        text = text.replace(folder, name)
    if suffix == ".json":
        return json.dumps(json.loads(text, object_hook=_blanked), ensure_ascii=False, indent=1) + "\n"
    if suffix == ".jsonl":
        return _lines(json.loads(line, object_hook=_blanked) for line in text.split("\n") if line)
    if suffix == ".csv":
        return _lines(map(_blanked, csv.DictReader(io.StringIO(text, newline=""))))
    if suffix == ".xml":
        return _junit(text)
    tables = _markdown_tables(text) if suffix == ".md" else _PageTables(text).tables
    figures = [[[cell for cell in row if _FIGURE.fullmatch(cell)] for row in table] for table in tables]
    return _lines([row for row in table if row] for table in figures)


def _lines(values: Iterable[object]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def _blanked(fields: dict[str, object]) -> dict[str, object]:
    for key in _VARYING & fields.keys():
        value = fields[key]
        if key in _SIZES:
            fields[key] = 0
        elif isinstance(value, str):
            fields[key] = ""
        elif isinstance(value, list):
            fields[key] = ["" if isinstance(each, str) else each for each in value]
    return fields


def _junit(text: str) -> str:
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.text = element.tail = None
        if "message" in element.attrib:
            element.set("message", "")
        if element.get("classname", "").endswith(".gates"):
            element.set("name", "")
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode") + "\n"


def _markdown_tables(text: str) -> list[list[list[str]]]:
    """The cells of the tables, without their heads."""
    bodies = re.findall(r"^\| ---.*\n((?:\|.*\n?)*)", text, re.MULTILINE)
    return [
        [[unescape(cell.strip()) for cell in row.strip("|").split("|")] for row in body.splitlines()] for body in bodies
    ]


class _PageTables(HTMLParser):
    """The cells of a page's tables, as text, without their heads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._head = self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "thead":
            self._head = True
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._inside = not self._head

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._inside = False
        elif tag == "thead":
            self._head = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.tables[-1][-1][-1] += data.strip()


def digest(name: str, text: str) -> Digest:
    """What is kept of a normal file: its hash, its hash with numbers of 12 digits (processors add in different orders,
    so a last digit may differ), its number of lines, and of a summary a few counts."""
    rounded = _LONG_NUMBER.sub(lambda match: repr(round(float(f"{float(match[0]):.12g}"), 12)), text)
    kept: Digest = {"sha256": _hash(text), "rounded_sha256": _hash(rounded), "lines": text.count("\n")}
    if name == "stdout.json":
        kept["counts"] = _counts(json.loads(text))
    return kept


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _counts(document: Mapping[str, object]) -> dict[str, int]:
    counts = {key: value for key, value in document.items() if type(value) is int}
    reviewers, truth, judge = (document.get(key) for key in ("reviewers", "truth", "judge"))
    if isinstance(reviewers, dict):
        sums = {key: sum(block.get(key) or 0 for block in reviewers.values()) for key in _COUNTS}
        counts |= {key: value for key, value in sums.items() if type(value) is int}  # of repeated runs they are means
    for block, keys in ((truth, ("observed", "unknown")), (judge, ("pairs", "llm_calls", "cached"))):
        if isinstance(block, dict):
            counts |= {key: block[key] for key in keys}
    return counts
