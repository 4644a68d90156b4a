"""Commands on notes and texts that are not in Latin letters."""

import json

import pytest

PR = "https://github.com/acme/shop/pull/7"
TOLD = "The offline judge was trained on English, and 4 of 5 notes are mostly in other languages"


def note(line, text):
    return {"path": "a.py", "from_line": line, "to_line": line, "note": text}


@pytest.fixture
def reviews(here):
    references = [note(3, "缓存的键没有包含租户，会读到别人的数据"), note(9, "Файл не закрывается при ошибке")]
    comments = [
        *(note(3, "缓存的键里没有包含租户，因此会读到别人的数据。"), note(9, "Файл, увы, не закрывается при ошибке!")),
        *(note(9, "The file stays open if reading it fails"), note(50, "这条评论没有对应的参考")),
    ]
    for name, reviewer, said in (("ref", "people", references), ("bot", "机器人", comments)):
        (here / f"{name}.jsonl").write_text(json.dumps({"pr": PR, "reviewer": reviewer, "comments": said}), "utf-8")
    return "comments", "bot.jsonl", "--reference", "ref.jsonl"


@pytest.mark.parametrize("judge", ["rouge", "offline"])
def test_notes_in_other_scripts_are_matched(run, reviews, judge):
    code, out, _ = run(*reviews, "--judge", judge, "--out", "r", "--json")
    assert code == 0
    counts = json.loads(out)["reviewers"]["机器人"]
    assert (counts["positive_match_nums"], counts["positive_expected_nums"], counts["total_generated_nums"]) == (
        2,
        2,
        4,
    )


def test_a_run_says_that_offline_was_trained_on_english(run, reviews):
    # The note on line 50 is in no pair.
    _, out, err = run(*reviews, "--out", "r", "--json")
    assert [warning for warning in json.loads(out)["warnings"] if warning.startswith(TOLD)]
    assert TOLD in " ".join(err.split())
    _, _, planned = run(*reviews, "--dry-run")
    assert TOLD in " ".join(planned.split())
    _, out, err = run(*reviews, "--judge", "rouge", "--out", "r2", "--json")
    assert "English" not in out + err


def test_text_in_chinese_is_scored_by_sentence(run, here):
    item = {"retrieved_context": ["先关闭文件。foo 没有用！"], "ground_truth_context": ["先关闭文件。", "锁没有释放。"]}
    (here / "items.jsonl").write_text(json.dumps(item), "utf-8")
    for strategy in ("exact-sentence", "rouge-sentence"):
        _, out, _ = run("text", "items.jsonl", "--strategy", strategy, "--json")
        found = json.loads(out)
        assert (found["precision"], found["recall"], found["f1"]) == (0.5, 0.5, 0.5)
