"""The lines of a comment run's files, written piece by piece: a record may compare a million pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring

from metareview.comments.records import CommentRecord, PairBlock
from metareview.runs.comments_json import record_to_json
from metareview.runs.files import PAIRS, RESULTS, to_text

_CONSTANTS = {None: "null", True: "true", False: "false"}
_STREAMED = "llm_comparisons"


def pieces(record: CommentRecord, blocks: Iterable[PairBlock]) -> Iterator[tuple[str, str]]:
    """What goes into which file: whole lines of pairs, and the record's line, but for its end, around them."""
    document = record_to_json(record, compared=False)
    if not record.comparisons:
        yield RESULTS, to_text(document)
        for block in blocks:
            yield PAIRS, "".join(_pair_lines(block, _verdicts(block)))
        return
    names = list(document)
    place = names.index(_STREAMED)
    before, after = ({name: document[name] for name in part} for part in (names[:place], names[place + 1 :]))
    yield RESULTS, f'{to_text(before)[:-1]},"{_STREAMED}":['
    separator = ""
    for block in blocks:
        verdicts = list(_verdicts(block))
        yield PAIRS, "".join(_pair_lines(block, verdicts))
        if compared := "" if block.negative else ",".join(_comparisons(block, verdicts)):
            yield RESULTS, separator + compared
            separator = ","
    yield RESULTS, f"],{to_text(after)[1:]}"


def _verdicts(block: PairBlock) -> Iterator[str]:
    by_text = {by: encode_basestring(by) for by in set(block.by)}
    for score, match, by, reason in zip(block.score, block.match, block.by, block.reason, strict=True):
        shown = "null" if score is None else repr(score)
        yield f'"score":{shown},"match":{_CONSTANTS[match]},"by":{by_text[by]},"reason":{encode_basestring(reason)}'


def _pair_lines(block: PairBlock, verdicts: Iterable[str]) -> Iterator[str]:
    head = to_text({"pr": block.pr, "reviewer": block.reviewer})[:-1]
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
