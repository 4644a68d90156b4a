import copy
import dataclasses
import json
import logging
import os
import pickle
import traceback

import pytest

from metareview.errors import InputError, UsageError
from metareview.http.secret import Secret
from metareview.judges.remote.settings import ModelSettings, nearest_env_file, read_env_file

KEY = "sk-0123456789abcdef"
FULL = {"LLM_MODEL_URL": "https://h.example/v1", "LLM_MODEL": "m", "LLM_API_KEY": KEY}


@pytest.fixture
def env(tmp_path):
    """Writes a .env two folders above where the search starts."""
    start = tmp_path / "a" / "b"
    start.mkdir(parents=True)

    def write(text, folder=tmp_path):
        (folder / ".env").write_text(text, encoding="utf-8")
        (folder / ".env").chmod(0o600)  # whatever the umask: one that others may write is refused
        return start

    return write


def test_the_environment_alone_is_enough(tmp_path):
    settings = ModelSettings.load("LLM", FULL, tmp_path)
    assert (settings.url, settings.model, settings.api_key.reveal()) == ("https://h.example/v1", "m", KEY)


def test_the_nearest_env_file_fills_in_and_the_environment_wins(env, tmp_path):
    env("LLM_MODEL=far\nLLM_MODEL_URL=http://far/v1\n")
    start = env("LLM_MODEL=near\nLLM_MODEL_URL=http://near/v1\nLLM_API_KEY=file\n", tmp_path / "a")
    settings = ModelSettings.load("LLM", {"LLM_MODEL": "set"}, start)
    assert (settings.url, settings.model, settings.api_key.reveal()) == ("http://near/v1", "set", "file")
    assert nearest_env_file(start) == tmp_path / "a" / ".env"


@pytest.mark.parametrize("kind", ["LLM", "EMBEDDING"])
@pytest.mark.parametrize("own_key", ["", "LLM_API_KEY=file\nEMBEDDING_API_KEY=file\n"])
def test_a_key_of_the_environment_goes_to_no_address_of_a_file(env, kind, own_key):
    start = env(f"{kind}_MODEL_URL=http://elsewhere/v1\n{kind}_MODEL=m\n{own_key}")
    with pytest.raises(
        UsageError, match=rf"^{kind}_MODEL_URL is that of .*\.env, and {kind}_API_KEY that of"
    ) as caught:
        ModelSettings.load(kind, {f"{kind}_API_KEY": KEY, f"{kind}_MODEL": "set"}, start)
    assert f"Set {kind}_MODEL_URL in the environment too, or unset {kind}_API_KEY there" in str(caught.value)
    assert KEY not in str(caught.value)
    mine = {f"{kind}_API_KEY": KEY, f"{kind}_MODEL_URL": "https://mine/v1"}
    assert ModelSettings.load(kind, mine, start).url == "https://mine/v1"
    assert ModelSettings.load(kind, {f"{kind}_API_KEY": " "}, start).url == "http://elsewhere/v1"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system knows no such owners")
@pytest.mark.parametrize("mode", [0o666, 0o664, 0o620, 0o602, 0o777])
def test_a_file_that_others_may_write_is_refused_with_the_command_that_mends_it(env, tmp_path, mode):
    start = env("LLM_MODEL_URL=http://elsewhere/v1\nLLM_MODEL=m\n")
    (tmp_path / ".env").chmod(mode)
    with pytest.raises(InputError, match=r"\.env: other users may write it.* chmod go-w /.*\.env$"):
        ModelSettings.load("LLM", {}, start)
    assert ModelSettings.load("LLM", FULL, start).url == FULL["LLM_MODEL_URL"]  # nothing of it is wanted
    (tmp_path / ".env").chmod(0o644)
    assert ModelSettings.load("LLM", {}, start).url == "http://elsewhere/v1"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system knows no such owners")
def test_a_file_of_another_user_is_refused(env, tmp_path, monkeypatch):
    start = env("LLM_MODEL_URL=http://elsewhere/v1\nLLM_MODEL=m\nLLM_API_KEY=k\n")
    owner = (tmp_path / ".env").stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    if owner == 0:  # whom everybody trusts, as it is
        assert ModelSettings.load("LLM", {}, start).model == "m"
        os.chown(tmp_path / ".env", 4_321, -1)
    with pytest.raises(InputError, match=r"\.env: belongs to another user.* put a \.env of your own"):
        ModelSettings.load("LLM", {"LLM_API_KEY": KEY}, start)
    assert ModelSettings.load("LLM", FULL, start).url == FULL["LLM_MODEL_URL"]
    if owner == 0:
        (start / ".env").write_text("")
        with pytest.raises(UsageError, match="not set"):  # the nearest is one's own, and empty
            ModelSettings.load("LLM", {}, start)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a link away")
