import hashlib
import sys
from pathlib import Path

import pytest

from dataset_server import FILES
from file_server import FileServer
from metareview.errors import InputError, UsageError
from metareview.sources import datasets
from metareview.sources.catalogue import DATASETS, datasets_with
from metareview.sources.datasets import ORIGIN, address, fetch, files_of_role, find_dataset, is_there, place
from metareview.sources.download import Retries

QUICK = Retries(seconds=5, attempts=2, pause=0)
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def names(files):
    return [file.name for file in files]


def test_the_catalogue_is_sound():
    for dataset in DATASETS.values():
        assert len(set(names(dataset.files))) == len(dataset.files), "files lie in one folder"
        assert len(dataset.commit) == 40
        assert all(len(bytes.fromhex(file.sha256)) == 32 for file in dataset.files)
        assert len(dataset.of_role("candidates")) <= 1
        assert len(dataset.of_role("history")) <= 1
    assert names(DATASETS["code-review-bench"].of_role("reference")) == [
        "cal_dot_com.json", "discourse.json", "grafana.json", "keycloak.json", "sentry.json"
    ]  # fmt: skip
    assert "not clear" in DATASETS["revfinder-android"].licence


def test_the_page_has_every_data_set_with_its_origin_and_licence():
    page = (Path(__file__).resolve().parents[2] / "docs/datasets.md").read_text("utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `") and "github.com" in line}
    for dataset in DATASETS.values():
        assert f"https://github.com/{dataset.repository})" in rows[dataset.name]
        assert f"| {dataset.licence.partition(':')[0]}" in rows[dataset.name]


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms have other folders")
@pytest.mark.parametrize(
    ("name", "value", "folder"),
    [
        ("METAREVIEW_DATA", "/x", "/x"),
        ("XDG_DATA_HOME", "/xdg", "/xdg/metareview"),
        ("HOME", "/home/me", "/home/me/.local/share/metareview"),
    ],
)
def test_where_data_goes(monkeypatch, name, value, folder):
    for each in ("METAREVIEW_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(name, value)
    assert datasets.data_folder() == Path(folder)


def test_the_home_of_an_unknown_user(monkeypatch):
    monkeypatch.setenv("METAREVIEW_DATA", "~nobody-of-this-name/x")
    with pytest.raises(UsageError, match="METAREVIEW_DATA"):
        datasets.data_folder()


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'aacr-bench'"):
        find_dataset("aacr-bnch")


def test_a_role_that_a_data_set_lacks():
    with pytest.raises(
        UsageError, match=r"bc-bench has no file of the role negatives, only reference\. .*aacr-bench has"
    ):
        files_of_role(DATASETS["bc-bench"], "negatives")


def test_files_are_fetched_once(mirror, shop_bench):
    assert names(fetch(shop_bench, shop_bench.files, retries=QUICK)) == names(shop_bench.files)
    asked = len(mirror.requests)
    assert fetch(shop_bench, shop_bench.files, retries=QUICK) == []
    assert len(mirror.requests) == asked == len(FILES)
    assert [place(shop_bench, file).read_bytes() for file in shop_bench.files] == list(FILES.values())


def test_without_a_mirror_the_address_is_that_of_github_at_the_commit(shop_bench):
    assert address(shop_bench, shop_bench.files[0]) == (
        f"https://raw.githubusercontent.com/acme/bench/{shop_bench.commit}/data/good.jsonl"
    )


@pytest.mark.parametrize("mirror", ["ftp://host", "nonsense", "https://host:port", "https://host/?a=1", "http://"])
def test_a_mirror_that_is_no_address(monkeypatch, shop_bench, mirror):
    monkeypatch.setenv("METAREVIEW_DATASET_MIRROR", mirror)
    with pytest.raises(UsageError, match="METAREVIEW_DATASET_MIRROR is not"):
        fetch(shop_bench, shop_bench.files)


def test_a_password_in_a_mirror_is_refused_and_not_shown(monkeypatch, shop_bench):
    monkeypatch.setenv("METAREVIEW_DATASET_MIRROR", "https://me:hunter2@host/raw")
    with pytest.raises(UsageError, match="user name or password") as error:
        fetch(shop_bench, shop_bench.files)
    assert "hunter2" not in str(error.value)


def test_without_a_network_it_says_how_to_place_files_by_hand(monkeypatch, shop_bench):
    monkeypatch.setenv("METAREVIEW_DATASET_MIRROR", "http://127.0.0.1:9/raw")
    files = shop_bench.of_role("reference")
    with pytest.raises(InputError) as error:
        fetch(shop_bench, files, retries=QUICK)
    for file in files:
        # GitHub's address, not that of the mirror that has just failed.
        origin = f"{ORIGIN}/{shop_bench.repository}/{shop_bench.commit}/{file.path}"
        for part in (f" {origin} (SHA-256 {file.sha256})", f"by hand in {place(shop_bench, file).parent}: "):
            assert part in str(error.value)
    assert "\n" not in str(error.value)
    for file in files:  # and so it is done
        place(shop_bench, file).parent.mkdir(parents=True, exist_ok=True)
        place(shop_bench, file).write_bytes(FILES[file.path])
    assert fetch(shop_bench, files, retries=QUICK) == []


def test_a_file_placed_by_hand_that_is_another_is_refused_with_both_hashes(shop_bench):
    file = shop_bench.files[0]
    place(shop_bench, file).parent.mkdir(parents=True)
    place(shop_bench, file).write_bytes(b"another")
    with pytest.raises(InputError) as error:
        is_there(shop_bench, file)
    assert hashlib.sha256(b"another").hexdigest() in str(error.value)
    assert file.sha256 in str(error.value)
    assert "Remove it" in str(error.value)


def test_a_folder_that_cannot_be_written_to(mirror, shop_bench, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("METAREVIEW_DATA", str(tmp_path / "file"))
    with pytest.raises(InputError, match="METAREVIEW_DATA"):
        fetch(shop_bench, shop_bench.files)


def test_a_run_names_the_data_sets_that_its_inputs_are_of():
    dataset = DATASETS["aacr-bench"]
    [good, _] = dataset.files
    assert datasets_with([good.sha256, "0" * 64]) == {
        "aacr-bench": {
            "repository": "alibaba/aacr-bench",
            "commit": dataset.commit,
            "licence": "Apache-2.0",
            "files": {"dataset/positive_samples.json": good.sha256},
        }
    }


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published data (../shared/data) is not here")
def test_the_published_files_have_the_hashes_and_sizes_of_the_catalogue(data_folder, monkeypatch):
    whole = {
        "aacr-bench": ["aacr/positive_samples.json", "aacr/negative_samples.json"],
        "revfinder-android": ["routing/gerrit-android.jsonl"],
    }
    served = FileServer({})
    monkeypatch.setenv("METAREVIEW_DATASET_MIRROR", served.url)
    for name, files in whole.items():
        dataset = DATASETS[name]
        for file, path in zip(dataset.files, files, strict=True):
            served.files[f"/{dataset.repository}/{dataset.commit}/{file.path}"] = (SHARED / path).read_bytes()
        served.plan = [("cut", 100_000)]
        assert fetch(dataset, dataset.files, retries=QUICK) == list(dataset.files)
        assert [place(dataset, file).stat().st_size for file in dataset.files] == [file.size for file in dataset.files]
    served.close()
