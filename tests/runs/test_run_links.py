"""Links in the place of a run's folder or of its files: they are refused, and nothing is written through them."""

import json

import pytest

import metareview as mr
from metareview.cli import main
from metareview.errors import UsageError
from metareview.judges.builtin.exact import ExactJudge

SAID = [{"pr": "https://github.com/o/r/pull/1", "comments": [{"note": "leak", "path": "a.py", "from_line": 1}]}]


def evaluated(out, **options):
    mr.evaluate_comments(SAID, reference=SAID, judge="exact", force=True, out=out, **options)


@pytest.mark.parametrize(
    "name",
    ["results.jsonl", "pairs.jsonl", "manifest.json", "summary.json", "examples.jsonl", "labels.jsonl", "frame.json",
     "unlisted.json", "verdicts.sqlite", "parts", "results.parquet", "pairs.parquet"],
)  # fmt: skip
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_link_with_a_name_of_ours_is_not_followed(tmp_path, name, overwrite):
    out, victim = tmp_path / "run", tmp_path / "victim"
    out.mkdir()
    if name.endswith(("parquet", "parts")):
        victim.mkdir()
    else:
        victim.write_text("mine")
    (out / name).symlink_to(victim)
    with pytest.raises(UsageError, match=f"{name} is a link, and a run is never written through one"):
        evaluated(out, overwrite=overwrite)
    assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == "mine"


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_is_a_link_is_not_written_to(tmp_path, there):
    target = tmp_path / "target"
    if there:
        target.mkdir()
    (tmp_path / "run").symlink_to(target)
    with pytest.raises(UsageError, match="run is a link"):
        evaluated(tmp_path / "run")
    assert not there or list(target.iterdir()) == []
    if there:  # Folders above it may be links.
        evaluated(tmp_path / "run" / "inner")
        assert (target / "inner" / "results.jsonl").exists()


def test_a_link_that_is_put_there_later_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("mine")

    def planted(self, questions):
        (tmp_path / "run" / "results.jsonl").symlink_to(victim)
        return judge(self, questions)

    judge = ExactJudge.judge
    monkeypatch.setattr(ExactJudge, "judge", planted)
    with pytest.raises(UsageError, match=r"results\.jsonl is a link"):
        evaluated(tmp_path / "run")
    assert victim.read_text() == "mine"


def test_a_cache_of_the_run_is_not_written_through_a_link(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LLM_MODEL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "m")
    monkeypatch.setenv("LLM_API_KEY", "k")
    said = tmp_path / "said.jsonl"
    said.write_text(json.dumps(SAID[0]))
    (tmp_path / "victim").write_text("")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "verdicts.sqlite").symlink_to(tmp_path / "victim")
    command = ["comments", said, "--reference", said, "--judge", "llm", "--no-cache", "--out", tmp_path / "run"]
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in command])
    assert ended.value.code == 2
    assert "verdicts.sqlite is a link" in capsys.readouterr().err
    assert (tmp_path / "victim").read_text() == ""
