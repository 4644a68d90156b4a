"""Real histories: RevFinder's published figures, and GitHub's events computed a second time in SQL."""

import json
import re
import sqlite3

import pytest
from routing_stories import score_history, summary_of

from metareview.formats.history import read_history
from metareview.runs.routing_json import summary_to_json

PUBLISHED = {"truth": "all_reviewers", "truth_window": "none", "k": (1, 3, 5, 10)}


@pytest.fixture(scope="module")
def android(routing_data):
    return read_history(routing_data / "gerrit-android.jsonl")


def test_revfinder_meets_the_published_figures(android):
    found = summary_of(android, ["revfinder"], reviews_visible_at="creation", **PUBLISHED)
    assert found["truth"] == {"observed": 5126, "no_response": 0, "unknown": 0}
    revfinder = found["routers"]["revfinder"]
    for k, percent in ((1, 46.1), (3, 70.8), (5, 79.4), (10, 87.6)):
        assert 100 * revfinder[f"hit@{k}"] == pytest.approx(percent, abs=0.1)
    assert revfinder["mrr"] == pytest.approx(0.607, abs=0.001)


def test_revfinder_without_the_leak_is_lower_as_the_documentation_says(android):
    revfinder = summary_of(android, ["revfinder"], **PUBLISHED)["routers"]["revfinder"]
    figures = [round(100 * revfinder[f"hit@{k}"], 1) for k in (1, 3, 5, 10)]
    assert figures == [41.1, 65.1, 73.6, 84.5]
    assert round(revfinder["mrr"], 3) == 0.557


@pytest.fixture(scope="module")
def github(routing_data):
    return read_history(routing_data / "github-events.jsonl")


@pytest.fixture(scope="module")
def sql(routing_data):
    """The same events in SQLite, read by nothing of ours: times as whole seconds."""
    database = sqlite3.connect(":memory:")
    database.execute("create table event (pos integer, repo, pr, at integer, kind, actor, bot, id, state, body)")
    with (routing_data / "github-events.jsonl").open(encoding="utf-8") as stream:
        for position, line in enumerate(stream):
            row = json.loads(line)
            values = [position, row["repo"], row["pr"], row["at"], row["kind"], (row.get("actor") or "").lower()]
            values += [row.get("actor_type") == "Bot", row.get("id") or "", row.get("state"), row.get("body")]
            database.execute("insert into event values (?, ?, ?, unixepoch(?), ?, ?, ?, ?, ?, ?)", values)
    database.executescript("""
        create table pull as
            select repo, pr, at as cutoff, actor as author, body from event where kind = 'opened';
        create table eligible as
            select event.*, pull.cutoff from event join pull using (repo, pr)
            where event.actor <> '' and event.actor <> pull.author and not event.bot
              and event.actor not like '%[bot]';
        create index by_pull on eligible (repo, pr, at);
        create index by_kind on event (repo, pr, kind, at);
    """)
    yield database
    database.close()


def keyed(rows):
    return {(repo, pr): value for repo, pr, value in rows}


FIRST = """
    select repo, pr, (
        select actor from eligible e
        where e.repo = p.repo and e.pr = p.pr and e.kind in ('review_submitted', 'review_comment')
          and e.at > p.cutoff and e.at <= p.cutoff + {window}
        order by e.at, e.id, e.pos limit 1)
    from pull p
"""


@pytest.mark.parametrize(("window", "seconds"), [("60m", 3600), ("7d", 7 * 86400)])
def test_truth_equals_sql(github, sql, window, seconds):
    found = score_history(github, ["popularity"], truth_window=window)
    targets = keyed(sql.execute(FIRST.format(window=seconds)))
    assert {
        (record.repo, record.pr): record.truth.targets[0].lower() if record.truth.targets else None
        for record in found.records
    } == targets
    unanswered = [key for key, target in targets.items() if target is None]
    late = {
        (repo, pr)
        for repo, pr in sql.execute(
            "select repo, pr from pull where cutoff + ? > (select max(at) from event)", [seconds]
        )
    }
    assert summary_to_json(found.summary)["truth"] == {
        "observed": len(targets) - len(unanswered),
        "no_response": sum(key not in late for key in unanswered),
        "unknown": sum(key in late for key in unanswered),
    }
    assert summary_to_json(found.summary)["prs"] == 2686


def test_approvals_and_reviewers_equal_sql(github, sql):
    approved = keyed(
        sql.execute("""
            select repo, pr, (select actor from eligible e where e.repo = p.repo and e.pr = p.pr
                and e.kind = 'review_submitted' and e.state = 'APPROVED' and e.at > p.cutoff
                order by e.at, e.id, e.pos limit 1) from pull p""")
    )
    found = score_history(github, ["mentions"], truth="first_approval", truth_window="none")
    assert {
        (record.repo, record.pr): record.truth.targets[0].lower() if record.truth.targets else None
        for record in found.records
    } == approved
    reviewers = {}
    for repo, pr, actor in sql.execute("select repo, pr, actor from eligible where kind = 'review_submitted'"):
        reviewers.setdefault((repo, pr), set()).add(actor)
    found = score_history(github, ["mentions"], truth="all_reviewers", truth_window="none")
    assert {
        (record.repo, record.pr): {target.lower() for target in record.truth.targets}
        for record in found.records
        if record.truth.targets
    } == reviewers


