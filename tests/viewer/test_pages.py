"""The pages as they are asked for: finding runs, filters in the address, lists, runs that are not finished."""

import os
import re
import time

import pytest
from viewer_samples import client_of, pull, small_run, unfinished

from metareview.viewer.catalogue import QUIET_SECONDS, Catalogue, run_id


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    small_run(root / "small")
    small_run(root / "team" / "second run")
    unfinished(root / "going")
    return client_of(root)


def rows(text):
    body = text.partition("<tbody>")[2].partition("</tbody>")[0]
    return [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in body.split("</tr>") if row.strip()]


def linked(text):
    return re.findall(r'<th scope="row" class="run"><a href="([^"]+)"', text)


def test_runs_are_found_with_their_figures(client):
    found = rows(client.get("/?sort=name").text)
    assert [row.split()[0] for row in found] == ["going", "small", "team/second"]
    assert found[0].startswith("going running – comments 3")
    # sharp has all three references and no other comment: F1 1.
    assert found[1].startswith("small finished 1.000 F1 comments sharp , loud 4")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=second", ["team/second"]),
        ("q=SHARP+small", ["small"]),
        ("q=nothing", []),
        ("status=running", ["going"]),
        ("status=finished&sort=-name", ["team/second", "small"]),
        ("kind=routing", []),
        ("sort=status", ["small", "team/second", "going"]),
        ("sort=unheard-of", 3),
    ],
)
def test_runs_are_searched_filtered_and_sorted_by_the_address(client, query, names):
    found = [row.split()[0] for row in rows(client.get(f"/?{query}").text)]
    assert found == names if isinstance(names, list) else len(found) == names


def test_a_folder_that_is_a_run_is_shown_alone(tmp_path):
    small_run(tmp_path / "alone")
    client = client_of(tmp_path / "alone")
    assert linked(client.get("/").text) == ["/run/alone"]
    assert client.get("/run/alone").status_code == 200


def test_run_ids_are_plain_and_tell_runs_apart():
    assert run_id("demo") == "demo"
    places = ["a/b", "a-b", "a b", "..", ".", "a/../b", "ä", "ö", "x" * 300, "x" * 301, "a\udcff"]
    ids = [run_id(place) for place in places]
    assert len(set(ids)) == len(places)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", each) and ".." not in each for each in ids)


def test_a_running_run_counts_its_records_as_they_come(tmp_path):
    folder = unfinished(tmp_path / "going", records=2)
    client = client_of(tmp_path)
    page = client.get("/run/going").text
    assert "still being made" in page
    assert 'data-live="/run/going/live"' in page
    assert 'data-live="/live"' in client.get("/").text
    with (folder / "results.jsonl").open("a") as file:
        file.write("{}\n{}\n{half")
    assert "<dd>4</dd>" in client.get("/run/going/live").text
    (folder / "results.jsonl").write_text("{}\n")
    assert "<dd>1</dd>" in client.get("/run/going/live").text


def test_a_run_that_ends_is_reloaded_and_one_that_stopped_says_so(tmp_path):
    folder = unfinished(tmp_path / "going")
    client = client_of(tmp_path)
    assert "still being made" in client.get("/run/going/pairs").text
    before = time.time() - QUIET_SECONDS - 60
    for file in folder.iterdir():
        os.utime(file, (before, before))
    stopped = client.get("/run/going").text
    assert "goes on where it stopped" in stopped
    assert "data-live" not in stopped
    small_run(folder, overwrite=True)
    assert client.get("/run/going/live").text == '<div data-done="1"></div>'
    assert "sharp" in client.get("/run/going").text


def test_a_run_that_is_made_anew_is_read_anew(tmp_path):
    small_run(tmp_path / "run")
    client = client_of(tmp_path)
    assert "11 pairs" in client.get("/run/run/pairs").text
    small_run(tmp_path / "run", overwrite=True, reviewer=["sharp"])
    assert "5 pairs" in client.get("/run/run/pairs").text


def test_the_run_page_has_the_answer_and_ways_on(client):
    text = client.get("/run/small").text
    assert "The answer" in text
    for page in ("pairs", "prs", "settings"):
        assert f'href="/run/small/{page}"' in text
        assert client.get(f"/run/small/{page}").status_code == 200
    assert 'href="/run/small" aria-current="page"' in text


def test_pairs_lead_to_their_place_on_the_page_of_their_pull_request(client):
    text = client.get("/run/small/pairs?verdict=aligned&reviewer=loud").text
    [row] = rows(text)
    assert row.startswith("1.00 aligned the judge")
    assert "leaks the handle" in row
    address = re.search(r'href="(/run/small/pr/0\?[^"]*)"', text)[1].replace("&amp;", "&")
    assert address == "/run/small/pr/0?reviewer=loud&all=0#c0-r0"
    assert 'id="c0-r0"' in client.get(address).text


def test_filters_stay_when_one_sorts_and_turns_pages(client):
    text = client.get("/run/small/pairs?text=leaks&sort=-score").text
    assert 'name="text" value="leaks"' in text
    assert '<input type="hidden" name="sort" value="-score">' in text
    assert 'href="/run/small/pairs?text=leaks&amp;sort=score"' in text
    assert 'href="/run/small/pairs?text=leaks&amp;sort=-score&amp;verdict=aligned"' in text


def test_a_page_beyond_the_last_is_the_last(client):
    assert len(rows(client.get("/run/small/pairs?page=99").text)) == 11
    assert len(rows(client.get("/run/small/prs?page=99999999999").text)) == 2


def test_pull_requests_come_worst_first_with_what_was_counted(client):
    # #1: loud misses "slow loop"; #2: loud misses its one reference. Of loud's comments one and two are noise.
    first, second = rows(client.get("/run/small/prs?sort=noise").text)
    assert first.split()[:4] == ["Owner/Repo#2", "1", "2", "0.400"]  # P 1/3, R 1/2
    assert second.split()[:4] == ["Owner/Repo#1", "1", "1", "0.750"]  # P 3/4, R 3/4
    [only] = rows(client.get("/run/small/prs?reviewer=sharp&language=Rust").text)
    assert only.split()[:4] == ["Owner/Repo#2", "0", "0", "1.000"]
    assert len(rows(client.get("/run/small/prs?q=repo%232").text)) == 1


def test_two_runs_are_compared_and_what_is_no_run_is_not(client):
    other = run_id("team/second run")
    assert "What changed" in client.get(f"/compare?a=small&b={other}").text
    assert client.get("/compare?a=small&b=nothing").status_code == 404
    assert client.get("/compare?a=small&b=going").status_code == 404
    assert client.get("/compare").headers["location"] == "/"


def test_every_file_that_a_page_asks_for_is_served(client):
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/").text):
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(("text/css", "text/javascript", "image/svg+xml"))


def test_indexes_lie_apart_from_the_runs_and_go_with_the_catalogue(tmp_path):
    small_run(tmp_path / "small")
    before = sorted(path.name for path in (tmp_path / "small").iterdir())
    catalogue = Catalogue(tmp_path, "")
    view = catalogue.open(catalogue.entries()["small"])
    assert view.prs[0] == pull(1)
    folder = catalogue._indexes
    assert [path.suffix for path in folder.iterdir()] == [".sqlite"]
    assert sorted(path.name for path in (tmp_path / "small").iterdir()) == before
    catalogue.close()
    assert not folder.exists()
