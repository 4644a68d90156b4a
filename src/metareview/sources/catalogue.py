"""The public data sets that are known by name: where each comes from, its licence, and the hash of every file.

A data set is pinned to a commit, so that a figure of today can be had again in a year. Nothing of it ships with the
package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

REFERENCE, NEGATIVES, CANDIDATES, VERDICTS, HISTORY = "reference", "negatives", "candidates", "verdicts", "history"
"""Roles of a data set's files. A data set's name stands for the files of the role that an option wants."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a data set."""

    path: str
    """Within the repository."""
    role: str
    sha256: str
    size: int | None = None
    """In bytes, where it is known beforehand."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public benchmark or history: files of a repository on GitHub, at one commit."""

    name: str
    summary: str
    repository: str
    commit: str
    licence: str
    files: tuple[DataFile, ...]

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file.role for file in self.files))

    def of_role(self, role: str) -> tuple[DataFile, ...]:
        return tuple(file for file in self.files if file.role == role)


def _files(role: str, folder: str, files: Mapping[str, str | tuple[str, int]]) -> tuple[DataFile, ...]:
    """The files of a folder: their names with their hashes, and with their sizes where these are known."""
    known = {name: entry if isinstance(entry, tuple) else (entry, None) for name, entry in files.items()}
    return tuple(DataFile(f"{folder}{name}", role, *hash_and_size) for name, hash_and_size in known.items())


_AACR_BENCH = Dataset(
    "aacr-bench",
    "196 pull requests in 10 languages: 1,505 valid comments with places, 640 rejected ones",
    "alibaba/aacr-bench",
    "540dd9bdcc4de89427e156f8a47253a69fd18cb1",
    "Apache-2.0",
    (
        *_files(REFERENCE, "dataset/", {
            "positive_samples.json": ("d8683cb240249bc4e0aff6428802bdffa7b7573ace600552cab1cd0cb7e905c9", 1_100_995),
        }),
        *_files(NEGATIVES, "dataset/", {
            "negative_samples.json": ("c0601008ec5f444317143b0ee59d7f99a0bc2b45735710d25c2f1a305ee519d0", 496_162),
        }),
    ),
)  # fmt: skip
_CODE_REVIEW_BENCH = Dataset(
    "code-review-bench",
    "golden comments on pull requests of five projects, what tools said, a model's verdicts",
    "withmartian/code-review-benchmark",
    "012d68202e56280855b85abb956410086008a7b2",
    "MIT",
    (
        *_files(REFERENCE, "offline/golden_comments/", {
            "cal_dot_com.json": "a1361509202cdaea0842838cd03253b82345c85fde320480ef874084ab2af470",
            "discourse.json": "e18c62708f72066e5dc99eba05caf61572b73f93bdfa4c14374e56b44a1265a5",
            "grafana.json": "15055ffefa1714d60cd18aab46612497087240ae99f93170e91b226696bc8182",
            "keycloak.json": "a77fe83c5efbe50555d18083e58a65130882a293070c7fb79d1734223d6dcdc7",
            "sentry.json": "d69844d950fac34f63fee221276074238c60e19344803ecd1375e52c4fef5b36",
        }),
        *_files(CANDIDATES, "offline/results/anthropic_claude-opus-4-5-20251101/", {
            "candidates.json": "119cb6f50ce55d710ede3721b0e319d64090e91571d219a096c2a767187994d1",
        }),
        *_files(VERDICTS, "offline/results/anthropic_claude-opus-4-5-20251101/", {
            "evaluations.json": "d873952ca4086f071e183cb3eff80a67fa81226dc42305176284a6da31305870",
        }),
    ),
)  # fmt: skip
_BC_BENCH = Dataset(
    "bc-bench",
    "diffs with the comments that a review of them should have; some should have none",
    "microsoft/BC-Bench",
    "7a509edc67cde67fb030aa1c95f31297d1d0e5fc",
    "MIT",
    _files(
        REFERENCE, "dataset/", {"codereview.jsonl": "4e103dba83244b1dc223b66c97efb80a3e32ee6930d37fb018610129cadb04eb"}
    ),
)
_REVFINDER_ANDROID = Dataset(
    "revfinder-android",
    "5,126 reviews of Android, with files, approvals and dates",
    "patanamon/revfinder",
    "d06f34320afdb7798616036895f37502be06dd36",
    "not clear: see its README",
    _files(
        HISTORY, "", {"android.json": ("fe9d19fc6f1e7caecf1426deef623600cd71abb10bbc587842222c656a01f610", 3_937_166)}
    ),
)
DATASETS = {dataset.name: dataset for dataset in (_AACR_BENCH, _CODE_REVIEW_BENCH, _BC_BENCH, _REVFINDER_ANDROID)}


def datasets_with(hashes: Iterable[str]) -> dict[str, dict[str, object]]:
    """The data sets that files of these SHA-256 are of, by name, as a run's manifest names them.

    It goes by content: a copy that lies elsewhere is the same file.
    """
    known = set(hashes)
    found: dict[str, dict[str, object]] = {}
    for dataset in DATASETS.values():
        if used := {file.path: file.sha256 for file in dataset.files if file.sha256 in known}:
            found[dataset.name] = {
                "repository": dataset.repository,
                "commit": dataset.commit,
                "licence": dataset.licence,
                "files": used,
            }
    return found
