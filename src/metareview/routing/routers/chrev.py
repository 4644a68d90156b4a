"""`chrev`: whoever reviewed these very files, often, on many days, and lately (Zanjani, Kagdi and Bird, TSE 2016)."""

from __future__ import annotations

from metareview.model.event import RESPONSES, Event, PullRequest, fold
from metareview.model.time import DAY
from metareview.routing.protocol import Ranking, Router


class CHRev(Router):
    """How much, on how many days and how lately somebody reviewed the files of the pull request.

    The published xFactor of a reviewer r and a file f, summed over the files of the pull request:

        C(r, f) / C(f)  +  W(r, f) / W(f)  +  1 / max(1, T(f) - T(r, f))

    C counts contributions (reviews, review comments and comments that name f, or name no file and are on a pull request
    that changes f; but for those of its own author), W the distinct days (UTC) with one, T is the latest such day;
    without r they are over everybody. A file that nobody reviewed adds nothing, so new files alone give nobody.

    Ties: whoever contributed last, then by login. Risk: low where half or more of the files have been reviewed before,
    medium where fewer have, high where none has.
    """

    needs_files = True

    def __init__(self) -> None:
        self._files: dict[int, tuple[str, ...]] = {}
        self._authors: dict[int, str] = {}
        self._efforts: dict[str, dict[str | None, list[int]]] = {}
        """Contributions, days and the latest day by file and reviewer; of everybody under None, which comes first."""
        self._latest: dict[str, int] = {}

    def observe(self, event: Event) -> None:
        if event.files is not None and event.kind not in RESPONSES:
            self._files[event.pr] = event.files
        if event.actor is None:
            return
        if event.kind == "opened":
            self._authors[event.pr] = fold(event.actor)
        if event.kind not in RESPONSES or self._authors.get(event.pr) == fold(event.actor):
            return
        self._latest[event.actor] = event.at
        day = event.at // DAY
        for path in event.files or self._files.get(event.pr, ()):
            efforts = self._efforts.setdefault(path, {})
            for reviewer in (None, event.actor):
                sums = efforts.setdefault(reviewer, [0, 0, -1])
                sums[0] += 1
                if day != sums[2]:  # Events come in order: a day that is not the latest is a new one.
                    sums[1] += 1
                    sums[2] = day

    def rank(self, pull_request: PullRequest) -> Ranking:
        scores: dict[str, float] = {}
        known = 0
        for path in pull_request.files:
            if path not in self._efforts:
                continue
            known += 1
            (_, (count, days, latest)), *reviewers = self._efforts[path].items()
            for login, (own_count, own_days, own_latest) in reviewers:
                assert login is not None
                factor = own_count / count + own_days / days + 1.0 / max(1, latest - own_latest)
                scores[login] = scores.get(login, 0.0) + factor
        # Rounded for the order only: sums formed in another order must not decide.
        order = sorted(scores, key=lambda who: (-round(scores[who], 9), -self._latest[who], fold(who)))
        risk = "high" if not known else "low" if 2 * known >= len(pull_request.files) else "medium"
        return Ranking([(login, scores[login]) for login in order], risk)


PLUGIN = CHRev
