"""Why it cannot be told what became of a comment: short fixed phrases, so that they can be counted."""

from __future__ import annotations

NO_COMMITS = "the commits of its pull request are not known"
NO_PATH = "it names no file"
NO_LINES = "it points at no lines"
LEFT_SIDE = "it points at lines of the old side"
NO_TIME = "neither its commit nor its time is known"
NO_COMMIT_BEFORE = "no commit is known to be older than it"
NOT_IN_LIST = "the commit it was made on is not in the list"
AMBIGUOUS_COMMIT = "the commit it was made on is named ambiguously"
CIRCULAR = "the parents of the commits go round in a circle"
NO_FILES = "what a commit changed is not known"
NO_PATCH = "its file was changed without a patch (binary or too large)"
TRUNCATED = "its patch is truncated"
MALFORMED = "its patch is malformed"
DOES_NOT_APPLY = "its patch does not apply"
NO_FILE = "its file does not exist at the commit it was made on"
BEYOND_END = "its lines are beyond the end of the file"
DATES = "its commit is dated after it"
REWRITTEN = "the commits were rewritten, and patches do not show its lines"
REWRITTEN_WHEN = "the commits were rewritten, and their dates do not tell when"
MERGED = "a merge brought in other lines"
RESTORED = "its file was deleted and came back"

NO_SUGGESTION = "no suggestion"
CHANGES_NOTHING = "its suggestion changes nothing"
PLACE_REWRITTEN = "its place was rewritten together with its neighbours"
NOT_SHOWN = "patches do not show all lines of its place"
TOO_MANY_SUGGESTIONS = "it has more suggestions than are looked at"

REASONS = (
    *(NO_COMMITS, NO_PATH, NO_LINES, LEFT_SIDE, NO_TIME, NO_COMMIT_BEFORE, NOT_IN_LIST, AMBIGUOUS_COMMIT, CIRCULAR),
    *(NO_FILES, NO_PATCH, TRUNCATED, MALFORMED, DOES_NOT_APPLY, NO_FILE, BEYOND_END, DATES, REWRITTEN, REWRITTEN_WHEN),
    *(MERGED, RESTORED, NO_SUGGESTION, CHANGES_NOTHING, PLACE_REWRITTEN, NOT_SHOWN, TOO_MANY_SUGGESTIONS),
)
"""All that a reason can be, so that reasons can be counted."""
