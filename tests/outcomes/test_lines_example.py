"""A pull request of four commits, worked out by hand: a file is added, shifted, rewritten under a new name, merged."""

import pytest

from metareview.model.comment import ChangedFile, Comment, Commit
from metareview.outcomes import reasons
from metareview.outcomes.lines import Changes

ADDED = """@@ -0,0 +1,6 @@
+import os
+
+def load(path):
+    handle = open(path)
+    data = handle.read()
+    return data"""
SHIFTED = """@@ -1,3 +1,5 @@
 import os
+import sys

+# Reads a file.
 def load(path):"""
HEEDED = """@@ -3,6 +3,5 @@ import sys

 # Reads a file.
 def load(path):
-    handle = open(path)
-    data = handle.read()
-    return data
+    with open(path) as handle:
+        return handle.read()"""
MERGED = """@@ -1,3 +1,2 @@
-import os
 import sys
 """

COMMITS = (
    Commit("c1", "2026-01-01", "ann", ("b0",), (ChangedFile("load.py", None, "added", ADDED),)),
    Commit("c2", "2026-01-02", "ann", ("c1",), (ChangedFile("load.py", None, "modified", SHIFTED),)),
    Commit("c3", "2026-01-03", "ann", ("c2",), (ChangedFile("io.py", "load.py", "renamed", HEEDED),)),
    Commit("c4", "2026-01-04", "ann", ("c3", "b1"), (ChangedFile("io.py", None, "modified", MERGED),)),
)
SUGGESTION = "Close it.\n```suggestion\n    with open(path) as handle:\n        return handle.read()\n```"


@pytest.mark.parametrize(
    ("first", "last", "value", "changed_by", "final_lines"),
    [
        (4, 6, True, ("c3",), (5, 6)),  # Rewritten, two days later and under another name.
        (3, 3, False, (), (4, 4)),  # Moved down by two lines, and up by one.
        (2, 3, True, ("c2",), (2, 4)),  # A line was put between them.
        (1, 1, False, (), None),  # Taken out by a merge, which never counts.
    ],
)
def test_what_became_of_the_lines(first, last, value, changed_by, final_lines):
    comment = Comment(
        "?", "load.py", "right", first, last, author="helper[bot]", at="2026-01-01T12:00:00Z", commit="c1"
    )
    fate = Changes(COMMITS, until="2026-01-05").fate(comment, pr_author="ann")
    assert (fate.lines_changed.value, fate.changed_by, fate.final_lines) == (value, changed_by, final_lines)


@pytest.mark.parametrize(("until", "expected"), [("2026-01-05", True), ("2026-01-02", False)])
def test_whether_the_suggestion_was_taken(until, expected):
    comment = Comment(
        SUGGESTION, "load.py", "right", 4, 6, author="helper[bot]", at="2026-01-01T12:00:00Z", commit="c1"
    )
    assert Changes(COMMITS, until=until).fate(comment).suggestion_taken.value is expected
    again = Comment("?", "load.py", "right", 4, 6, author="helper[bot]", commit="c0ffee00")
    assert Changes(COMMITS).fate(again).lines_changed.reason == reasons.NOT_IN_LIST
