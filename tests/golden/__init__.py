"""Golden outputs: the figures of many command lines, kept as hashes and counts.

A change that promises not to move a figure is held to that promise by `tests/test_golden.py`. Every command of
`commands.py` runs in a working folder of its own; what it prints with `--json` and what its run's folder holds is
normalised (prose, paths and addresses are blanked; keys, their order and all numbers stay) and hashed. `expected.json`
has the hashes, the numbers of records and a few counts for orientation, never anybody's notes.

    PYTHONPATH=tests python -m golden                 compare this checkout with expected.json, to the last digit
    PYTHONPATH=tests python -m golden --write         write expected.json from this checkout
    PYTHONPATH=tests python -m golden --dump FOLDER   the normalised files too, to diff two checkouts: diff -r A B

The test lets numbers differ after their twelfth digit, because processors add in different orders.

The normalised files hold published data: FOLDER must be outside the repository. To drive the package of another
checkout, put its `src` and its `tests` (for its `model_server`) in front of this `tests` in PYTHONPATH.
"""
