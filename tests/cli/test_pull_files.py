"""What a pull leaves beside its file, wherever it is killed, and what it never touches there."""

import json
import sys
from pathlib import Path

import pytest

from github_data import sample_server
from metareview.cli import main
from metareview.sources import journal

ASKED = ("acme/shop#31,32", "-o", "c.jsonl")


@pytest.fixture
def server(monkeypatch, tmp_path):
    with sample_server() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
        monkeypatch.chdir(tmp_path)
        yield running


@pytest.fixture
def pull(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["pull", *arguments])
        return end.value.code, *capsys.readouterr()

    return run


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put(folder, files):
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def moments(folder, pull, *arguments):
    """The folder at every line of the journal's code, as a kill there would leave it, and whether the result was shown
    by then; states that are alike once."""
    found = {}

    def look(frame, event, argument):
        if frame.f_code.co_filename != journal.__file__:
            return None
        now = state(folder)
        found.setdefault((tuple(sorted(now.items())), "acme/shop:" in sys.stdout.getvalue()), now)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        code, out, _ = pull(*arguments)
    finally:
        sys.settrace(before)
    assert code == 0
    return [(now, shown) for (_, shown), now in found.items()], out


@pytest.mark.parametrize("what", ["comments", "history"])
def test_killed_at_any_moment_the_same_command_goes_on_or_says_that_it_is_done(server, pull, tmp_path, what):
    kills, said = moments(tmp_path, pull, what, *ASKED)
    whole = (tmp_path / "c.jsonl").read_bytes()
    assert len(kills) > 6
    assert any(name.endswith(".new") for now, _ in kills for name in now)
    in_place = []
    for now, shown in kills:
        put(tmp_path, now)
        asked = len(server.log)
        code, out, err = pull(what, *ASKED)
        if list(now) == ["c.jsonl"]:  # nothing is left to do, and the user knows: as after a pull that ran through
            assert shown
            assert (code, "c.jsonl exists" in err) == (2, True)
        else:
            assert (code, out) == (0, said), now
        if now.get("c.jsonl") == whole:
            in_place.append(now)
            assert len(server.log) == asked
        assert state(tmp_path) == {"c.jsonl": whole}
    assert len(in_place) > 1


