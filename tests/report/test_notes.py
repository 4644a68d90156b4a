"""Notes as Markdown: what a writer meant is shown, and nothing in a note can act."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.report.names import clean, printable
from metareview.report.page.markup import link
from metareview.report.page.notes import FOLD_BELOW, LONGEST, note, rendered

OURS = {"p", "strong", "em", "code", "pre", "ul", "ol", "li", "blockquote", "figure", "figcaption", "a"}


class Tags(HTMLParser):
    """Which elements and attributes there are, and the text without them."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(str(markup))
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("two\nlines\n\nnext", "<p>two\nlines</p><p>next</p>"),
        ("**bold** and *it*", "<p><strong>bold</strong> and <em>it</em></p>"),
        ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
        ("***both***", "<p><strong><em>both</em></strong></p>"),
        ("_in other words_", "<p><em>in other words</em></p>"),
        ("__init__ _name_ a_b_c 2*3*4 a * b * c", "<p>__init__ _name_ a_b_c 2*3*4 a * b * c</p>"),
        ("\\*not\\* **open", "<p>*not* **open</p>"),
        ("use `a < b` or ``x ` y``", "<p>use <code>a &lt; b</code> or <code>x ` y</code></p>"),
        ("`**no**`", "<p><code>**no**</code></p>"),
        ("# Title\nbody", "<p><strong>Title</strong></p><p>body</p>"),
        ("> said\n> so", "<blockquote><p>said\nso</p></blockquote>"),
        ("- a\n- b\n  more\n\nend", "<ul><li><p>a</p></li><li><p>b\nmore</p></li></ul><p>end</p>"),
        ("- a\n  - b\n- c", "<ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p></li></ul>"),
        ("3. c\n4. d", '<ol start="3"><li><p>c</p></li><li><p>d</p></li></ol>'),
        ("```py\na\n  b\n```\nx", '<figure class="code"><pre><code>a\n  b</code></pre></figure><p>x</p>'),
        ("```\nopen <b>", '<figure class="code"><pre><code>open &lt;b&gt;</code></pre></figure>'),
        (
            "```suggestion\nx = 1\n```",
            '<figure class="code"><figcaption>Suggested change</figcaption><pre><code>x = 1</code></pre></figure>',
        ),
    ],
)
def test_markdown_of_reviews_is_rendered(text, markup):
    assert rendered(text) == markup


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        (
            "[docs](https://evil.example/github.com)",
            '<a href="https://evil.example/github.com" rel="noreferrer">docs</a> (evil.example)',
        ),
        ("[#5](https://github.com/o/r/pull/5)", '<a href="https://github.com/o/r/pull/5" rel="noreferrer">#5</a>'),
        ("see https://x.org/a_b.", 'see <a href="https://x.org/a_b" rel="noreferrer">https://x.org/a_b</a>.'),
        ("(https://x.org/a)", '(<a href="https://x.org/a" rel="noreferrer">https://x.org/a</a>)'),
        ("<https://x.org>", '<a href="https://x.org" rel="noreferrer">https://x.org</a>'),
    ],
)
def test_a_link_lives_and_says_where_it_leads(text, markup):
    assert rendered(text) == f"<p>{markup}</p>"


ATTACKS = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](//evil.example)",
    "https://evil.example\\@github.com/o/r/pull/1",
    "[github.com](https://evil.example\\@github.com/o/r)",
    "https://github.com@evil.example/",
    "https://user:secret@evil.example/",
    "[x](https://github.com\u202e/moc.live)",
    "https://[::1]/",
    "https://exam\u200dple.org/",
    "<img src=x onerror=alert(1)>",
    "<a href='https://evil.example'>x</a>",
    "![x](javascript:alert(1))",
    '```suggestion" onload="alert(1)\n</code></pre><script>alert(1)</script>\n```',
    "`</code><script>alert(1)</script>`",
    "- <script>alert(1)</script>\n  > </blockquote><style>*{display:none}</style>",
    '[<script>alert(1)</script>](javascript:x" onclick="alert(1))',
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_text(attack):
    found = Tags(rendered(attack))
    assert set(found.tags) <= OURS - {"a"}
    assert {key for key, _ in found.attributes} <= {"class"}


@given(st.text(alphabet=st.sampled_from("ab <>\"'&\\`*_[]()!#-+>1.\n\t~:/@https\u202e\x00"), max_size=120))
def test_no_text_makes_markup_of_its_own(text):
    found = Tags(note(text))
    assert set(found.tags) <= OURS | {"div"}
    assert all(value.startswith("http") for key, value in found.attributes if key == "href")


@given(st.lists(st.sampled_from(["- ", "> ", "1. ", "**", "*", "`", "[", "](", "x", " ", "\n"]), max_size=200))
def test_nothing_that_was_written_is_lost(parts):
    text = "".join(parts)
    text = re.sub("`{3,}", "``", text)  # what stands beside a fence names a language, and is not shown
    assert Tags(rendered(text)).text.count("x") == text.count("x")


def test_a_long_note_folds_between_paragraphs_and_code_goes_on_behind_the_fold():
    prose = "word " * 80
    shown = str(note(f"{prose}\n\n{prose}"))
    first, rest = shown.split("<details>")
    assert first.count("word") == rest.count("word") == 80
    code = "x = 1\n" * 200
    first, rest = str(note(f"```py\n{code}```")).split("<details>")
    assert first.count("<pre>") == rest.count("<pre>") == 1
    assert first.count("x = 1") + rest.count("x = 1") == 200


@pytest.mark.parametrize(
    ("length", "folded", "cut"), [(0, False, 0), (1, True, 0), (LONGEST - FOLD_BELOW + 1, True, 1)]
)
def test_long_notes_are_folded_and_huge_ones_cut(length, folded, cut):
    text = "y" * (FOLD_BELOW + length)
    shown = Tags(note(text)).text
    assert ("The rest of this note" in shown, f"Shortened: {cut} more" in shown) == (folded, cut > 0)
    assert str(note(text)).count("y") - str(note(text)).count("summary") == len(text) - cut


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ab\u202ecd\u202c", "ab[U+202E]cd[U+202C]"),
        ("\u2066x\u2069", "[U+2066]x[U+2069]"),
        ("a\u200fb\u200e\u061c\ufeff\U000e0041c", "a[U+200F]b[U+200E][U+061C]c"),
        ("a\u2028b\u2029c", "a[U+2028]b[U+2029]c"),
        ("a\r\nb\rc\x07\ud800", "a\nb\nc\ufffd\ufffd"),
        ("👩\u200d👧 שלום", "👩\u200d👧 שלום"),
    ],
)
def test_text_that_turns_around_is_written_out_and_what_nobody_sees_is_gone(text, shown):
    assert clean(text) == shown
    assert printable(text) == shown.replace("\n", "\ufffd")


@pytest.mark.parametrize("url", ["https://evil.example\\@github.com/o/r/pull/1", "https://github.com@evil.example/o/r"])
def test_a_pull_request_s_address_that_hides_its_host_is_no_link(url):
    assert "<a" not in link(url, "o/r#1")