def test_queue_equals_sql(github, sql):
    found = score_history(github, ["mentions"], ttfc=True)
    for name, kinds in (("ttfr_seconds", "'review_submitted'"), ("ttfc_seconds", "'review_comment', 'comment'")):
        waits = keyed(
            sql.execute(f"""
                select repo, pr, (select min(e.at) - p.cutoff from eligible e where e.repo = p.repo
                    and e.pr = p.pr and e.kind in ({kinds}) and e.at >= p.cutoff) from pull p""")
        )
        assert {(record.repo, record.pr): getattr(record, name) for record in found.records} == waits
        some = [wait for wait in waits.values() if wait is not None]
        buckets = summary_to_json(found.summary)["routers"]["mentions"]["queue"].values()
        short = name.removesuffix("_seconds")
        total = sum(bucket[f"{short}_n"] * (bucket[f"{name}_mean"] or 0) for bucket in buckets)
        assert total == pytest.approx(sum(some))
        assert sum(bucket[f"{short}_n"] for bucket in buckets) == len(some) > 0


def test_gate_counts_equal_sql(github, sql):
    found = score_history(github, ["mentions"], merged_within="7d")
    (within,) = sql.execute("""
        select count(*) from pull p where exists (select 1 from event e where e.repo = p.repo and e.pr = p.pr
            and e.kind = 'merged' and e.at <= p.cutoff + 604800)""").fetchone()
    (before,) = sql.execute("""
        select count(*) from pull p where exists (select 1 from event e where e.repo = p.repo and e.pr = p.pr
            and e.kind = 'merged' and e.at <= p.cutoff)""").fetchone()
    for figures in summary_to_json(found.summary)["gates"].values():
        groups = (("missing_n", "merged_rate_missing"), ("present_n", "merged_rate_present"))
        assert sum(figures[n] for n, _ in groups) == figures["n"] == 2686
        assert sum(figures[n] * (figures[rate] or 0) for n, rate in groups) == pytest.approx(before)
        later = figures["merged_within"]
        assert sum(figures[n] * (later[rate] or 0) for n, rate in groups) == pytest.approx(within)


# A second reading of the gates by other means: three substitutions, and patterns for SQL's REGEXP.
SUBJECT = r"(?:AI|LLMs?|codex|cursor|claude|copilot|chatgpt|gemini|devin)"
PATTERNS = {
    "issue": [
        r"(?:^|[\s(\[:,])#[1-9]\d*\b",
        r"[\w.-]+/[\w.-]+#\d+\b",
        r"github\.com/[^\s/]+/[^\s/]+/(?:issues|pull)/\d+",
        r"(?:^|[^\w-])(?!UTF|EIP)[A-Z]{2,}-\d+(?![\w-])",
    ],
    "ai_disclosure": [
        rf"(?im)^(?:#+ |\*\*)[^\n]*\b{SUBJECT}\b (?:disclosure|usage|assistance|prompt)\b[^\n]*\n\s*[^#\s]",
        rf"(?im)^[ \t*-]*\b{SUBJECT}\b[ -](?:used?|usage|assist\w*|generated)\b[^:\n]{{0,9}}:.*\w",
        r"(?i)\b(?:written|generated|drafted|created)\s(?:with|by|using)\s(?:the help of )?"
        rf"(?:[*\[]*OpenAI )?{SUBJECT}\b",
        r"(?i)\bgenerated by an AI agent\b",
        rf"(?im)^\W*{SUBJECT} generated\b|\bI had {SUBJECT} write\b",
    ],
    "provenance": [r"(?im)^\W*(?:code )?(?:provenance|origin|authorship)\b[\w ]*:\s*\w", r"(?im)^#+ .*\bprovenance\b"],
}


def seen(body):
    text = re.sub(r"(?s)<!--.*?-->", "", (body or "").replace("\r", ""))
    text = re.sub(r"(?ms)^\s*```.*?^\s*```\s*$", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


@pytest.mark.parametrize("gate", PATTERNS)
def test_gates_equal_a_second_reading_in_sql(github, sql, gate):
    sql.create_function("seen", 1, seen, deterministic=True)
    sql.create_function("regexp", 2, lambda pattern, text: re.search(pattern, text) is not None)
    condition = " or ".join(["seen(body) regexp ?"] * len(PATTERNS[gate]))
    (present,) = sql.execute(f"select count(*) from pull where {condition}", PATTERNS[gate]).fetchone()
    figures = summary_of(github, ["mentions"])["gates"][gate]
    assert (figures["present_n"], figures["missing_n"]) == (present, 2686 - present)


def test_popularity_equals_sql(github, sql):
    """Everybody's points in the 180 days before each cutoff, and their order."""
    found = score_history(github, ["popularity"])
    query = """
        select max(actor), count(*) as points, max(at) as latest from event
        where repo = ? and kind in ('review_submitted', 'review_comment', 'comment') and actor <> ''
          and not bot and actor not like '%[bot]' and actor <> ? and at <= ? and at >= ? - 180 * 86400
        group by actor order by points desc, latest desc, actor limit 20
    """
    checked = 0
    for record in found.records:
        cutoff = record.cutoff // 10**9
        rows = sql.execute(query, [record.repo, record.author.lower(), cutoff, cutoff]).fetchall()
        answer = record.answers["popularity"]
        assert [login.lower() for login in answer.candidates] == [row[0] for row in rows]
        assert list(answer.scores) == [row[1] for row in rows]
        checked += len(rows)
    assert checked > 500
