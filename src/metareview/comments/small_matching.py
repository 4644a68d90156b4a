"""The optimal matching of a graph that falls into small parts, without matrices: what `align` finds for any graph.

Reviews of some ten comments leave a handful of edges, most of them between two comments that have no other. A matrix
per pull request takes a hundred times as long as looking at these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metareview.model.comment import Comment

Edge = tuple[int, int, int]
"""A comment, a reference, and the score in whole units."""
MOST = 16
"""How many edges a part may have: the ways to match it are gone through one by one."""


def parts_of(edges: Sequence[Edge]) -> Iterator[list[Edge]]:
    """The connected parts, each with its edges in no particular order."""
    of_comment: dict[int, list[Edge]] = {}
    of_reference: dict[int, list[Edge]] = {}
    for edge in edges:
        of_comment.setdefault(edge[0], []).append(edge)
        of_reference.setdefault(edge[1], []).append(edge)
    while of_comment:
        part = of_comment.popitem()[1]
        for edge in part:  # which grows as it is gone through
            for other in of_reference.pop(edge[1], ()):
                if other[0] in of_comment:
                    part.extend(of_comment.pop(other[0]))
        yield part


def first_best_pairs(
    part: Sequence[Edge], unit: int, generated: Sequence[Comment], reference: Sequence[Comment]
) -> list[tuple[int, int]]:
    """(comment, reference) of the best matching of one part: the most pairs, then the highest sum of scores, then the
    first by content. `unit`: what a score of 1 is."""
    if len(part) == 1:
        return [part[0][:2]]
    columns = _by_content({edge[0] for edge in part}, generated)
    rows = _by_content({edge[1] for edge in part}, reference)
    column_of = {comment: number for number, comment in enumerate(columns)}
    of_row: dict[int, list[tuple[int, int]]] = {row: [] for row in rows}
    more = unit * (len(part) + 1)  # than all scores together: a further pair is worth more than any score
    for comment, row, score in part:
        of_row[row].append((column_of[comment], more + score))
    choices = [sorted(of_row[row]) for row in rows]
    known: dict[tuple[int, int], tuple[int, int]] = {}
    _best(choices, 0, 0, known)
    pairs, used = [], 0
    for number, row in enumerate(rows):
        column = known[number, used][1]
        if column >= 0:
            pairs.append((columns[column], row))
            used |= 1 << column
    return pairs


def _best(
    choices: Sequence[Sequence[tuple[int, int]]], row: int, used: int, known: dict[tuple[int, int], tuple[int, int]]
) -> int:
    """The most that the rows from this one on can be worth with columns that are not used; `known` then has the row's
    first column with which they are, or -1 where it is better left alone."""
    if row == len(choices):
        return 0
    if (row, used) in known:
        return known[row, used][0]
    most, first = -1, -1
    for column, worth in choices[row]:
        if not used >> column & 1:
            total = worth + _best(choices, row + 1, used | 1 << column, known)
            if total > most:
                most, first = total, column
    alone = _best(choices, row + 1, used, known)
    if alone > most:
        most, first = alone, -1
    known[row, used] = most, first
    return most


def _by_content(positions: set[int], comments: Sequence[Comment]) -> list[int]:
    """In order of content; equal comments in order of position."""
    if len(positions) == 1:
        return list(positions)
    return sorted(positions, key=lambda position: (comments[position].content_key, position))
