"""`metareview dataset list` and `metareview dataset get`: public benchmarks by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metareview.cli.options import common_options, completing, dataset_names
from metareview.cli.output import Screen, say
from metareview.errors import InputError

if TYPE_CHECKING:
    from metareview.sources.catalogue import DataFile, Dataset

JsonObject = dict[str, object]


@click.group(epilog="Example: metareview dataset get aacr-bench")
def command() -> None:
    """Public benchmarks by name: what there is, and fetching it once, checked by its hash.

    A name stands for its files wherever one is given: --reference aacr-bench, routing revfinder-android.
    """


@command.command(
    "list", short_help="What there is, its licence, and where it lies.", epilog="Example: metareview dataset list"
)
@common_options
def list_command(screen: Screen) -> None:
    """Which data sets there are: what each is, its licence, its files, and where it lies on this machine."""
    from metareview.sources.catalogue import DATASETS
    from metareview.sources.datasets import data_folder

    described = {dataset: _described(dataset) for dataset in DATASETS.values()}
    lines = [line for dataset, facts in described.items() for line in _lines(dataset, str(facts["here"]))]
    document = {"schema": "metareview.dataset/1", "folder": str(data_folder()), "datasets": list(described.values())}
    remark = "`metareview dataset get NAME` fetches a data set, and so does its first use, as in --reference NAME."
    screen.show(document, *lines, remarks=[remark])


def _lines(dataset: Dataset, here: str) -> Iterator[str]:
    """What a reader wants to know of a data set; `here` says how much of it is."""
    from metareview.sources.datasets import place

    counts = {role: len(dataset.of_role(role)) for role in dataset.roles}
    files = ", ".join(f"{role} ({count} files)" if count > 1 else role for role, count in counts.items())
    sizes = [file.size for file in dataset.files if file.size is not None]
    size = f"{sum(sizes) / 1e6:.1f} MB" if len(sizes) == len(dataset.files) else "size unknown"
    folder = place(dataset, dataset.files[0]).parent
    where = {"no": "not fetched yet", "yes": f"in {folder}", "damaged": f"damaged, in {folder}"}
    yield f"{dataset.name}: {dataset.summary}"
    yield f"  {dataset.repository} at {dataset.commit[:12]}, licence {dataset.licence}"
    yield f"  {files}; {size}; {where.get(here, f'{here} files in {folder}')}"


@command.command("get", short_help="Fetch data sets, each file checked by its hash.",
                 epilog="Example: metareview dataset get aacr-bench revfinder-android")  # fmt: skip
@click.argument("names", nargs=-1, required=True, metavar="NAME…", shell_complete=completing(dataset_names))
@common_options
def get_command(names: tuple[str, ...], screen: Screen) -> None:
    """Fetch data sets into the user's data folder ($METAREVIEW_DATA), each file checked by its hash.

    What is there already is not fetched again. $METAREVIEW_DATASET_MIRROR replaces GitHub's address.
    """
    from metareview.model.words import plural
    from metareview.sources.datasets import fetch, find_dataset, place

    chosen = [find_dataset(name) for name in dict.fromkeys(names)]
    documents, lines = [], []
    for dataset in chosen:
        try:
            fetched = fetch(dataset, dataset.files, screen.download)
        except KeyboardInterrupt:
            say(f"What has come in of {dataset.name} is kept; the same command goes on from there.")
            raise
        documents.append({**_described(dataset), "fetched": [file.path for file in fetched]})
        there = plural(len(dataset.files), "file")
        done = f"{plural(len(fetched), 'file')} fetched and checked" if fetched else f"{there} here already, checked"
        lines.append(f"{dataset.name}: {done}: {place(dataset, dataset.files[0]).parent}")
        lines.append(f"  {dataset.repository} at {dataset.commit}, licence {dataset.licence}")
    screen.show({"schema": "metareview.dataset/1", "datasets": documents}, *lines)


def _described(dataset: Dataset) -> JsonObject:
    from metareview.sources.datasets import address

    files: list[JsonObject] = []
    for file in dataset.files:
        path, state = _state(dataset, file)
        files.append(
            {
                "path": file.path,
                "role": file.role,
                "sha256": file.sha256,
                "bytes": path.stat().st_size if state == "yes" else file.size,
                "address": address(dataset, file),
                "file": str(path),
                "here": state,
            }
        )
    states = [str(each["here"]) for each in files]
    here = states[0] if len(set(states)) == 1 else f"{states.count('yes')} of {len(states)}"
    return {
        "name": dataset.name,
        "summary": dataset.summary,
        "repository": dataset.repository,
        "commit": dataset.commit,
        "licence": dataset.licence,
        "here": "damaged" if "damaged" in states else here,
        "files": files,
    }


def _state(dataset: Dataset, file: DataFile) -> tuple[Path, str]:
    from metareview.sources.datasets import is_there, place

    try:
        state = "yes" if is_there(dataset, file) else "no"
    except InputError:
        state = "damaged"
    return place(dataset, file), state
