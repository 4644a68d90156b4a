import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from metareview.text.matching import sentences
from metareview.text.rouge import tokens

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
@example("İstanbul ΑΣ ß ﬁ naïve ² ٣")
@example("\u212aelvin and \u212bngström")
@example("snake_case-42\x00tab\tline\u2028end")
@example("lone \ud800 surrogate")
def test_tokens_are_rouge_scores(text):
    assert tokens(text) == DefaultTokenizer().tokenize(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("...", []),
        ("Don't use naïve_parse(2)!", ["don", "t", "use", "na", "ve", "parse", "2"]),
        ("\u212a", ["k"]),
        ("İ", ["i"]),
        ("x²", ["x"]),
    ],
)
def test_only_what_lower_case_makes_ascii_is_a_token(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n \t", []),
        ("Mr. Smith asks why. Nobody knows!  \n\n  Does he?", ["Mr. Smith asks why.", "Nobody knows!", "Does he?"]),
        ("Bad \ud800 half. Next.", ["Bad \ufffd half.", "Next."]),
    ],
)
def test_sentences_are_trimmed_and_never_empty(text, expected):
    assert sentences(text) == expected


@given(ANY_TEXT)
def test_sentences_lose_nothing_but_white_space(text):
    def solid(value):
        return "".join(("\ufffd" if "\ud800" <= c <= "\udfff" else c) for c in value if not c.isspace())

    found = sentences(text)
    assert solid("".join(found)) == solid(text)
    assert all(sentence and sentence == sentence.strip() for sentence in found)


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [("metareview.text.matching", {"sentencex", "numpy", "rapidfuzz"}), ("metareview.text.rouge", {"sentencex"})],
)
def test_a_module_loads_only_what_it_needs(module, unwanted):
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert unwanted.isdisjoint(loaded)
