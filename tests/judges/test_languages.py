"""Notes in other languages and scripts: what the offline judge makes of them, and what a run says about it."""

import json
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metareview.judges.builtin.cascade import CascadeJudge
from metareview.judges.builtin.exact import ExactJudge
from metareview.judges.cascade_questions import ListRules
from metareview.judges.labelled import warnings_of
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.languages import not_in_english, notes_seen, remarks_on
from metareview.judges.offline.similarity import NoteSimilarity
from metareview.judges.offline.words import RUN, runs, split, stem
from metareview.judges.protocol import HasWarnings, Question

SHARED = Path(__file__).parents[3] / "shared" / "data"
ENGLISH = "The handle is never closed if reading fails."
OTHERS = {
    "Arabic": "لا يتم إغلاق الملف عند حدوث خطأ",
    "Chinese": "请在getUserById里检查userId是否为空",
    "Czech": "Soubor není uzavřen při chybě.",
    "Dutch": "Het bestand wordt niet gesloten als er een fout optreedt.",
    "French": "Le fichier n'est jamais fermé en cas d'erreur.",
    "German": "Die Datei wird nicht geschlossen.",
    "Greek": "Το αρχείο δεν κλείνει σε περίπτωση σφάλματος",
    "Hebrew": "הקובץ לא נסגר במקרה של שגיאה",
    "Hindi": "त्रुटि होने पर फ़ाइल बंद नहीं होती",
    "Indonesian": "File tidak ditutup ketika terjadi kesalahan, dan ini salah.",
    "Italian": "Il file non viene chiuso in caso di errore.",
    "Japanese": "`getUser`のnullチェックが必要です",
    "Korean": "getUserById 함수에서 null 체크가 필요합니다",
    "Polish": "Plik nie jest zamykany w przypadku błędu.",
    "Portuguese": "O arquivo não é fechado quando ocorre um erro.",
    "Russian": "Файл не закрывается при ошибке в readAll()",
    "Spanish": "El archivo no se cierra cuando ocurre un error.",
    "Swedish": "Filen stängs inte när ett fel uppstår.",
    "Thai": "ไฟล์ไม่ถูกปิดเมื่อเกิดข้อผิดพลาด",
    "Vietnamese": "Tệp không được đóng khi xảy ra lỗi.",
}


def every_pair(generated, reference):
    return Question(generated, reference, np.argwhere(np.ones((len(generated), len(reference)))))


def grid(generated, reference):
    [answer] = OfflineJudge().judge([every_pair(generated, reference)])
    return answer.score.reshape(len(generated), len(reference))


@pytest.mark.parametrize("language", OTHERS)
def test_a_note_in_another_language_is_known_for_one(language):
    assert not_in_english(OTHERS[language])
    assert not_in_english(normalize("NFD", OTHERS[language]))


@pytest.mark.parametrize(
    "note",
    [
        *("", "LGTM", "nil deref", "42", "👍", "!!!", "…", "Typo: café", "`файл`", "See ```\nфайл не закрыт\n``` here"),
        ENGLISH,
        "The façade's naïve résumé parser “leaks” → 10 µs",
        "The Simplified file has Traditional text '在您的手機上安裝以下應用程式之一：' instead of Simplified text",
        "Rename `el` and los to what they hold",
    ],
)
def test_a_note_in_english_or_in_nothing_is_not(note):
    assert not not_in_english(note)


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not here")
def test_none_of_two_thousand_published_notes_in_english_is_taken_for_another():
    published = [
        pull_request
        for name in ("positive_samples", "negative_samples")
        for pull_request in json.loads((SHARED / "aacr" / f"{name}.json").read_text("utf-8"))
    ]
    candidates = json.loads((SHARED / "martian" / "candidates.json").read_text("utf-8"))
    notes = {comment["note"] for pull_request in published for comment in pull_request["comments"]}
    notes |= {each["text"] for tools in candidates.values() for comments in tools.values() for each in comments}
    assert len(notes) > 2_500
    assert [note for note in notes if not_in_english(note)] == []


def test_the_remark_counts_each_note_that_is_in_a_pair_once():
    chinese, russian = OTHERS["Chinese"], OTHERS["Russian"]
    question = Question([chinese, ENGLISH, russian], [ENGLISH, chinese], np.array([(0, 0), (1, 0), (0, 1)]))
    assert remarks_on([notes_seen([question, question])]) == [
        "The offline judge was trained on English, and 1 of 2 notes is mostly in other languages:"
        " calibrate before you trust it"
    ]
    assert "2 of 3 notes are" in remarks_on([notes_seen([question, every_pair([russian], [ENGLISH])])])[0]
    assert remarks_on([notes_seen([every_pair([ENGLISH], [ENGLISH]), every_pair([], [chinese])])]) == []
    assert remarks_on([notes_seen([])]) == []


