import json

from hypothesis import given
from hypothesis import strategies as st

from metareview.formats.input_file import InputFile
from metareview.formats.record import Record

VALUES = st.recursive(
    st.none() | st.integers(0, 9) | st.text('a"\\{[', max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab}", max_size=2), inner, max_size=4),
    max_leaves=20,
)


def paths(value, path=()):
    """Every value's path, in the order in which they are written."""
    yield path
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths(inner, (*path, step))


def lines(value):
    """The line of each value where each begins on a line of its own."""
    text, found = [], []

    def write(value, before):
        found.append(len(text) + 1)
        if isinstance(value, dict | list) and value:
            text.append(before + "[{"[isinstance(value, dict)])
            items = value.items() if isinstance(value, dict) else ((None, inner) for inner in value)
            for number, (key, inner) in enumerate(items):
                write(inner, ("," if number else "") + ("" if key is None else f"{json.dumps(key)}: "))
            text.append("]}"[isinstance(value, dict)])
        else:
            text.append(before + json.dumps(value))

    write(value, "")
    return "\n".join(text), found


@given(st.lists(VALUES, min_size=1, max_size=3), st.randoms())
def test_every_value_knows_its_line_in_whatever_order_one_asks(values, random):
    written = [lines(value) for value in values]
    source = InputFile.of_text("\n".join(text for text, _ in written), "a.json")
    start, first, expected = 0, 0, []
    for value, (text, found) in zip(values, written, strict=True):
        expected += [(start, path, first + line) for path, line in zip(paths(value), found, strict=True)]
        start, first = start + len(text) + 1, first + text.count("\n") + 1
    random.shuffle(expected)
    text = source.json._text
    for start, path, line in expected:
        assert Record(source, None, text.place(start), path).line_of(None) == line


def test_the_last_of_equal_keys_counts_and_what_is_absent_is_at_its_parent():
    source = InputFile.of_text('[\n{"a": 1,\n"a":\n{"b": 2}}]', "a.json")
    record = Record(source, None, source.json._text.place(0), (0,))
    assert [record.line_of(key) for key in ("a", "z", "a")] == [4, 2, 4]
    assert Record(source, None, source.json._text.place(0), (0, "a")).line_of("b") == 4
