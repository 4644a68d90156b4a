"""`aacr-text`: one file per pull request, `comments_{repo}_{number}.txt`, of tagged blocks split by <notesplit />."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from metareview.errors import UsageError
from metareview.formats.file_names import pull_request_of_file, pull_request_of_stem
from metareview.formats.protocol import CommentFormat
from metareview.formats.source import Source
from metareview.model.address import repository_and_number
from metareview.model.comment import MAX_LINE, Comment, Review

_SPLIT = re.compile(r"</?notesplit\s*/?>", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?(path|side|from|to|note)>")
# No string of a JSON document runs over a line's end, so no line of one begins so.
_TAG_LINE = re.compile(r"^[ \t]*<(?:path|side|from|to|note)>", re.MULTILINE)


def sniff(source: Source) -> bool:
    if source.looks_like_json:
        return bool(_TAG_LINE.search(source.text))
    if _ANY_TAG.search(source.text):
        return True
    named = source.path.stem.startswith("comments_") and pull_request_of_file(source) is not None
    return named and (source.path.suffix.lower() == ".txt" or not source.text.strip())


def read(source: Source) -> Iterator[Review]:
    pr = pull_request_of_file(source) or source.path.name
    yield Review(pr=pr, comments=tuple(parse(source)), source=source.name)


def parse(source: Source) -> Iterator[Comment]:
    """The comments of a file, whatever its name."""
    text, begin = source.text, 0
    for split in [*_SPLIT.finditer(text), None]:
        end = split.start() if split else len(text)
        comment = _comment(source, begin, text[begin:end])
        if comment is not None:
            yield comment
        begin = split.end() if split else end


def _comment(source: Source, begin: int, block: str) -> Comment | None:
    if not block.strip():
        return None
    note, around = _note_and_rest(block)
    fields: dict[str, str] = {}
    offsets: dict[str, int] = {}
    outside: list[str] = []
    last = 0
    tags = _ANY_TAG.finditer(around)
    for tag in tags:
        closing = next(tags, None)
        name = tag[1]
        if name == "note" or tag[0] != f"<{name}>" or closing is None or closing[0] != f"</{name}>":
            source.fail_at(
                begin + tag.start(),
                "a second <note> in one comment"
                if note is not None and tag[0] == "<note>"
                else f"{tag[0]} without its {'opening' if tag[0][1] == '/' else 'closing'} tag",
                f"Write <{name}>…</{name}>, and <notesplit /> between two comments.",
            )
        fields.setdefault(name, around[tag.end() : closing.start()].strip())
        offsets.setdefault(name, begin + tag.start())
        outside.append(around[last : tag.start()] + " " * (closing.end() - tag.start()))
        last = closing.end()
    text = "".join(outside) + around[last:]
    if text.strip():
        source.warn(
            "text outside any tag; left out",
            lambda: source.line_at(begin + len(text) - len(text.lstrip())),
            "text outside any tag; left out",
        )
    if note is None and not fields:
        return None
    start, end = (_line(source, offsets, name, fields.get(name)) for name in ("from", "to"))
    if start is not None and end is not None and start > end:
        source.warn(
            "a range that ends before it begins; swapped",
            lambda: source.line_at(offsets["from"]),
            f"<from> {start} is after <to> {end}; swapped",
        )
        start, end = end, start
    return Comment(
        note=note or "", path=fields.get("path") or None, side=fields.get("side") or None, from_line=start, to_line=end
    )


def _note_and_rest(block: str) -> tuple[str | None, str]:
    """What is inside the note is the note, tags and all; the other fields are around it."""
    start = block.find("<note>")
    end = block.find("</note>", start) if start >= 0 else -1
    if end < 0:
        return None, block
    note, after = block[start + len("<note>") : end], end + len("</note>")
    return note, block[:start] + " " * (after - start) + block[after:]


def _line(source: Source, offsets: dict[str, int], name: str, value: str | None) -> int | None:
    if not value:
        return None
    if not re.fullmatch(r"[0-9]{1,10}", value) or not 1 <= int(value) <= MAX_LINE:
        source.fail_at(
            offsets[name],
            f"<{name}> must be a line number from 1 to {MAX_LINE}, found {value[:40]!r}",
            "Lines count from 1; leave the tag empty where there is none.",
        )
    return int(value)


def write(reviews: Iterable[Review]) -> dict[str, str]:
    """A file per review. What has no tag (id, category, context, severity) is not written."""
    files: dict[str, str] = {}
    for review in reviews:
        name = _file_name(review)
        if name in files:
            raise UsageError(
                f"aacr-text has one file per repository's name and number: {name} would be written twice, for two "
                "owners or two reviewers. Use jsonl."
            )
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
    for tag, value in (
        ("path", comment.path),
        ("side", comment.side),
        ("from", comment.from_line),
        ("to", comment.to_line),
        ("note", comment.note),
    ):
        text = "" if value is None else str(value)
        forbidden = f"</{tag}>" in text or _SPLIT.search(text) or (tag != "note" and _ANY_TAG.search(text))
        if forbidden or (tag != "note" and text != text.strip()):
            raise UsageError(
                f"aacr-text cannot hold this {tag}, it would not be read back as it is: {text[:80]!r}. Use jsonl."
            )
        if value is not None or tag == "note":
            lines.append(f"<{tag}>{text}</{tag}>\n")
    return "".join(lines) + "<notesplit />\n"


PLUGIN = CommentFormat(
    "comments_{repo}_{number}.txt: blocks of <path> <side> <from> <to> <note>, split by <notesplit />",
    sniff,
    read,
    write,
)