def test_the_cascade_says_what_its_judges_say():
    class Model(ExactJudge):
        usage = None

        def warning_data(self, questions, *, ask=True):
            return len(questions)

        def remarks_of(self, parts, *, ask=True):
            return [f"the model has {sum(parts)} ({ask})"]

    questions = [every_pair([OTHERS["Thai"]], [OTHERS["Thai"]])]
    judge = CascadeJudge(OfflineJudge(), Model(), ListRules())
    assert isinstance(judge, HasWarnings)
    [first, second] = warnings_of(judge, None, questions, ask=False)
    assert "1 of 1 note is mostly in other languages" in first
    assert second == "the model has 1 (False)"
    alone = CascadeJudge(ExactJudge(), Model(), ListRules())
    assert warnings_of(alone, None, questions) == ["the model has 1 (True)"]
    parts = [alone.warning_data(questions), alone.warning_data([*questions, *questions])]
    assert alone.remarks_of(parts) == ["the model has 3 (True)"]
    assert alone.remarks_of([]) == []


HOSTILE = st.one_of(
    st.text(st.characters(codec=None)),
    st.text("\u202e\u2066\u200f\u200d\u200c👍🏽\ufe0fé\u0301אש缓存 \x00\ud800\udfff\ue000กำ\u3000२²_$aB"),
    st.text(st.characters(codec=None), min_size=1, max_size=20).map(lambda text: (text * 20_000)[:20_000]),
)


@given(st.lists(HOSTILE, min_size=1, max_size=4))
@example(["\ud800", "\u0301", "\u200d", "e\u0301"])
@settings(max_examples=60, deadline=None)
def test_whatever_notes_are_written_in_they_have_a_probability_and_equal_themselves(notes):
    question = every_pair(notes, [normalize("NFD", note) for note in notes])
    [answer] = OfflineJudge().judge([question])
    scores = answer.score.reshape(len(notes), len(notes))
    assert ((scores >= 0) & (scores <= 1)).all()
    alone = NoteSimilarity([*notes, *question.reference]).of_pairs(*question.pairs.T + np.array([[0], [len(notes)]]))
    for at, note in enumerate(notes):
        assert scores[at, at] >= 0.999 or not note.strip()
        assert alone.reshape(scores.shape)[at, at] >= 0.999 or not note.strip()
    assert all(isinstance(reason, str) for reason in answer.reason)


@pytest.mark.parametrize(
    ("one", "again", "other"),
    [
        (
            "Файл не закрывается при ошибке чтения",
            "При ошибке чтения дескриптор файла остаётся открытым",
            "Счётчик попыток никогда не сбрасывается",
        ),
        (
            "مفتاح الذاكرة المؤقتة لا يحتوي على المستأجر",
            "المستأجر غير موجود في مفتاح الذاكرة المؤقتة",
            "عداد المحاولات لا يعاد ضبطه أبدا",
        ),
        ("캐시 키에 테넌트가 포함되지 않았습니다", "캐시 키에 테넌트가 없습니다", "재시도 횟수가 초기화되지 않습니다"),
        ("缓存的键没有包含租户", "缓存的键里缺少租户，会返回别人的数据", "循环多执行了一次"),
    ],
)
def test_notes_are_alike_by_words_and_not_by_the_letters_that_all_words_have(one, again, other):
    [[alike, different]] = grid([one], [again, other])
    assert alike > 0.1 > 0.05 > different
    assert grid([one], [other])[0, 0] < 0.1


def test_accents_make_no_difference():
    plain, accented = "The naive cafe parser leaks a handle", "The naïve café parser leaks a handle"
    assert grid([accented], ["A café's handle leaks"]) == grid([plain], ["A cafe's handle leaks"]) > 0.1


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("“getUserId” → $max_wait…", ["getUserId", "$max_wait"]),
        ("O(n²) naïveParse_2", ["O", "n", "²", "naiveParse_2"]),
        ("Straße in ＡＰＩ", ["Strasse", "in", "API"]),
        ("ключ_кэша缓存key", ["ключ_кэша", "缓", "存", "key"]),
        ("हिन्दी میخواهم", ["हिन्दी", "میخواهم"]),
        ("👍\u200d!", []),
    ],
)
def test_the_runs_of_a_note_beyond_ascii(note, expected):
    assert runs(note) == expected


@given(st.text(st.one_of(st.characters(max_codepoint=127), st.sampled_from("“”’—…→²½①👍│。"))))
def test_symbols_in_an_english_note_change_no_run(note):
    assert runs(note) == RUN.findall(note)


def test_words_of_other_alphabets_have_their_beginning_for_a_stem():
    assert split("ключ_Кэша2") == (("ключ", "кэша", "2"), "=ключкэша2")
    assert stem("ключе") == stem("ключ") == "ключ"
    assert stem("파일을") == stem("파일이") == "파일"
    assert stem("缓") == "缓"


def test_remarks_of_parts_are_those_of_the_whole():
    notes = ["Die Datei wird nicht geschlossen", "the file is never closed", "缓存的 key 没有包含", "a leak"]
    every_pair = np.array([(one, other) for one in range(4) for other in range(4)])
    whole = [Question(notes, notes[::-1], every_pair[: 4 * size]) for size in range(1, 5)]
    judge = OfflineJudge()
    parts = [judge.warning_data([question]) for question in whole]
    assert judge.remarks_of(parts) == warnings_of(judge, None, whole) != []
    assert "2 of 4 notes" in warnings_of(judge, None, whole)[0]
    assert judge.remarks_of([]) == []
