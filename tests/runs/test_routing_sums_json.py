"""Sums as cells: what was not written is refused, whatever it is."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.routing.list_measures import Places
from metareview.routing.multiset import multiset
from metareview.routing.queue import Waits
from metareview.routing.sums import Outcomes, Pull, Ranked, RouterSums, RoutingSums
from metareview.routing.turnover import FilesAtRisk, RecommendedRisk
from metareview.runs.routing_sums_json import cells, from_cells

SUMS = RoutingSums(
    pulls=Counter({Pull(7, "", "observed", True, None): 2}),
    waits={
        ("low",): Waits(
            multiset([0.1, 0.1], np.float64), multiset([2**53 + 1], np.int64), multiset([1e-9, 1 / 3], np.float64)
        )
    },
    routers={"r": RouterSums(0, Counter({Ranked(7, "", True, Places((2, 5), 3)): 2}))},
    outcomes=Outcomes(FilesAtRisk(4, 3, 0), {"r": RecommendedRisk(4, 0, 1)}, late=1),
)


def test_cells_by_hand():
    assert sorted(cells(SUMS)) == [
        ('["answered","r"]', 0),
        ('["commented",["low"],0.3333333333333333]', 1),
        ('["commented",["low"],1e-09]', 1),
        ('["files",0]', 4),
        ('["files",1]', 3),
        ('["files",2]', 0),
        ('["late"]', 1),
        ('["pull",7,"","observed",true,null]', 2),
        ('["ranked","r",7,"",true,3,[2,5]]', 2),
        ('["recommended","r",0]', 4),
        ('["recommended","r",1]', 0),
        ('["recommended","r",2]', 1),
        ('["reviewed",["low"],0.1]', 2),
        ('["unreviewed",["low"],9007199254740993]', 1),
    ]


def test_what_was_written_is_read_back_to_the_last_digit():
    back = from_cells(cells(SUMS))
    assert back == SUMS
    assert back.outcomes.recommended == {"r": RecommendedRisk(4, 0, 1)}
    assert back.waits["low",].unreviewed.values.tolist() == [2**53 + 1]
    assert back != SUMS + SUMS == from_cells([*cells(SUMS), *cells(SUMS)])


@pytest.mark.parametrize(
    ("text", "number", "why"),
    [
        ('["answered","r"]', -1, "not a count: '-1'"),
        ('["answered","r"]', 1.0, "not a count"),
        ('["answered","r"]', True, "not a count"),
        ('["answered","r"]', 10**13, "not a count"),
        ('["answered"]', 1, "not a cell"),
        ('["elsewhere","r"]', 1, "not a cell"),
        ('[["answered"],"r"]', 1, "not a cell"),
        ("[]", 1, "not a cell"),
        ("{}", 1, "not a cell"),
        ("nonsense", 1, "Expecting value"),
        ("[" * 100_000, 1, "nested too deeply"),
        ('["pull",7,"","observed",1,null]', 1, "not a cell"),
        ('["pull",7.5,"","observed",true,null]', 1, "not a cell"),
        ('["first","nobody","ann"]', 1, "lack a cell: 'nobody'"),
        ('["ranked","r",7,"",true,3,[2,-5]]', 1, "not ranks"),
        ('["ranked","r",7,"",true,3,[[2]]]', 1, "not a cell"),
        ('["reviewed",["low"],-1.0]', 1, "neither 0 nor more"),
        ('["reviewed",["low"],NaN]', 1, "neither 0 nor more"),
        ('["reviewed",["low"],1e999]', 1, "neither 0 nor more"),
        ('["reviewed",["low","low"],1.0]', 1, "not the risks of 1 routers"),
        ('["reviewed",["odd"],1.0]', 1, "not the risks"),
        ('["unreviewed",["low"],99999999999999999999]', 1, "not a cell|no instant"),
        ('["files",3]', 1, "lack a cell"),
        ('["recommended","s",0]', 1, "lack a cell"),
    ],
)
def test_cells_that_nobody_wrote_are_refused(text, number, why):
    with pytest.raises(ValueError, match=why):
        from_cells([*cells(SUMS), (text, number)])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["pull", "ranked", "reviewed", "low"]),
    lambda inner: st.lists(inner, max_size=6),
    max_leaves=8,
)


@given(st.lists(st.tuples(json_values, st.integers(-1, 5) | st.floats()), max_size=3))
def test_whatever_is_there_is_refused_or_read(held):
    """Never anything but a ValueError."""
    try:
        sums = from_cells((json.dumps(key), number) for key, number in held)
    except ValueError:
        return
    assert from_cells(cells(sums)) == sums
