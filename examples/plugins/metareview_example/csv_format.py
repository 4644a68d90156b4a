"""`csv`: one comment per row, with the columns pr, reviewer, path, line and note."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.model.comment import Comment, Review

COLUMNS = ["pr", "reviewer", "path", "line", "note"]


def sniff(source: InputFile) -> bool:
    return source.text.splitlines()[:1] == [",".join(COLUMNS)]


def read(source: InputFile) -> Iterator[Review]:
    for row in csv.DictReader(io.StringIO(source.text)):
        line = int(row["line"]) if row["line"] else None
        comment = Comment(row["note"], row["path"] or None, from_line=line, to_line=line)
        yield Review(row["pr"], (comment,), reviewer=row["reviewer"] or None, source=source.name)


def write(reviews: Iterable[Review]) -> dict[str, str]:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for review in reviews:
        for comment in review.comments:
            table.writerow([review.pr, review.reviewer, comment.path, comment.from_line, comment.note])
    return {"": out.getvalue()}


PLUGIN = CommentFormat("one comment per row: pr, reviewer, path, line, note", sniff, read, write)
