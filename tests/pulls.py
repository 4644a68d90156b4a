"""What tests of pulls share: a clock that nobody waits for, and a pull with all that was told on the way."""

from dataclasses import dataclass, field

import gitlab_server
from github_server import TOKEN
from metareview.http.secret import Secret
from metareview.sources.access import Access
from metareview.sources.clock import Clock
from metareview.sources.pull import PullOptions, pull
from metareview.sources.targets import parse_targets


@dataclass
class SwiftClock(Clock):
    """Time passes by waiting alone."""

    time: float = 1_800_000_000.0
    waits: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


@dataclass
class Pull:
    """Pulls from a server into a file of a folder, again and again."""

    folder: object
    clock: SwiftClock = field(default_factory=SwiftClock)
    told: list[str] = field(default_factory=list)

    def __call__(self, server, what="acme/shop", command="comments", file="out.jsonl", token=TOKEN, **options):
        access = Access("github.com", server.url, Secret(token), f"{server.url}/graphql")
        history = command == "history"
        chosen = PullOptions(parse_targets([what]), self.folder / file, history=history, **options)
        with pull(chosen, access, lambda line, pressing: self.told.append(line), self.clock) as pulled:
            return pulled

    def bytes(self, *arguments, file="out.jsonl", **options):
        """What the file holds after a pull."""
        self(*arguments, file=file, overwrite=True, **options)
        return (self.folder / file).read_bytes()


@dataclass
class GitLabPull(Pull):
    """Comments from a GitLab server likewise."""

    def __call__(self, server, what="", file="out.jsonl", token=gitlab_server.TOKEN, **options):
        access = Access("gitlab.example", f"{server.url}/api/v4", Secret(token))
        target = parse_targets([f"https://gitlab.example/{gitlab_server.PATH}{what}"])
        chosen = PullOptions(target, self.folder / file, **options)
        with pull(chosen, access, lambda line, pressing: self.told.append(line), self.clock) as pulled:
            return pulled
