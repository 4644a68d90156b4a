"""A small benchmark and one reviewer: 2 of its 3 comments are right, and raise 2 of 3 references."""

import json

APP1, APP2, LIB3 = (f"https://github.com/octo/{name}" for name in ("app/pull/1", "app/pull/2", "lib/pull/3"))
CLOSE = {"note": "Close the file handle", "path": "a.py", "side": "right", "from_line": 3, "to_line": 4,
         "category": "Code Defect", "context": "Diff Level"}  # fmt: skip
NAME = {"note": "Name the magic number", "path": "a.py", "from_line": 30, "category": "Maintainability and Readability",
        "context": "File Level"}  # fmt: skip
CHECK = {"note": "Check the error first", "path": "b.go", "from_line": 9, "to_line": 9, "category": "Code Defect"}
REFERENCES = [
    {"pr": APP1, "language": "Python", "pr_category": "Bug Fix", "comments": [CLOSE, NAME]},
    {"pr": APP2, "language": "Go", "pr_category": "New Feature Additions", "comments": [CHECK]},
    {"pr": LIB3, "language": "Python", "comments": [{"note": "Validate the length", "path": "c.py"}]},
]
NEGATIVES = [{"pr": APP1, "comments": [{"note": "Looks odd", "path": "a.py", "from_line": 100}]}]
APP1_TEXT = """<path>a.py</path><side>Right</side><from>3</from><to>4</to><note>Close the file handle</note>
<notesplit />
<path>./a.py</path><from>100</from><to>100</to><note>Looks odd</note>
"""
APP2_TEXT = "<path>b.go</path><from>10</from><to>10</to><note>Check the error first</note>"
ALL = ("comments", "reviews", "--reference", "ref.jsonl", "--judge", "exact")


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def files(folder):
    """Everything below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}
