import pytest
from review_sample import APP1_TEXT, APP2_TEXT, NEGATIVES, REFERENCES, lines

from metareview.cli import _run


@pytest.fixture
def run(capsys):
    """Runs a command in this process: its exit code, standard output and standard error."""

    def command(*arguments):
        code = _run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sample(here):
    """The folder with the sample benchmark and its reviewer in it."""
    (here / "reviews").mkdir()
    (here / "reviews/comments_app_1.txt").write_text(APP1_TEXT)
    (here / "reviews/comments_app_2.txt").write_text(APP2_TEXT)
    (here / "ref.jsonl").write_text(lines(*REFERENCES))
    (here / "neg.jsonl").write_text(lines(*NEGATIVES))
    return here