def test_a_link_of_another_user_is_refused(env, tmp_path):
    start = env("")
    (tmp_path / ".env").rename(tmp_path / "mine")
    (tmp_path / ".env").symlink_to(tmp_path / "mine")
    os.chown(tmp_path / ".env", 4_321, -1, follow_symlinks=False)
    with pytest.raises(InputError, match="belongs to another user"):
        ModelSettings.load("LLM", {}, start)


def test_an_empty_variable_of_the_environment_wins_too(env):
    start = env("LLM_MODEL=m\nLLM_MODEL_URL=http://h\nLLM_API_KEY=file\n")
    assert not ModelSettings.load("LLM", {"LLM_API_KEY": ""}, start).api_key


def test_a_folder_called_env_is_passed_over(tmp_path):
    (tmp_path / "a" / ".env").mkdir(parents=True)
    (tmp_path / ".env").write_text("")
    assert nearest_env_file(tmp_path / "a") == tmp_path / ".env"


def test_the_working_folder_and_the_process_environment_are_the_defaults(env, monkeypatch):
    monkeypatch.chdir(env("EMBEDDING_MODEL_URL=http://h/v1\n"))
    monkeypatch.setenv("EMBEDDING_MODEL", "e")
    monkeypatch.delenv("EMBEDDING_MODEL_URL", raising=False)
    settings = ModelSettings.load("EMBEDDING")
    assert (settings.url, settings.model, settings.kind) == ("http://h/v1", "e", "EMBEDDING")


def test_every_form_of_a_line(tmp_path):
    file = tmp_path / ".env"
    file.write_bytes(
        b"\xef\xbb\xbf# comment\r\n"
        b"A=plain\r\n"
        b"  export B = spaced out   # a comment\n"
        b"C='single # $x \\n'  # c\n"
        b'D="double \\"q\\" \\\\ \\n #"\n'
        b"E=a#b\n"
        b"F=\n"
        b"G=# nothing\n"
        b"I=x=y\n"
        b"J='two\nlines, it\\'s'\n"
        b"H='open\n"
        b"not an assignment\n"
        b"${A}=${A}\n"
        b"L=${A}\n"
        b"A=last\n"
        b"export\tK=tab\n"
    )
    assert read_env_file(file) == {
        "A": "last",
        "B": "spaced out",
        "C": "single # $x \\n",
        "D": 'double "q" \\ \n #',
        "E": "a#b",
        "F": "",
        "G": "",
        "I": "x=y",
        "J": "two\nlines, it's",
        "${A}": "${A}",
        "K": "tab",
        "L": "${A}",
    }


@pytest.mark.parametrize("line", ["LLM_MODEL='open", 'EMBEDDING_API_KEY="sk-0" 1', "export LLM_MODEL_URL: http://h"])
def test_a_setting_that_cannot_be_parsed_is_named_by_its_line(tmp_path, caplog, line):
    (tmp_path / ".env").write_text(f"A=1\nOTHER='open\n\n{line}\n", encoding="utf-8")
    (tmp_path / ".env").chmod(0o600)
    message = r"\.env:4: (\w+) cannot be parsed\. Write \1=value on one line, and close all quotes above\."
    with pytest.raises(InputError, match=message) as caught:
        read_env_file(tmp_path / ".env")
    assert "sk-0" not in str(caught.value)
    assert not caplog.records


def test_an_env_file_that_is_no_text_is_an_input_error(tmp_path):
    (tmp_path / ".env").write_bytes(b"LLM_MODEL=\xff\xfe")
    with pytest.raises(InputError, match=r"\.env: not UTF-8 text\. Save it as UTF-8\."):
        ModelSettings.load("LLM", {}, tmp_path)


