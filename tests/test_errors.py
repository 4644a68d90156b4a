from pathlib import Path

import pytest

from metareview.errors import GateFailed, InputError, MetareviewError, Undecided, UsageError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "broken. Mend it."),
        ({"file": "a.json"}, "a.json: broken. Mend it."),
        ({"file": Path("d/a.json"), "line": 3}, "d/a.json:3: broken. Mend it."),
    ],
)
def test_an_input_error_names_file_line_and_fix(arguments, message):
    assert str(InputError("broken", fix="Mend it.", **arguments)) == message


def test_exit_codes_are_the_published_ones():
    codes = {kind: kind.exit_code for kind in (UsageError, InputError, GateFailed, Undecided)}
    assert codes == {UsageError: 2, InputError: 2, GateFailed: 3, Undecided: 4}
    assert all(issubclass(kind, MetareviewError) for kind in codes)
