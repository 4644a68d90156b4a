"""Runs of outcomes for the viewer's tests: two pull requests worked by hand, and larger ones to label."""

import metareview as mr

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)"> "quoted" \u202e{}'
PATCH = "@@ -1,3 +1,3 @@\n one\n-two\n+zwei <b>bold</b>\n three"


def pull(number):
    return f"https://github.com/o/shop/pull/{number}"


def commit(sha, at, patch, author="ann", path="cart.py", status="modified"):
    files = [{"path": path, "status": status, "patch": patch}]
    return {"sha": sha, "at": f"2026-03-02T{at}:00Z", "author": author, "files": files}


COMMITS = [
    commit("c100000", "09:00", "@@ -0,0 +1,3 @@\n+one\n+two\n+three", status="added"),
    commit("c200000", "11:00", PATCH),
]


def said(number, line=None, note="", at="10:00", **fields):
    lines = {} if line is None else {"from_line": line, "to_line": line}
    made = {"id": str(number), "path": "cart.py", "at": f"2026-03-02T{at}:00Z", "commit": "c100000", "reactions": {}}
    return {**made, **lines, "note": note or f"Note {number} on its line.", **fields}


def review(pr, reviewer, comments, **fields):
    return {"pr": pr, "reviewer": reviewer, "comments": comments, **fields}


def small(bot="bot[bot]"):
    """On pull 1: the bot's comment 1 is heeded (line 2 changes), 2 is not, and is turned down by ann in words and by a
    thumb, 3 names no line; dora's 5 is made between 1 and 2 and heeded. On pull 2 the bot's 7 is not heeded."""
    about = {"author": "ann", "merged_at": "2026-03-02T15:00:00Z", "commits": COMMITS}
    return [
        review(pull(1), bot, [
            said(1, 2, "Say it in German.", severity="high"),
            said(2, 1, HOSTILE, at="10:20", severity="low", reactions={"-1": 1}),
            said(3, None, "This file has no tests.", at="10:30"),
        ], **about),
        review(pull(1), "ann", [said(4, None, "Won't fix, it is right. <i>no</i>", at="10:40", in_reply_to="2")]),
        review(pull(1), "dora", [said(5, 2, "Why two?", at="10:10")]),
        review(pull(2), bot, [said(7, 3, "Name the third.", severity="high")], **about),
    ]  # fmt: skip


def small_run(folder, **options):
    return mr.evaluate_outcomes(small(), out=folder, **options)


def many(prs, each=4, reviewer="bot[bot]", heeded=2):
    """On each pull request `each` comments, of which `heeded` point at the line that changes."""
    about = {"author": "ann", "merged_at": "2026-03-02T15:00:00Z", "commits": COMMITS}
    return [
        review(pull(number), reviewer, [
            said(f"{number}-{at}", 2 if at < heeded else 3, f"Remark {at} of {number}: at {at}.") for at in range(each)
        ], **about)
        for number in range(1, prs + 1)
    ]  # fmt: skip