def interrupted_in_place(monkeypatch, pull, *arguments):
    """Ctrl-C when the file is just in place."""
    real = Path.replace

    def replace(self, target):
        real(self, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        code, out, err = pull(*arguments)
    assert (code, out) == (130, "")
    return err


def test_interrupted_when_its_file_is_in_place_the_same_command_says_that_it_is_done(
    server, pull, tmp_path, monkeypatch
):
    interrupted_in_place(monkeypatch, pull, "comments", *ASKED)
    kept = (tmp_path / "c.jsonl").read_bytes()
    asked = len(server.log)
    code, out, _ = pull("comments", *ASKED)
    assert (code, out) == (0, "acme/shop: 2 pull requests, 14 comments by 6 reviewers: c.jsonl\n")
    assert state(tmp_path) == {"c.jsonl": kept}
    assert len(server.log) == asked
    assert pull("comments", *ASKED)[0] == 2  # as always where a file is there


@pytest.mark.parametrize("then", ["moved", "overwritten", "of an older version"])
def test_a_finished_journal_never_writes_old_data(server, pull, tmp_path, monkeypatch, then):
    interrupted_in_place(monkeypatch, pull, "comments", *ASKED)
    partial = tmp_path / "c.jsonl.partial"
    assert b'"finished":true' in partial.read_bytes()
    partial.write_bytes(partial.read_bytes().replace(b'"note":"', b'"note":"Old: '))
    assert b"Old: " in partial.read_bytes()
    whole = (tmp_path / "c.jsonl").read_bytes()
    if then == "of an older version":
        lines = partial.read_bytes().splitlines(keepends=True)
        partial.write_bytes(b"".join(line for line in lines if b'"new":' not in line[:8]))
    if then == "overwritten":
        code, *_ = pull("comments", *ASKED, "--overwrite")
    else:
        (tmp_path / "c.jsonl").rename(tmp_path / "of-last-month.jsonl")
        code, *_ = pull("comments", *ASKED)
    assert code == 0
    asked = [each for each in server.log if each.path == "/graphql"]
    assert len(asked) >= 2  # the second pull asked too
    assert (tmp_path / "c.jsonl").read_bytes() == whole
    assert not partial.exists()


def test_a_file_that_was_changed_after_a_finished_pull_is_not_called_done(server, pull, tmp_path, monkeypatch):
    interrupted_in_place(monkeypatch, pull, "comments", *ASKED)
    (tmp_path / "c.jsonl").write_text("mine")
    code, _, err = pull("comments", *ASKED)
    assert (code, "c.jsonl exists" in err) == (2, True)
    assert state(tmp_path) == {"c.jsonl": b"mine"}


def test_a_file_named_new_is_not_lost(server, pull, tmp_path):
    (tmp_path / "c.jsonl.new").write_text("mine")
    assert pull("comments", *ASKED)[0] == 0
    assert (tmp_path / "c.jsonl.new").read_text() == "mine"
    (tmp_path / "c.jsonl.new").unlink()
    (tmp_path / "other").write_text("mine")
    (tmp_path / "c.jsonl.new").symlink_to("other")
    assert pull("comments", *ASKED, "--overwrite")[0] == 0
    assert (tmp_path / "other").read_text() == "mine"
    assert not (tmp_path / "c.jsonl").is_symlink()


def test_a_journal_names_no_other_file_for_removal(server, pull, tmp_path, monkeypatch):
    """What stands in a journal may be anybody's."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    interrupted_in_place(monkeypatch, pull, "comments", *ASKED)
    partial = folder / "c.jsonl.partial"
    lines = partial.read_bytes().splitlines(keepends=True)
    names = ["../mine", str(tmp_path / "mine"), "mine", 7, None, ["mine"], "c.jsonl.new", "c.jsonl"]
    partial.write_bytes(b"".join(lines) + b"".join(b"#" + json.dumps({"new": name}).encode() + b"\n" for name in names))
    mine = [tmp_path / "mine", folder / "mine", folder / "c.jsonl.new"]
    for path in mine:
        path.touch()
    (folder / "c.jsonl").unlink()
    assert pull("comments", *ASKED)[0] == 0
    assert all(path.exists() for path in mine)


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_journal_is_never_written_through_a_link(server, pull, tmp_path, overwrite, is_there):
    if is_there:
        (tmp_path / "other").write_text("mine")
    (tmp_path / "c.jsonl.partial").symlink_to("other")
    code, _, err = pull("comments", *ASKED, *overwrite)
    assert code == 2
    assert "c.jsonl.partial is a link" in err
    assert "Delete it" in err
    assert (tmp_path / "c.jsonl.partial").is_symlink()
    assert (tmp_path / "other").exists() == is_there
    assert not is_there or (tmp_path / "other").read_text() == "mine"
    assert server.log == []


@pytest.mark.parametrize("content", [b"mine", b"mine\n", b'{"at": 1}\n#{"done": 1}\n'])
def test_another_file_is_not_taken_for_a_journal_nor_lost_by_overwrite(server, pull, tmp_path, content):
    (tmp_path / "c.jsonl.partial").write_bytes(content)
    for overwrite in ((), ("--overwrite",)):
        code, _, err = pull("comments", *ASKED, *overwrite)
        assert (code, "c.jsonl.partial is not a pull's journal" in err) == (2, True)
        assert state(tmp_path) == {"c.jsonl.partial": content}


def test_a_link_in_the_place_of_the_file_is_replaced_only_when_asked(server, pull, tmp_path):
    (tmp_path / "c.jsonl").symlink_to("nowhere")
    code, _, err = pull("comments", *ASKED)
    assert (code, "c.jsonl exists" in err) == (2, True)
    assert pull("comments", *ASKED, "--overwrite")[0] == 0
    assert not (tmp_path / "c.jsonl").is_symlink()
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("what", ["comments", "history"])
def test_a_quiet_time_is_an_empty_file_and_no_mistake(server, pull, capsys, tmp_path, what):
    """Commands that measure still refuse one: it may as well be empty by mistake."""
    code, out, err = pull(what, "acme/shop", "--since", "2099-01-01", "-o", "c.jsonl", "--json")
    assert code == 0
    assert (json.loads(out)["prs"], json.loads(out)["lines"]) == (0, 0)
    assert "acme/shop has no pull request that was created in this time" in err
    assert state(tmp_path) == {"c.jsonl": b""}
    with pytest.raises(SystemExit) as end:
        main(["outcomes" if what == "comments" else "routing", "c.jsonl", "--out", "run"])
    assert end.value.code == 2
    assert "is empty" in capsys.readouterr().err
