"""The lines of a comment run's files, written piece by piece: a record may compare a million pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from json.encoder import encode_basestring
from typing import Any

from metareview.comments.records import CommentRecord, PairBlock
from metareview.model.comment import Comment
from metareview.runs.comments_json import record_to_json
from metareview.runs.files import PAIRS, RESULTS, items_to_bytes, to_text

_CONSTANTS = {None: "null", True: "true", False: "false"}
_STREAMED = "llm_comparisons"
BLOCK = 2_000
"""How many comments a record must have to be written in blocks, and how many there are in one."""
LONG = 1_000_000
"""Or how many characters their notes must have."""


def pieces(record: CommentRecord, blocks: Iterable[PairBlock]) -> Iterator[tuple[str, str | bytes]]:
    """What goes into which file: whole lines of pairs, and the record's line, but for its end, around them."""
    is_long = _is_long(record)
    document = record_to_json(record, compared=False, listed=iter if is_long else list)
    doubtful = None if record.runs or is_long else list(_doubtful(record))
    if not record.comparisons:
        yield from ((RESULTS, text) for text in _closed(document, doubtful))
        for block in blocks:
            yield PAIRS, "".join(_pair_lines(block, _verdicts(block)))
        return
    names = list(document)
    place = names.index(_STREAMED)
    before, after = ({name: document[name] for name in part} for part in (names[:place], names[place + 1 :]))
    held: str | bytes = ""
    for text in _closed(before, doubtful):
        if held:
            yield RESULTS, held
        held = text
    assert isinstance(held, str)
    yield RESULTS, f'{held[:-1]},"{_STREAMED}":['
    separator = ""
    for block in blocks:
        verdicts = list(_verdicts(block))
        yield PAIRS, "".join(_pair_lines(block, verdicts))
        if compared := "" if block.negative else ",".join(_comparisons(block, verdicts)):
            yield RESULTS, separator + compared
            separator = ","
    closing = _closed(after, doubtful)
    begins = next(closing)
    assert isinstance(begins, str)
    yield RESULTS, f"],{begins[1:]}"
    yield from ((RESULTS, text) for text in closing)


def _closed(document: Mapping[str, Any], doubtful: list[Any] | None) -> Iterator[str | bytes]:
    """The document; what it holds as iterators in blocks, which are bytes. It begins and ends with a text."""
    if not any(isinstance(value, Iterator) for value in document.values()):
        yield to_text(document, doubtful)
        return
    separator = "{"
    for name, value in document.items():
        if isinstance(value, Iterator):
            yield f'{separator}"{name}":['
            separator = ""
            while block := list(islice(value, BLOCK)):
                yield separator
                yield items_to_bytes(block)
                separator = ","
            yield "]"
        else:
            yield separator + to_text({name: value})[1:-1]
        separator = ","
    yield "}"


def _is_long(record: CommentRecord) -> bool:
    """Whether its line is to be written in blocks: for many comments, or long ones."""
    number = len(record.comments) + len(record.references) + len(record.negatives)
    return number > BLOCK or sum(len(comment.note) for comment in _comments(record)) > LONG


def _comments(record: CommentRecord) -> Iterator[Comment]:
    yield from (each.comment for each in record.comments)
    yield from (each.comment for each in record.references)
    yield from (each.comment for each in record.negatives)


def _doubtful(record: CommentRecord) -> Iterator[Any]:
    """The values of a single run's line that its types do not make sure of: numbers that need not be whole, and
    whatever else files keep of comments."""
    yield from record.rates.values()
    yield from (record.spent.cost, record.spent.tokens, record.spent.seconds)
    for scored in record.comments:
        if scored.verdict is not None:
            yield scored.verdict.score
    yield from (comment.meta for comment in _comments(record) if comment.meta is not None)


def _verdicts(block: PairBlock) -> Iterator[str]:
    by_text = {by: encode_basestring(by) for by in set(block.by)}
    for score, match, by, reason in zip(block.score, block.match, block.by, block.reason, strict=True):
        shown = "null" if score is None else repr(score)
        yield f'"score":{shown},"match":{_CONSTANTS[match]},"by":{by_text[by]},"reason":{encode_basestring(reason)}'


def _pair_lines(block: PairBlock, verdicts: Iterable[str]) -> Iterator[str]:
    head = f'{{"pr":{encode_basestring(block.pr)},"reviewer":{encode_basestring(block.reviewer)}'
    negative = _CONSTANTS[block.negative]
    run = "" if block.run is None else f',"run":{encode_basestring(block.run)}'
    columns = (block.generated, block.reference, block.gap, block.eligible, verdicts, block.aligned)
    for generated, reference, gap, eligible, verdict, aligned in zip(*columns, strict=True):
        yield (
            f'{head},"generated":{generated},"reference":{reference},"negative":{negative},'
            f'"gap":{"null" if gap is None else gap},"eligible":{_CONSTANTS[eligible]},{verdict},'
            f'"aligned":{_CONSTANTS[aligned]}{run}}}\n'
        )


def _comparisons(block: PairBlock, verdicts: Iterable[str]) -> Iterator[str]:
    for generated, reference, eligible, verdict in zip(
        block.generated, block.reference, block.eligible, verdicts, strict=True
    ):
        if eligible:
            yield f'{{"generated":{generated},"reference":{reference},{verdict}}}'
