"""Public data sets on this machine: their folder, checksums, and fetching missing files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from urllib.parse import quote, urlsplit

from metareview.errors import InputError, UsageError, did_you_mean
from metareview.sources.catalogue import DATASETS, DataFile, Dataset
from metareview.sources.download import DownloadFailed, Progress, Retries, download, file_hash

ORIGIN = "https://raw.githubusercontent.com"
MIRROR, FOLDER = "METAREVIEW_DATASET_MIRROR", "METAREVIEW_DATA"
"""The environment's names for where files come from, and where they go."""

FileProgress = Callable[[str], AbstractContextManager[Progress | None]]
"""Opens a progress callback for the file of this name."""


def data_folder() -> Path:
    """`$METAREVIEW_DATA`, or `metareview` in the folder that the platform has for a user's data."""
    if not (chosen := os.environ.get(FOLDER)):
        from platformdirs import user_data_path

        return user_data_path("metareview", appauthor=False).absolute()
    try:
        return Path(chosen).expanduser().absolute()
    except RuntimeError:
        raise UsageError(f"{FOLDER} starts with the home folder of an unknown user. Set it to a folder.") from None


def find_dataset(name: str) -> Dataset:
    """The data set of this name; UsageError with the nearest where there is none."""
    if name not in DATASETS:
        known = ", ".join(DATASETS)
        raise UsageError(f"Unknown data set {name!r}.{did_you_mean(name, DATASETS)} The data sets are {known}.")
    return DATASETS[name]


def files_of_role(dataset: Dataset, role: str) -> tuple[DataFile, ...]:
    """The files of a data set with this role; UsageError if it has none."""
    if files := dataset.of_role(role):
        return files
    able = [each.name for each in DATASETS.values() if each.of_role(role)]
    instead = f" Of the data sets, {', '.join(able)} {'has' if len(able) == 1 else 'have'} one." if able else ""
    raise UsageError(
        f"The data set {dataset.name} has no file of the role {role}, only {', '.join(dataset.roles)}.{instead}"
    )


def place(dataset: Dataset, file: DataFile) -> Path:
    """Where the file lies once it was fetched. Another commit is another folder."""
    return data_folder() / "datasets" / dataset.name / dataset.commit[:12] / file.name


def address(dataset: Dataset, file: DataFile) -> str:
    """Where the file comes from: GitHub, or the mirror that the environment names in its place."""
    return _address(_base(), dataset, file)


def _address(base: str, dataset: Dataset, file: DataFile) -> str:
    return f"{base}/{dataset.repository}/{dataset.commit}/{quote(file.path)}"


def _base() -> str:
    mirror = os.environ.get(MIRROR, "").strip()
    if not mirror:
        return ORIGIN
    try:
        parts = urlsplit(mirror)
        sound = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        _ = parts.port  # raises where it is none
    except ValueError:
        sound = None
    if not sound:
        raise UsageError(f"{MIRROR} is not an http or https address. Set it to what stands in place of {ORIGIN}.")
    if parts.username is not None:
        raise UsageError(f"{MIRROR} holds a user name or password, which would be shown. Name a mirror without one.")
    return mirror.rstrip("/")


def is_there(dataset: Dataset, file: DataFile) -> bool:
    """True if the file was fetched or placed by hand; InputError if it has another checksum."""
    path = place(dataset, file)
    try:
        found = file_hash(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, fix="Allow reading it.") from None
    if found != file.sha256:
        raise InputError(
            f"this is not {file.name} of {dataset.name}: SHA-256 {found} where {file.sha256} is expected",
            file=path,
            fix=f"Remove it, then run `metareview dataset get {dataset.name}`.",
        )
    return True


def fetch(
    dataset: Dataset, files: Sequence[DataFile], watch: FileProgress | None = None, retries: Retries | None = None
) -> list[DataFile]:
    """Fetch the missing files, and return them. InputError says how to place by hand a file that cannot be fetched."""
    missing = [file for file in files if not is_there(dataset, file)]
    for position, file in enumerate(missing):
        path, origin = place(dataset, file), address(dataset, file)
        try:
            with watch(f"{dataset.name}: {file.name}") if watch else nullcontext() as progress:
                download(origin, path, file.sha256, progress=progress, retries=retries)
        except DownloadFailed as error:
            raise _cannot_be_had(dataset, missing[position:], str(error)) from None
        except OSError as error:
            fix = f"Make room or allow writing there, or set {FOLDER} to another folder."
            raise InputError(f"cannot be written ({error.strerror})", file=path, fix=fix) from None
    return missing


def _cannot_be_had(dataset: Dataset, missing: Sequence[DataFile], reason: str) -> InputError:
    # GitHub's address, even where a mirror failed: what the mirror lacks cannot be fetched there by hand either.
    by_hand = "; ".join(f"{_address(ORIGIN, dataset, file)} (SHA-256 {file.sha256})" for file in missing)
    return InputError(
        f"the data set {dataset.name} is not all here, and {urlsplit(_base()).netloc} cannot give it: {reason}",
        fix=f"Run the same command again once that server can be reached and has it (HTTPS_PROXY and {MIRROR} are used;"
        f" what has come in is kept), or place by hand in {place(dataset, missing[0]).parent}: {by_hand}.",
    )
