"""`aacr-text`: one file per pull request, `comments_{repo}_{number}.txt`, of tagged blocks split by <notesplit />."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from metareview.errors import UsageError
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import NAMES_OF_NOTES, JsonPath, Record
from metareview.model.address import pull_request_of_stem, repository_and_number
from metareview.model.comment import Comment, Review

_SPLIT = re.compile(r"</?notesplit\s*/?>", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?(path|side|from|to|note)>")
_FIELD = re.compile(rf"<(path|side|from|to)>((?:(?!{_ANY_TAG.pattern}).)*)</\1>", re.DOTALL)
_OTHER_NOTE = re.compile(rf"<({'|'.join(NAMES_OF_NOTES)})>")
# Strings of JSON do not run over a line's end, so no line of JSON begins so.
_TAG_LINE = re.compile(r"\n[ \t]*<(?:path|side|from|to|note)>")


def sniff(file: InputFile) -> bool:
    if file.json.is_in_lines:
        return False
    if file.json.looks_like_json:
        return _TAG_LINE.search(file.text) is not None
    if _ANY_TAG.search(file.text):
        return True
    named = file.path.stem.startswith("comments_") and file.pull_request is not None
    return named and (file.path.suffix.lower() == ".txt" or not file.text.strip())


def read(file: InputFile) -> Iterator[Review]:
    yield Review(pr=file.pull_request or file.path.name, comments=tuple(parse(file)), source=file.name)


def parse(file: InputFile) -> Iterator[Comment]:
    """The comments of a file of any name."""
    begin = 0
    for split in chain(_SPLIT.finditer(file.text), [None]):
        comment = _comment(file, begin, file.text[begin : split.start() if split else None])
        if comment is not None:
            yield comment
        begin = split.end() if split else begin


def _comment(file: InputFile, begin: int, block: str) -> Comment | None:
    """The comment of the block at this offset; None where it has neither a note nor another field."""
    # Tags inside the note belong to it. Blanks in place of what was read keep the offsets of the rest.
    before, opening, rest = block.partition("<note>")
    note, closing, after = rest.partition("</note>")
    around = before + " " * len(opening + note + closing) + after if closing else block
    fields = {field[1]: field for field in reversed(list(_FIELD.finditer(around)))}  # the first of a name counts
    outside = _FIELD.sub(lambda field: " " * len(field[0]), around)
    if tag := _ANY_TAG.search(outside):
        missing = f"{tag[0]} without its {'opening' if tag[0][1] == '/' else 'closing'} tag"
        file.fail(
            file.line_at(begin + tag.start()),
            "a second <note> in one comment" if closing and tag[0] == "<note>" else missing,
            f"Write <{tag[1]}>…</{tag[1]}>, and <notesplit /> between two comments.",
        )
    if not note.strip() and (other := _OTHER_NOTE.search(outside)):
        problem = f"a comment without a note, but with {other[0]}"
        file.fail(file.line_at(begin + other.start()), problem, "Write <note>…</note>.")
    if outside.strip():
        problem = "text outside any tag; left out"
        file.warn(problem, lambda: file.line_at(begin + len(outside) - len(outside.lstrip())), problem)
    if not closing and not fields:
        return None
    values = {f"<{name}>": field[2].strip() for name, field in fields.items()}
    start, end = Record(file, values, lambda path: _line_of(file, begin, fields, path)).lines("<from>", "<to>")
    return Comment(note if closing else "", values.get("<path>") or None, values.get("<side>") or None, start, end)


def _line_of(file: InputFile, begin: int, fields: Mapping[str, re.Match[str]], path: JsonPath) -> int:
    """The line of a tag; of a missing <from>, that of <to>."""
    field = fields.get(str(path[0]).strip("<>")) or fields["to"]
    return file.line_at(begin + field.start())


def write(reviews: Iterable[Review]) -> dict[str, str]:
    """A file per review. Fields without a tag (id, category, context, severity) are not written."""
    files: dict[str, str] = {}
    for review in reviews:
        name = _file_name(review)
        if name in files:
            problem = f"aacr-text has one file per repository's name and number: {name} would be written twice"
            raise UsageError(f"{problem}, for two owners or two reviewers. Use jsonl.")
        files[name] = "".join(map(_block, review.comments))
    return files


def _file_name(review: Review) -> str:
    parts = repository_and_number(review.pr)
    pr = f"{parts[0]}#{parts[1]}" if parts else review.pr
    stem = "comments_" + "_".join(pr.rsplit("#", 1))
    if pull_request_of_stem(stem) != pr or re.search(r"[/\\\0]", pr):
        raise UsageError(f"aacr-text names files by repository and number, and {review.pr!r} has none. Use jsonl.")
    return f"{stem}.txt"


def _block(comment: Comment) -> str:
    lines = []
    values = (comment.path, comment.side, comment.from_line, comment.to_line, comment.note)
    for tag, value in zip(("path", "side", "from", "to", "note"), values, strict=True):
        text = "" if value is None else str(value)
        forbidden = f"</{tag}>" in text or _SPLIT.search(text) or (tag != "note" and _ANY_TAG.search(text))
        if forbidden or (tag != "note" and text != text.strip()):
            problem = f"aacr-text cannot hold this {tag}, it would not be read back as it is"
            raise UsageError(f"{problem}: {text[:80]!r}. Use jsonl.")
        if value is not None or tag == "note":
            lines.append(f"<{tag}>{text}</{tag}>\n")
    return "".join(lines) + "<notesplit />\n"


SUMMARY = "comments_{repo}_{number}.txt: blocks of <path> <side> <from> <to> <note>, split by <notesplit />"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
