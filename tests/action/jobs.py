"""Data for tests of the whole Action, and a use of it that leaks no token."""

import json

TOKEN = "ghs_job0123456789verysecret"
NOTES = ["The lock is released too early", "The error of close is dropped", "The last page is never fetched"]


def record(number, reviewer, notes):
    comments = [{"path": "a.py", "from_line": 10 * i, "to_line": 10 * i, "note": note} for i, note in notes]
    return {"pr": f"https://github.com/acme/shop/pull/{number}", "reviewer": reviewer, "comments": comments}


def write(path, records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")


def use(job, **inputs):
    done = job.use(**{"version": "installed", **inputs})
    assert TOKEN not in done.log + done.page + str(done.outputs)
    for file in job.workspace.rglob("*"):
        if file.is_file():
            assert TOKEN.encode() not in file.read_bytes(), file
    return done
