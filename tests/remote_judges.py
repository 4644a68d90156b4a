"""Helpers of the tests of judges that ask a model."""

from metareview.judges.remote.llm import PairPrompt


def read_pair_answer(text, notes=("", "")):
    """The verdict on a pair of notes in what a model wrote."""
    return PairPrompt().parse(text, tuple(notes))
