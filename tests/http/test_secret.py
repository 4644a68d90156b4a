"""In whatever form a server repeats a key: it is found, before the text is cut, and nothing of it is shown."""

import base64
import html
import json
from urllib.parse import quote

import pytest

from metareview.http.escapes import unescaped
from metareview.http.secret import Secret
from metareview.model.words import one_line

KEYS = {
    "usual": "sk-0123456789abcdefGHIJKLMNOPqrs",
    "of signs alone": "-_.~!*()-_.~!*()-_.~!*()-_.~!*()",
    "a token of GitHub": "ghp_test0123456789verysecretindeed",
    "base64 itself": "q83vEjRWeJA+/rzf8A==",
    "short": "hunt3r-2",
}
TOKENS = [
    "github_pat_11ABCDEFG0hTq8XyZ2mN4v_k3JdLw9RsPzQ7uYbVcEaWfGh",
    "sk-ant-api03-Zx81kQpW-0vTn5LrMyBc",
    "sk-svcacct-9fKq2LmZ7xTbWcRd",
    "glpat-x9-QmZ2kTbWcRd7LfYsN",
]


def coded(form):
    return lambda key: "".join(form.format(ord(c)) for c in key)


def base64_of(text):
    return base64.b64encode(text.encode()).decode()


FORMS = {
    "plain": str,
    "cut": lambda key: key[:12],
    "upper case": str.upper,
    "with spaces": " ".join,
    "URL": lambda key: quote(key, safe=""),
    "URL, every character": coded("%{:02X}"),
    "URL, twice": lambda key: quote(coded("%{:02x}")(key)),
    "base64": base64_of,
    "base64 of the header": lambda key: base64_of(f"Bearer {key}"),
    "base64 of a user and it": lambda key: base64_of(f"user:{key}"),
    "base64 of it as a user": lambda key: base64_of(f"{key}:"),
    "base64 of an empty user and it": lambda key: base64_of(f":{key}"),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(key.encode()).decode().rstrip("="),
    "base64 in a URL": lambda key: quote(base64_of(key), safe=""),
    "base64 on two lines": lambda key: base64_of(f"Bearer {key}")[:12] + "\r\n" + base64_of(f"Bearer {key}")[12:],
    "hexadecimal": lambda key: key.encode().hex(),
    "hexadecimal with colons": lambda key: key.encode().hex(":").upper(),
    "JSON": lambda key: json.dumps(json.dumps(key)).replace("/", "\\/"),
    "JSON, every character": coded("\\u{:04x}"),
    "JSON in JSON": lambda key: json.dumps(coded("\\u{:04x}")(key)),
    "Python": lambda key: repr(key.encode()),
    "Python, every character": coded("\\x{:02x}"),
    "octal": coded("\\{:03o}"),
    "HTML": html.escape,
    "HTML, every character": coded("&#x{:x};"),
    "HTML, with zeros": coded("&#{:020};"),
    "HTML of a URL": coded("&#37;{:02X}"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_is_found_in_every_form(key, form):
    told = form(key)
    assert Secret(key).is_in(f"invalid key {told}, try another")
    assert Secret(key).is_in(told)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_it_is_found_before_the_text_is_cut(key, form):
    """Wherever the cut would go through it."""
    secret, told = Secret(key), form(key)
    for length in (40, 200):
        for before in (1, 7, len(told) - 1):
            text = "x" * (length - before) + told + " and more" * length
            assert secret.line_of(text, length, instead="(left out)") == "(left out)"
    padded = " " * 157 + told  # of white space, one character is shown: the cut comes later
    assert secret.line_of(padded, 40) == ""


def test_other_texts_are_shown_as_ever():
    for text in ("There is no need.", "", "a  b\n", "x" * 5_000, "100% of %41 &amp; \\u0041 0x41"):
        for key in ("", "none", "x-y", *KEYS.values()):
            assert Secret(key).line_of(text, 100, instead="(left out)") == one_line(text, 100)


@pytest.mark.parametrize("token", TOKENS)
def test_what_all_tokens_begin_with_does_not_hide_a_sentence(token):
    """The letters of `GitHub password` hold the first eight of `github_pat_…`."""
    for text in ("Your GitHub password is not accepted", "No GitHub patch", "SK-ANT-API03 keys have expired",
                 "sk-svcacct-… may not", "Give a glpat-… of this host"):  # fmt: skip
        assert Secret(token).line_of(text, 100, instead="(left out)") == text
    assert Secret(token).is_in(f"no {token[:14]}…")


@pytest.mark.parametrize(("token", "public"), [*zip(TOKENS, (11, 13, 11, 6), strict=True)])
def test_what_follows_the_public_beginning_gives_a_token_away(token, public):
    for form in (str, base64_of, str.upper, lambda part: part.encode().hex()):
        assert Secret(token).is_in(f"it ends in {form(token[public:])}")


@pytest.mark.parametrize("key", ["none", "ollama", "password", "x", "k-1"])
def test_a_key_that_may_be_any_word_hides_no_sentence(key):
    for text in (
        "Your GitHub password is not accepted",
        "none of the examples of ollama",
        "x is k-1",
        f"pre{key}, {key}!",
    ):
        assert Secret(key).line_of(text, 100, instead="(left out)") == text
    for text in (
        f"invalid API key {key}",
        f"Bearer {key}",
        f'{{"key": "{key}"}}',
        f"api_key={quote(key)}&b",
        f"token: '{key}'",
    ):
        assert Secret(key).line_of(text, 100, instead="(left out)") == "(left out)"


def test_escapes_are_resolved_a_few_times_and_not_for_ever():
    assert list(unescaped("plain")) == ["plain"]
    assert list(unescaped("%2541"))[-1] == "A"
    assert len(list(unescaped("%" + "25" * 1_000 + "41"))) == 4


def test_hostile_texts_are_searched_in_time_and_without_a_defect():
    # A pattern that starts anew at every backslash would go over these once for each.
    for text in ("\\" * 400_000, "\\u" * 100_000, "&#" + "1" * 100_000, "&#x" + "f" * 100_000 + ";", "%" * 400_000):
        assert not Secret(KEYS["usual"]).is_in(text)
        assert Secret(KEYS["usual"]).is_in(text + " " + KEYS["usual"])
    assert list(unescaped("&#128640;"))[-1] == list(unescaped("&#x01F680;"))[-1] == "\N{ROCKET}"
