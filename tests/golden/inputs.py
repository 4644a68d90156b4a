"""The inputs that the commands need and nobody publishes, written into the working folder: the same for everybody.

Those made from published data stay in that folder: nothing of them is committed.
"""

from __future__ import annotations

import difflib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Origins:
    """The sample benchmark of the package, and the folder of published data."""

    demo: Path
    shared: Path


@dataclass(frozen=True, slots=True)
class Input:
    """`write` makes the file, or folder, from the samples or, if `shared`, from published data."""

    write: Callable[[Path, Origins], None]
    shared: bool


INPUTS: dict[str, Input] = {}


def _made(name: str, *, shared: bool) -> Callable[[Callable[[Origins], str]], None]:
    def register(text: Callable[[Origins], str]) -> None:
        INPUTS[name] = Input(lambda path, origins: _write(path, text(origins)), shared)

    return register


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _lines(rows: Iterable[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _read(path: Path) -> list | dict:
    return json.loads(path.read_text("utf-8"))


def _thinned(note: str, every: int) -> str:
    """The note without every so many-th word."""
    return " ".join(word for at, word in enumerate(_WORD.findall(note), 1) if at % every)


# -- from the sample benchmark ---------------------------------------------------------------------------


@_made("github.json", shared=False)
def _github(origins: Origins) -> str:
    """References as two people's comments in GitHub's form: some outdated, some on whole files, some replies."""
    comments = []
    for review in _read_lines(origins.demo / "references.jsonl"):
        owner, repo, _, number = review["pr"].split("/")[-4:]
        for position, reference in enumerate(review["comments"]):
            outdated = "original_" if position % 4 == 1 else ""
            comment = {
                "id": 100 * int(number) + position,
                "pull_request_url": f"https://api.github.com/repos/{owner}/{repo}/pulls/{number}",
                "diff_hunk": "@@ -1 +1 @@",
                "user": {"login": ("ada", "ben")[position % 2]},
                "body": _thinned(reference["note"], 2 + position),
                "path": reference["path"],
                "side": "RIGHT",
                "line": None,
                f"{outdated}line": reference["to_line"] + position // 2,
                f"{outdated}start_line": reference["from_line"] if position % 3 else None,
                "subject_type": "file" if position == 5 else "line",
            }
            comments.append(comment)
            if position == 2:
                comments.append(comment | {"id": comment["id"] + 50, "in_reply_to_id": comment["id"]})
    return json.dumps([comments[:20], comments[20:]])


@_made("unsound.jsonl", shared=False)
def _unsound(origins: Origins) -> str:
    """Negatives that are references too."""
    return (origins.demo / "references.jsonl").read_text("utf-8")


@_made("text.jsonl", shared=False)
def _text(origins: Origins) -> str:
    rejected = {
        review["pr"]: [comment["note"] for comment in review["comments"]]
        for review in _read_lines(origins.demo / "negatives.jsonl")
    }
    items = []
    for review in _read_lines(origins.demo / "references.jsonl"):
        notes = [comment["note"] for comment in review["comments"]]
        retrieved = [note if at % 2 else _thinned(note, 2 + at) for at, note in enumerate(notes[:-1])]
        retrieved += [f"{notes[0]} {notes[-1]}", *rejected.get(review["pr"], [])]
        items.append({"retrieved_context": retrieved, "ground_truth_context": notes})
    items.append({"retrieved_context": [], "ground_truth_context": ["Nothing was retrieved."]})
    items.append({"retrieved_context": ["Nothing was to be found."], "ground_truth_context": []})
    items.append({"retrieved_context": [], "ground_truth_context": []})
    return _lines(items)


@_made("repeated.jsonl", shared=False)
def _repeated(origins: Origins) -> str:
    """One reviewer that ran three times, not always on every pull request, and one that ran once."""
    reviews = []
    for at, review in enumerate(_read_lines(origins.demo / "references.jsonl")):
        for run in range(1, 4):
            said = [
                _placed(comment, _thinned(comment["note"], 3 + run))
                for position, comment in enumerate(review["comments"])
                if (at + position) % 4 != run
            ]
            if (at + run) % 3 == 0:
                said += [_placed(review["comments"][0], f"Something else, said {word}.") for word in ("once", "twice")]
            if at % 6 != run:
                reviews.append({"pr": review["pr"], "reviewer": "shaky", "run": f"run-{run}", "comments": said})
        once = [_placed(comment, comment["note"]) for comment in review["comments"][:2]]
        reviews.append({"pr": review["pr"], "reviewer": "steady", "comments": once})
    return _lines(reviews)


@_made("costs.jsonl", shared=False)
def _costs(origins: Origins) -> str:
    """Two reviewers that say what their reviews took: one of every pull request, one of two in three. The first says
    everything twice."""
    reviews = []
    for at, review in enumerate(_read_lines(origins.demo / "references.jsonl")):
        said = [_placed(comment, comment["note"]) for comment in review["comments"]]
        took = {"cost": 0.25 + 0.125 * at, "tokens": 1000 * (at + 1), "seconds": 30 + 7 * at % 40}
        reviews.append({"pr": review["pr"], "reviewer": "dear", "comments": said[::2] * 2, **took})
        took = {"cost": 0.125, "seconds": 4.5} if at % 3 else {}
        reviews.append({"pr": review["pr"], "reviewer": "cheap", "comments": said[1::2], **took})
    return _lines(reviews)


def _placed(comment: dict, note: str) -> dict:
    return {"note": note, **{key: comment[key] for key in ("path", "side", "from_line", "to_line")}}


# -- pull requests of our own, from the first commit to the merge ----------------------------------------


@_made("outcomes.jsonl", shared=False)
def _outcomes(origins: Origins) -> str:
    """Twenty pull requests with a bot, a second one on half of them, and a person: lines that change, move or stay,
    suggestions, answers, reactions, threads that nobody resolves, comments on files and on nothing."""
    return _lines(row for number in range(1, 21) for row in _commented(number))


def _commented(number: int) -> Iterator[dict]:
    draw = random.Random(number)
    path, opened = f"src/part{number % 3}.py", datetime(2026, 1, 5, 9, tzinfo=UTC) + timedelta(days=3 * number)
    first = [f"value_{line} = {line * number}" for line in range(1, 13)]
    second = [f"{line}  # checked" if draw.random() < 0.4 else line for line in first]
    second = ["import math", *second] if number % 2 else second

    def at(hours: float) -> str:
        return (opened + timedelta(hours=hours)).isoformat()

    def commit(sha: str, hours: float, before: list[str], after: list[str], parent: str) -> dict:
        patch = "\n".join(list(difflib.unified_diff(before, after, lineterm=""))[2:])
        file = {"path": path, "status": "modified" if before else "added", "patch": patch}
        author = {"author": "ann", "parents": [f"{parent}{number:02}0000"]}
        return {"sha": f"{sha}{number:02}0000", "at": at(hours), **author, "files": [file] if patch else []}

    def said(identity: int, line: int | None, note: str, **more: object) -> dict:
        place = {} if line is None else {"from_line": line, "to_line": line}
        made = {"id": f"{number}-{identity}", "path": path, **place, "note": note, "at": at(1 + 0.1 * identity)}
        reactions = {"+1": int(draw.random() * 2), "-1": int(draw.random() * 2)}
        seen = {"commit": f"c{number:02}0000", "resolved": draw.random() < 0.5, "reactions": reactions}
        return made | seen | {"severity": ("low", "high")[identity % 2]} | more

    commits = [commit("c", 0, [], first, "b"), commit("d", 5, first, second, "c")]
    known = {"author": "ann", "merged_at": at(20), "commits": commits}
    suggestion = f"Say that it was checked:\n```suggestion\n{first[6]}  # checked\n```"
    notes = ["The number is not explained.", suggestion, "The number is not explained.", "No tests."]
    lines = [1 + number % 5, 7, 1 + number % 5, None]
    bot = [said(identity, line, note) for identity, (line, note) in enumerate(zip(lines, notes, strict=True), 1)]
    pr = {"pr": f"https://github.com/example/tool/pull/{number}"}
    yield {**pr, "reviewer": "first[bot]", **known, "comments": bot[: 2 + number % 3]}
    if number % 2:
        yield {**pr, "reviewer": "second[bot]", "comments": [said(5, 3, "Is this right?", category="Code Defect")]}
    yield {**pr, "reviewer": "dora", "comments": [said(6, 9, "Why this value?")]}
    if number % 4:
        reply = {"id": f"{number}-7", "in_reply_to": f"{number}-1", "path": path, "note": "Done.", "at": at(2)}
        yield {**pr, "reviewer": "ann", "comments": [reply]}


# -- a history of our own, with everything that the published ones lack ----------------------------------

_PEOPLE = ("ada", "ben", "Cleo", "dan", "eve", "finn")
_FOLDERS = ("src/core", "src/net/http", "docs", "tests/unit", "web/app")
_BODIES = (
    "Fixes #{n}. @{person}, could you have a look?",
    "## AI disclosure\nWritten with the help of an assistant.\n\nCode provenance: our own.",
    "No issue, just a tidy-up.",
    "See example/tool#{n}\n\n```\n@{person} #{n} in code does not count\n```",
    "Provenance: moved from an older module. Generated with Codex: partly.",
)


@_made("history.jsonl", shared=False)
def _history(origins: Origins) -> str:
    """Ninety pull requests of two repositories over seven months: more than routers look back."""
    events = [event for number in range(1, 91) for event in _pull_request(number)]
    return _lines(sorted(events, key=lambda event: event["at"]))


def _pull_request(number: int) -> Iterator[dict]:
    draw = random.Random(number)

    def one_of(values: tuple[str, ...]) -> str:
        return values[int(draw.random() * len(values))]

    def happen(hours: float, kind: str, actor: str | None, **more: object) -> dict:
        at = opened + timedelta(hours=hours)
        bot = {"actor_type": "Bot"} if actor == "Helper" else {}
        identity = f"{number}-{kind}-{hours:.3f}"
        event = {"repo": repo, "pr": number, "at": at.isoformat(), "kind": kind, "actor": actor, "id": identity}
        return event | bot | more

    repo = ("example/tool", "example/site")[number % 2]
    opened = datetime(2024, 3, 1, tzinfo=UTC) + timedelta(hours=60 * number + 7 * draw.random())
    author = one_of(_PEOPLE)
    folder = _FOLDERS[(number // 3) % len(_FOLDERS)]
    files = [f"{folder}/part{int(draw.random() * 6)}.{kind}" for kind in ("py", "md")[: 1 + number % 2]]
    body = one_of(_BODIES).format(n=number, person=one_of(_PEOPLE))
    sha = f"{number % 3:040x}"
    draft = number % 5 == 0
    yield happen(0, "opened", author, title=f"Change {number}", body=body, files=files, draft=draft, base_sha=sha)
    yield happen(0.05, "comment", "ci[bot]")
    if draft:
        yield happen(0.4, "ready_for_review", author)
    if number % 4 == 0:
        yield happen(0.2, "edited", author, body=f"{body}\n\nCloses #{number + 1}")
        yield happen(0.3, "pushed", author, files=[*files, "src/core/extra.py"])
    if number % 6 == 0:
        yield happen(0.25, "review_requested", author, target=one_of(_PEOPLE))
    # Whoever knows the folder answers most often, so that routers have something to find.
    expert = _PEOPLE[_FOLDERS.index(folder)]
    for answer in range(int(draw.random() * 5)):
        person = expert if draw.random() < 0.6 else one_of((*_PEOPLE, "Helper"))
        kind = one_of(("review_submitted", "review_comment", "comment"))
        state = {"state": one_of(("APPROVED", "CHANGES_REQUESTED", "COMMENTED"))} if kind == "review_submitted" else {}
        yield happen(0.5 + 9 * answer * draw.random(), kind, person.upper() if answer == 3 else person, **state)
    if number % 9 == 0:
        yield happen(1.5, "comment", None)
    if number % 7:
        yield happen(40 + 20 * draw.random(), ("merged", "merged", "closed")[number % 3], author)


@_made("CODEOWNERS", shared=False)
def _codeowners(origins: Origins) -> str:
    return (
        "* @finn\n/src/ @ada @ben\nsrc/net/** @ben @example/network\n*.md @Cleo\n/tests/ @dan cleo@example.org\n"
        "/web/app/part1.py\n!broken @eve\n/web/ @eve # the site\n"
    )


def _owners(folder: Path, origins: Origins) -> None:
    """Rules that differ from commit to commit; one commit of each repository has none."""
    for repo in ("example/tool", "example/site"):
        for commit, rules in enumerate(("/src/ @ada @ben\n/docs/ @Cleo\n", "* @eve\n*.py @dan @ada\n")):
            _write(folder / repo / f"{commit:040x}" / "CODEOWNERS", rules)


INPUTS["owners"] = Input(_owners, shared=False)


# -- from published data ---------------------------------------------------------------------------------


def _aacr(origins: Origins, name: str) -> list[dict]:
    return _read(origins.shared / "aacr" / f"{name}_samples.json")


def _moved(comment: dict, lines: int, note: str | None = None) -> dict:
    """The comment some lines further down, or up, with another note if one is given."""
    ends = {end: None if comment[end] is None else max(1, comment[end] + lines) for end in ("from_line", "to_line")}
    return {"path": comment["path"], "side": comment["side"], "note": note or comment["note"], **ends}


@_made("aacr-reviews.jsonl", shared=True)
def _aacr_reviews(origins: Origins) -> str:
    """Two reviewers: one is near the references and repeats rejected comments; one is loose, repeats itself, and
    says nothing on a tenth of the pull requests."""
    rejected = {review["githubPrUrl"]: review["comments"] for review in _aacr(origins, "negative")}
    reviews = []
    for at, review in enumerate(_aacr(origins, "positive")):
        url, comments = review["githubPrUrl"], review["comments"]
        near = [
            _moved(comment, position % 4, comment["note"] if position % 2 else _thinned(comment["note"], 5))
            for position, comment in enumerate(comments)
            if position % 3
        ]
        near += [_moved(comment, 0) for comment in rejected.get(url, [])[::2]]
        reviews.append({"pr": url, "reviewer": "near", "comments": near})
        loose = [
            _moved(comment, position % 7 - 3, _thinned(comment["note"], 2 + position % 4))
            for position, comment in enumerate(comments)
            if position % 2 == 0
        ]
        if at % 10:
            reviews.append({"pr": url, "reviewer": "loose", "comments": loose[::-1] + loose[:1]})
    return _lines(reviews)


def _one_bot(origins: Origins, keeps: Callable[[int, int], bool]) -> str:
    return _lines(
        {
            "pr": review["githubPrUrl"],
            "reviewer": "bot",
            "comments": [
                _moved(comment, 0, comment["note"] if (at + position) % 5 else "Something else.")
                for position, comment in enumerate(review["comments"])
                if keeps(at, position)
            ],
        }
        for at, review in enumerate(_aacr(origins, "positive"))
    )


@_made("aacr-early.jsonl", shared=True)
def _early(origins: Origins) -> str:
    return _one_bot(origins, lambda at, position: position % 3 == 0)


@_made("aacr-late.jsonl", shared=True)
def _late(origins: Origins) -> str:
    return _one_bot(origins, lambda at, position: position % 3 == at % 2 or position % 4 == 3)


@_made("text-aacr.jsonl", shared=True)
def _text_aacr(origins: Origins) -> str:
    rejected = {review["githubPrUrl"]: review["comments"] for review in _aacr(origins, "negative")}
    return _lines(
        {
            "retrieved_context": [comment["note"] for comment in rejected[review["githubPrUrl"]]],
            "ground_truth_context": [comment["note"] for comment in review["comments"]],
        }
        for review in _aacr(origins, "positive")[:60]
        if review["githubPrUrl"] in rejected
    )


def _labels(origins: Origins) -> Iterator[dict]:
    """A pair matches if the model listed it; it does not if the model listed one of its notes as unmatched."""
    martian = origins.shared / "martian"
    evaluations, candidates = _read(martian / "evaluations.json"), _read(martian / "candidates.json")
    for project in ("sentry", "grafana", "keycloak"):
        for pull in _read(martian / f"golden_{project}.json"):
            for tool, said in candidates[pull["url"]].items():
                result = evaluations[pull["url"]][tool]
                right = {(hit["golden_comment"], hit["matched_candidate"]) for hit in result["true_positives"]}
                wrong = {miss["candidate"] for miss in result["false_positives"]}
                missed = {miss["golden_comment"] for miss in result["false_negatives"]}
                for reference in pull["comments"]:
                    for candidate in said:
                        pair = (reference["comment"], candidate["text"])
                        if pair in right or pair[1] in wrong or pair[0] in missed:
                            group = f"{pull['url']} {tool}"
                            yield {"a": pair[0], "b": pair[1], "match": pair in right, "group": group}


@_made("labels.jsonl", shared=True)
def _grouped(origins: Origins) -> str:
    return _lines(_labels(origins))


@_made("labels-ungrouped.jsonl", shared=True)
def _ungrouped(origins: Origins) -> str:
    return _lines({**label, "group": None} for label in list(_labels(origins))[::9])


@_made("predictions.jsonl", shared=True)
def _predictions(origins: Origins) -> str:
    """Two routers: `echo` names whoever answered last in the repository, `crowd` whoever answered most. Neither
    answers for every pull request."""
    latest: dict[str, list[str]] = {}
    tallies: dict[str, Counter[str]] = {}
    answers = []
    for event in _read_lines(origins.shared / "routing" / "github-events.jsonl"):
        repo, actor = event["repo"], (event.get("actor") or "").lower()
        last, tally = latest.setdefault(repo, []), tallies.setdefault(repo, Counter())
        if event["kind"] == "opened" and event["pr"] % 11:
            risk = ("low", "medium", "high", None)[len(last) % 4]
            row = {"repo": repo, "pr": event["pr"]}
            answers.append({**row, "router": "echo", "candidates": last[::-1][:6], "risk": risk})
            if event["pr"] % 4:
                most = sorted(tally, key=lambda login: (-tally[login], login))
                answers.append({**row, "router": "crowd", "candidates": most[:4]})
        elif event["kind"] in ("review_submitted", "comment") and actor:
            tally[actor] += 1
            last[:] = [login for login in last if login != actor] + [actor]
    return _lines(answers)


@_made("CODEOWNERS-android", shared=True)
def _codeowners_android(origins: Origins) -> str:
    """Each top folder belongs to the two who voted there most."""
    voters: dict[str, Counter[int]] = {}
    for change in _read_lines(origins.shared / "routing" / "gerrit-android.jsonl"):
        for folder in {path.split("/")[0] for path in change["files"] if "/" in path}:
            voters.setdefault(folder, Counter()).update(vote["userId"] for vote in change["approve_history"])
    lines = [
        f"/{folder}/ {' '.join(f'@{voter}' for voter in sorted(tally, key=lambda v: (-tally[v], v))[:2])}\n"
        for folder, tally in sorted(voters.items())
        if re.fullmatch(r"[\w.-]+", folder)
    ]
    return "".join(lines)
