"""Pull requests in the shapes of GitHub's GraphQL API, from a few words each."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from pathlib import Path

from github_server import GitHubServer

SAMPLE = Path(__file__).resolve().parents[1] / "examples" / "github" / "acme-shop.json"


def actor(login: str | None) -> dict | None:
    """As GraphQL has it: a bot's login without its ending, a deleted account as nothing."""
    if login is None:
        return None
    bare = login.removesuffix("[bot]")
    return {"__typename": "User" if bare == login else "Bot", "login": bare}


def later(at: str, minutes: float) -> str:
    return (datetime.fromisoformat(at) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def sha(number: int, name: str) -> str:
    return hashlib.sha1(f"{number}/{name}".encode()).hexdigest()


def groups(reactions: dict[str, int] | None) -> list[dict]:
    """All reactions are listed, those that nobody gave with 0."""
    counts = {"THUMBS_UP": 0, "THUMBS_DOWN": 0, **(reactions or {})}
    return [{"content": name, "reactors": {"totalCount": count}} for name, count in counts.items()]


class Numbers:
    """Ids as GitHub gives them out: one after the other, over all pull requests."""

    def __init__(self) -> None:
        self.last = 1_000

    def __call__(self) -> int:
        self.last += 1
        return self.last


def repository(pulls: list[dict], name: str = "acme/shop") -> dict:
    """Made of short descriptions; see examples/github/acme-shop.json for all that they can say."""
    ids = Numbers()
    return {"nameWithOwner": name, "pullRequests": [pull_request(name, pull, ids) for pull in pulls]}


def pull_request(name: str, told: dict, ids: Numbers) -> dict:
    number, at = told["number"], told["at"]
    url = f"https://github.com/{name}/pull/{number}"
    commits = [commit(number, at, each) for each in in_line(told.get("commits", ()))]
    head = commits[-1]["commit"]["oid"] if commits else sha(number, "head")
    first = commits[0]["commit"]["oid"] if commits else head
    threads = [
        thread(url, at, each, sha(number, each["on"]) if "on" in each else first, head, ids)
        for each in told.get("threads", ())
    ]
    reviews = [review(url, at, each, head, ids) for each in told.get("reviews", ())]
    comments = [issue_comment(url, at, each, ids) for each in told.get("comments", ())]
    ended = told.get("merged") or told.get("closed")
    timeline = [
        *({"__typename": "PullRequestReview", **each} for each in reviews),
        *({"__typename": "IssueComment", **each} for each in comments),
        *({"__typename": "PullRequestCommit", **each} for each in commits),
        *(event(number, at, each) for each in told.get("timeline", ())),
    ]
    if "force_pushed" in told:
        timeline.append(event(number, at, ["HeadRefForcePushedEvent", told["force_pushed"], told["by"]]))
    if "merged" in told:
        timeline.append(event(number, at, ["MergedEvent", *told["merged"]]))
    if ended:
        timeline.append(event(number, at, ["ClosedEvent", *ended]))
    edits = told.get("edits", ())
    versions = [[0, told.get("body", "")], *edits] if edits else []
    return {
        "id": f"PR_{name}_{number}",
        "number": number,
        "url": url,
        "createdAt": at,
        "mergedAt": later(at, told["merged"][0]) if "merged" in told else None,
        "closedAt": later(at, ended[0]) if ended else None,
        "title": told["title"],
        "body": versions[-1][1] if versions else told.get("body", ""),
        "includesCreatedEdit": bool(versions),
        "isDraft": told.get("draft", False) and not told.get("timeline"),
        "baseRefOid": sha(number, "base"),
        "author": actor(told["by"]),
        "files": [{"path": path} for path in told.get("files", ())],
        "userContentEdits": [
            {"id": f"UCE_{number}_{minutes}", "editedAt": later(at, minutes), "diff": body, "editor": actor(told["by"])}
            for minutes, body in reversed(versions)
        ],
        "reviewThreads": threads,
        "reviews": reviews,
        "comments": comments,
        "commits": commits,
        "timelineItems": sorted(timeline, key=_time),
    }


def _time(item: dict) -> str:
    return item.get("createdAt") or item.get("submittedAt") or item["commit"].get("committedDate", "9")


def in_line(commits: list[dict]) -> list[dict]:
    """The commits, each upon the one before, the first upon the base, unless they say otherwise."""
    names = ["base", *(each["name"] for each in commits)]
    return [{"upon": before, **each} for before, each in zip(names, commits, strict=False)]


def commit(number: int, at: str, told: dict) -> dict:
    login = told["by"]
    author = {"name": login or "somebody", "user": {"__typename": "User", "login": login} if login else None}
    fields = {"oid": sha(number, told["name"]), "committedDate": later(at, told["after"]), "author": author}
    parents = [{"oid": parent} for parent in told.get("parents", [sha(number, told["upon"])])]
    return {"id": f"PRC_{number}_{told['name']}", "commit": {**fields, "parents": parents}}


def thread(url: str, at: str, told: dict, first: str, head: str, ids: Numbers) -> dict:
    outdated = told.get("outdated", False)
    line, start = told["line"], told.get("start")
    made_on = {"oid": sha(0, "gone") if told.get("gone") else first}
    said = [[told["by"], told["after"], told["note"], told.get("reactions")], *told.get("replies", ())]
    comments: list[dict] = []
    for by, minutes, body, *reactions in said:
        node = f"discussion_r{ids()}"
        comments.append({
            "id": f"PRRC_{node}",
            "url": f"{url}#{node}",
            "body": body,
            "createdAt": later(at, minutes),
            "publishedAt": later(at, max(minutes, told.get("submitted", minutes))),
            "state": told.get("state", "SUBMITTED"),
            "outdated": outdated,
            "author": actor(by),
            "commit": made_on if outdated else {"oid": head},
            "originalCommit": made_on,
            "replyTo": {"url": comments[0]["url"]} if comments else None,
            "reactionGroups": groups(reactions[0] if reactions else None),
        })  # fmt: skip
    return {
        "id": f"PRRT_{ids()}",
        "isResolved": told.get("resolved", False),
        "isOutdated": outdated,
        "path": told["path"],
        "line": None if outdated else line,
        "startLine": None if outdated else start,
        "originalLine": told.get("original", line),
        "originalStartLine": start,
        "diffSide": told.get("side", "RIGHT"),
        "subjectType": "FILE" if line is None else "LINE",
        "comments": comments,
    }


def review(url: str, at: str, told: list, head: str, ids: Numbers) -> dict:
    by, minutes, state, body = told
    node = f"pullrequestreview-{ids()}"
    submitted = None if state == "PENDING" else later(at, minutes)
    fields = {"id": f"PRR_{node}", "url": f"{url}#{node}", "body": body, "state": state, "submittedAt": submitted}
    return {**fields, "author": actor(by), "commit": {"oid": head}, "reactionGroups": groups(None)}


def issue_comment(url: str, at: str, told: list, ids: Numbers) -> dict:
    by, minutes, body = told
    node = f"issuecomment-{ids()}"
    fields = {"id": f"IC_{node}", "url": f"{url}#{node}", "body": body, "createdAt": later(at, minutes)}
    return {**fields, "author": actor(by), "reactionGroups": groups(None)}


def event(number: int, at: str, told: list) -> dict:
    kind, minutes, by, *more = told
    fields = {
        "__typename": kind,
        "id": f"{kind}_{number}_{minutes}",
        "createdAt": later(at, minutes),
        "actor": actor(by),
    }
    if kind.startswith("ReviewRequest"):
        team = more[0] is not None and "/" in more[0]
        fields["requestedReviewer"] = {"__typename": "Team", "combinedSlug": more[0]} if team else actor(more[0])
    if kind == "RenamedTitleEvent":
        fields |= {"previousTitle": more[0], "currentTitle": more[1]}
    if kind == "ReviewDismissedEvent":
        fields |= {"previousReviewState": more[0], "review": {"id": more[1]}}
    return fields


def all_commits(pull: dict) -> list[dict]:
    """Those of the pull request, and the others that the server has: replaced by a force push, or of the base."""
    return [*in_line(pull.get("commits", ())), *in_line(pull.get("other_commits", ()))]


def patches(pulls: list[dict]) -> dict[str, list[dict]]:
    """What each commit changed, by its hash, as REST has it."""
    return {
        sha(pull["number"], each["name"]): each["files"]
        for pull in pulls
        for each in all_commits(pull)
        if "files" in each
    }


def rest_commits(pulls: list[dict]) -> dict[str, dict]:
    """All else that REST tells of each commit, by its hash."""
    return {
        sha(pull["number"], each["name"]): _rest_commit(commit(pull["number"], pull["at"], each)["commit"])
        for pull in pulls
        for each in all_commits(pull)
    }


def _rest_commit(node: dict) -> dict:
    author, at = node["author"], node["committedDate"]
    return {
        "commit": {"author": {"name": author["name"], "date": at}, "committer": {"name": "GitHub", "date": at}},
        "author": author["user"] and {"login": author["user"]["login"]},
        "parents": [{"sha": parent["oid"]} for parent in node["parents"]],
    }


def sample_server(**options: object) -> GitHubServer:
    """The invented repository of examples/github, which docs/github.md is about."""
    sample = json.loads(SAMPLE.read_text("utf-8"))
    pulls = sample["pull_requests"]
    served = {"patches": patches(pulls), "commits": rest_commits(pulls)}
    return GitHubServer(repository(pulls, sample["repository"]), **served, **options)
