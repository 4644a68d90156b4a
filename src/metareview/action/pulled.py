"""The input `pull`: comments on this repository's pull requests, or the finding that there are none."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from metareview.action.inputs import Inputs
from metareview.action.steps import Ended, run_metareview
from metareview.cli.output import say
from metareview.errors import UsageError
from metareview.model.words import plural
from metareview.runs.files import read_json


@dataclass(frozen=True, slots=True)
class PulledComments:
    """The counts of a pull that ended well."""

    repository: str
    prs: int
    lines: int
    comments: int

    def is_empty(self, command: str) -> bool:
        """Whether the command would find nothing in the file. A review without a comment has a line: for `outcomes` it
        is a reviewer with no comment, for `comments` it is neither something to score nor a reference."""
        return not (self.lines if command == "outcomes" else self.comments)

    def headline(self, inputs: Inputs) -> str:
        """`no pull requests in 28 days`, for a pull that is empty."""
        what = f"comments on {plural(self.prs, 'pull request')}" if self.prs else "pull requests"
        return f"no {what} {inputs.pull_words}"

    def sentence(self, inputs: Inputs) -> str:
        when = f"created since {inputs.since}"
        if not self.prs:
            return f"{self.repository} has no pull request that was {when}"
        return f"{self.repository} has {plural(self.prs, 'pull request')} {when}, without a comment"


def pull_comments(since: str, file: Path) -> tuple[Ended, PulledComments | None]:
    """Pulls into the file; None for a pull that failed."""
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    token = os.environ.get("INPUT_GITHUB_TOKEN", "").strip()
    if not token:
        raise UsageError("pull needs a token. Set github-token, or leave it out to use the job's own.")
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "pull.json"
        arguments = ["pull", "comments", f"--since={since}", f"--out={file}", "--json", "--", repository]
        ended = run_metareview(arguments, token=token, into=result)
        if ended.code:
            return ended, None
        document = read_json(result)
    comments = sum(document["comments"].values())
    pulled = PulledComments(document["repository"], document["prs"], document["lines"], comments)
    say(f"{pulled.repository}: {plural(pulled.prs, 'pull request')}, {plural(comments, 'comment')}: {file}")
    return ended, pulled
