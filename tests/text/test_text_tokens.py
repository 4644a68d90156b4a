import subprocess
import sys
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

import metareview.text.tokens
from metareview.text.sentences import sentences
from metareview.text.tokens import tokens

ANY_TEXT = st.text(st.characters(codec=None))


ASCII_TEXT = st.text(st.characters(max_codepoint=127))
# No letters, digits or marks: what English notes have beyond ASCII.
ONLY_SEPARATES = "“”‘’«»—–…→≤≠✅⚠\ufe0f👍🏽\u00a0\u2028\u200b\u3000²½™°。！│─\u20e3\ufffd\ue000"
ENGLISH_WITH_SYMBOLS = st.text(st.one_of(st.characters(max_codepoint=127), st.sampled_from(ONLY_SEPARATES)))


@given(ASCII_TEXT)
@example("snake_case-42\x00tab\tline\x1fend")
def test_ascii_text_has_rouge_scores_tokens(text):
    assert tokens(text) == DefaultTokenizer().tokenize(text)


@given(ENGLISH_WITH_SYMBOLS)
@example("“Don’t” – use x² 1️⃣ ⚠️ 👩\u200d💻 foo™")
def test_symbols_in_an_english_text_only_separate(text):
    words = DefaultTokenizer().tokenize(text)
    characters = (
        [] if text.isascii() else [character for character in normalize("NFC", text) if not character.isspace()]
    )
    assert tokens(text) == (words or characters)


@given(ASCII_TEXT, st.sampled_from(["naïve", "файл", "缓存", "ไฟล์", "파일"]))
def test_a_word_beyond_ascii_leaves_the_words_around_it_alone(text, word):
    around = tokens(text)
    assert tokens(f"{text} {word} {text}") == around + tokens(word) + around


@given(ANY_TEXT)
def test_composed_and_decomposed_text_has_the_same_tokens(text):
    assert tokens(normalize("NFC", text)) == tokens(normalize("NFD", text)) == tokens(text)


@given(ANY_TEXT)
@example("\ud800")
@example("\u0301")
@example("\u200d")
@example("א\u05b0 \u202e\u2066 x")
def test_tokens_are_never_empty_and_a_text_beyond_ascii_has_some(text):
    found = tokens(text)
    assert all(found)
    assert not any(character.isspace() for token in found for character in token)
    assert found or text.isascii() or not text.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("...", []),
        ("!!!", []),
        ("Don't use naïve_parse(2)!", ["don", "t", "use", "naïve", "parse", "2"]),
        ("cafe\u0301 Ünï", ["café", "ünï"]),
        ("\u212a", ["k"]),
        ("x² 10µs 35ºC", ["x", "10μs", "35", "c"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Файл не закрыт.", ["файл", "не", "закрыт"]),
        ("п’ять пʼять п'ять", ["п", "ять"] * 3),
        ("ΛΟΓΟΣ λόγος", ["λογοσ", "λόγοσ"]),
        ("الملف لا يُغلق؟", ["الملف", "لا", "يُغلق"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("הקובץ לא נסגר", ["הקובץ", "לא", "נסגר"]),
        ("फ़ाइल बंद नहीं होती।", ["फ़ाइल", "बंद", "नहीं", "होती"]),
        ("파일을 닫으세요", ["파일을", "닫으세요"]),
        ("缓存key不对，ＡＰＩ v2。", ["缓", "存", "key", "不", "对", "api", "v2"]),
        ("ﾌｧｲﾙがﾊﾞグ々", ["フ", "ァ", "イ", "ル", "が", "バ", "グ", "々"]),
        ("ปิดไฟล์", ["ปิ", "ด", "ไ", "ฟ", "ล์"]),
        ("ខ្មែរ", ["ខ្", "មែ", "រ"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("𠀀字\ufe00", ["𠀀", "字"]),
        ("\u0301a ≠b =\u0338c", ["a", "b", "c"]),
        ("a\u200bb\u200dc", ["a", "b", "c"]),
        ("👍👍 ✅", ["👍", "👍", "✅"]),
        ("！？", ["！", "？"]),
    ],
)
def test_tokens_by_hand(text, expected):
    assert tokens(text) == [normalize("NFC", token) for token in expected]


def test_more_kinds_of_characters_than_are_remembered_change_nothing(monkeypatch):
    text = "".join(chr(number) for number in range(0xA0, 0x3000)) + " naïve 缓存"
    expected = tokens(text)
    monkeypatch.setattr(metareview.text.tokens, "REMEMBERED", 10)
    monkeypatch.setattr(metareview.text.tokens, "_SEPARATORS_AS_SPACES", metareview.text.tokens.WordCharacters())
    assert tokens(text) == expected
    assert len(metareview.text.tokens._SEPARATORS_AS_SPACES) == 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n \t", []),
        ("Mr. Smith asks why. Nobody knows!  \n\n  Does he?", ["Mr. Smith asks why.", "Nobody knows!", "Does he?"]),
        ("Bad \ud800 half. Next.", ["Bad \ufffd half.", "Next."]),
        ("第一句。第二句！第三句？", ["第一句。", "第二句！", "第三句？"]),
        ("先检查API。foo 会失败！1 次？！再试", ["先检查API。", "foo 会失败！", "1 次？！", "再试"]),
        ("见「第一。b」吧。好", ["见「第一。b」吧。", "好"]),
        ("（见文档。）foo", ["（见文档。）foo"]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("ប្រយោគ។ ពីរ។", ["ប្រយោគ។", "ពីរ។"]),
        ("Первое. Второе?", ["Первое.", "Второе?"]),
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
    [
        ("metareview.text.sentences", {"sentencex"}),
        ("metareview.text.matching", {"sentencex", "numpy", "rapidfuzz"}),
        ("metareview.text.rouge", {"sentencex"}),
    ],
)
def test_a_module_loads_only_what_it_needs(module, unwanted):
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert unwanted.isdisjoint(loaded)