@pytest.mark.parametrize(
    ("kind", "given", "missing", "present"),
    [
        ("LLM", {}, ["LLM_MODEL_URL=https://", "LLM_MODEL=", "LLM_API_KEY"], []),
        ("LLM", {"LLM_MODEL_URL": "http://h"}, ["LLM_MODEL="], ["LLM_MODEL_URL="]),
        ("LLM", {"LLM_MODEL": " ", "LLM_MODEL_URL": "http://h"}, ["LLM_MODEL="], ["LLM_MODEL_URL="]),
        ("EMBEDDING", FULL, ["EMBEDDING_MODEL_URL=https://", "EMBEDDING_MODEL="], ["LLM_"]),
    ],
)
def test_what_is_missing_is_named_with_an_example(tmp_path, kind, given, missing, present):
    with pytest.raises(UsageError) as caught:
        ModelSettings.load(kind, given, tmp_path)
    message = str(caught.value)
    assert all(name in message for name in missing)
    assert not any(name in message for name in present)
    assert KEY not in message


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://h/v1", "https://h/v1/chat/completions"),
        ("https://h/v1///", "https://h/v1/chat/completions"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/chat/completions"),
        (" http://[::1]:80/v1 ", "http://[::1]:80/v1/chat/completions"),
        ("https://h/v1/chat/completions/", "https://h/v1/chat/completions"),
        ("https://h/openai/v1/?api-version=2", "https://h/openai/v1/chat/completions?api-version=2"),
    ],
)
def test_the_address_of_an_operation(url, address):
    assert ModelSettings(url, "m").address("chat/completions") == address


@pytest.mark.parametrize("url", ["h/v1", "ftp://h/v1", "file:///etc/passwd", "http://", "http://h:x/", "http://[::1"])
def test_other_addresses_are_refused(url):
    with pytest.raises(UsageError, match="LLM_MODEL_URL is not an http or https address"):
        ModelSettings(url, "m")


def test_a_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(UsageError, match="LLM_API_KEY") as caught:
        ModelSettings("https://user:hunter22@h/v1", "m")
    assert "hunter22" not in str(caught.value)


def test_a_query_is_not_shown():
    assert ModelSettings("https://h/v1?key=abc", "m").shown_url == "https://h/v1"


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://h.example/v1", "https://h.example/v1"),
        ("HTTPS://H.Example.:443/v1/", "https://h.example/v1"),
        (" https://h.example/v1/chat/completions?key=abc#there ", "https://h.example/v1"),
        ("http://h.example:80", "http://h.example"),
        ("https://h.example:80/v1", "https://h.example:80/v1"),
        ("http://[::1]:11434/V1", "http://[::1]:11434/V1"),
    ],
)
def test_spellings_of_one_address_are_one_server(url, server):
    assert ModelSettings(url, "m").server == server


@pytest.mark.parametrize("key", ["a\nb: c", "schlüssel", "a\x00"])
def test_a_key_that_would_break_a_header_is_refused_and_not_repeated(key):
    with pytest.raises(UsageError, match="LLM_API_KEY") as caught:
        ModelSettings("https://h/v1", "m", Secret(key))
    assert key not in str(caught.value)


def test_the_key_is_in_nothing_that_can_be_printed_or_stored(caplog):
    settings = ModelSettings.load("LLM", FULL)
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").info("%s %r", settings, settings.api_key)
    texts = [repr(settings), str(settings), f"{settings.api_key}", caplog.text]
    for store in (dataclasses.asdict, copy.deepcopy, pickle.dumps, json.dumps, lambda s: json.dumps(s.api_key)):
        with pytest.raises(TypeError) as caught:
            store(settings)
        texts += traceback.format_exception(caught.value)
    assert not any(KEY in text for text in texts)
    assert Secret(KEY).is_in(f"bad key {KEY}!")
    assert not Secret("").is_in("text")
    assert not Secret(KEY).is_in("a text that says something else, at some length")


@pytest.mark.parametrize(("given", "seconds"), [("300", 300), (" 2.5 ", 2.5), ("", 60), (None, 60)])
def test_the_seconds_of_a_request(env, given, seconds):
    start = env(
        f"LLM_MODEL=m\nLLM_MODEL_URL=http://h\nEMBEDDING_TIMEOUT=7\n{f'LLM_TIMEOUT={given}' if given else ''}\n"
    )
    assert ModelSettings.load("LLM", {}, start).timeout == seconds


def test_the_seconds_of_a_request_must_be_some(env):
    with pytest.raises(UsageError, match=r"^LLM_TIMEOUT is no number of seconds from above 0 .* LLM_TIMEOUT=300"):
        ModelSettings.load("LLM", {**FULL, "LLM_TIMEOUT": "1 minute"}, env(""))
