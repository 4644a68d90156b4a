"""Small runs for the report's tests: real ones through the pipeline, and a routing run as its folder holds it."""

import json

import numpy as np

from metareview.api import evaluate_comments
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer, Judge
from metareview.model.time import parse_time
from metareview.routing.answers import rank_worth
from metareview.routing.load import Load, PersonLoad, Spread
from metareview.routing.measures import rank_measures
from metareview.routing.queue import QueueTimes
from metareview.routing.records import Declarations, RouterAnswer, RoutingRecord, Truth
from metareview.routing.summary import (
    DeclarationRates,
    MergedRates,
    RouterSummary,
    RoutingConfig,
    RoutingSummary,
    TruthCounts,
)
from metareview.runs.routing_kind import KIND as ROUTING
from metareview.runs.run import Manifest, Run

HOSTILE = (
    "<script>alert('note')</script> </style></p><img src=x onerror=alert(1)>",
    "x" * 100_000,
    "הערה מימין לשמאל \u202eevil\u202c עם English באמצע",
    "🚀 ship it 👩‍👩‍👧‍👦 \x00\x1b[31m\ud800",
    "=cmd|' /C calc'!A0",
    "word " * 300,
)


def pull(number):
    return f"https://github.com/Owner/Repo/pull/{number}"


def comment(note, line=1, **fields):
    return {"note": note, "path": "src/a.py", "side": "right", "from_line": line, "to_line": line, **fields}


def write_jsonl(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


class PlainJudge(Judge):
    """Equal notes are the same; a note with "open" in it stays undecided."""

    name = "plain"

    def judge(self, questions):
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        verdicts = []
        for g, r in question.pairs.tolist():
            said = question.generated[g]
            verdicts.append(UNDECIDED if "open" in said else SAME if said == question.reference[r] else DIFFERENT)
        match = np.array(verdicts, np.int8)
        score = np.where(match == UNDECIDED, np.nan, np.where(match == SAME, 0.9, 0.2)).astype(np.float64)
        return Answer(score, match, reason=["said <b>plainly</b>"] * len(verdicts), by="model")


def two_reviewers(folder, *, out=None):
    """Two pull requests, two references each, and negatives.

    `sharp` raises the references at lines 1 and 30 of #1 and one of #2 and says nothing else: P 1, R 3/4, F1 6/7.
    `loud` raises one, repeats a rejected comment, leaves one pair open and adds noise: P 1/4, R 1/4, F1 1/4.
    """
    references = write_jsonl(
        folder / "references.jsonl",
        [
            {
                "pr": pull(1),
                "language": "Go",
                "pr_category": "Bug Fix",
                "comments": [
                    comment("leaks the handle", 1, category="Code Defect", severity="High"),
                    comment("slow loop", 30, category="Performance", severity="Low"),
                ],
            },
            {
                "pr": pull(2),
                "language": "Rust",
                "pr_category": "Bug Fix",
                "comments": [comment("no bounds check", 5, category="Code Defect"), comment("dead code", 60)],
            },
        ],
    )
    negatives = write_jsonl(folder / "negatives.jsonl", [{"pr": pull(1), "comments": [comment("rename it", 80)]}])
    write_jsonl(
        folder / "reviews" / "sharp" / "comments.jsonl",
        [
            {"pr": pull(1), "comments": [comment("leaks the handle", 1), comment("slow loop", 30)]},
            {"pr": pull(2), "comments": [comment("no bounds check", 5)]},
        ],
    )
    write_jsonl(
        folder / "reviews" / "loud" / "comments.jsonl",
        [
            {"pr": pull(1), "comments": [comment("leaks the handle", 1), comment("rename it", 80)]},
            {"pr": pull(2), "comments": [comment("open question", 5), comment("nice", 200)]},
        ],
    )
    return evaluate_comments(folder / "reviews", reference=references, negatives=negatives, judge=PlainJudge(), out=out)


def hostile(folder, *, out=None):
    """One pull request whose comments, references, names and warnings try to be markup."""
    name = '<b>rude</b>" onload="x'
    references = [comment(note, 1 + 50 * k, category="<i>odd</i>") for k, note in enumerate(HOSTILE)]
    reference = write_jsonl(folder / "references.jsonl", [{"pr": pull(1), "language": "<u>", "comments": references}])
    said = [comment(note, 1 + 50 * k) for k, note in enumerate(HOSTILE)]
    said += [comment("javascript:alert(1)", 1000, path="<path>")]
    rows = [{"pr": pull(1), "reviewer": name, "comments": said}]
    rows += [{"pr": pull(1), "reviewer": "@second|=1", "comments": []}]
    return evaluate_comments(write_jsonl(folder / "said.jsonl", rows), reference=reference, judge="exact", out=out)


_WORTH = rank_worth(rank_measures((1, 3, 5)))


def _answers(*routers):
    return {
        name: RouterAnswer(tuple(candidates), None, len(candidates), rank, risk, _WORTH(rank))
        for name, (candidates, rank, risk) in zip(("first", "=second"), routers, strict=True)
    }


def _routing_record(number, targets, answers):
    opened = parse_time("2026-01-01T00:00:00Z")
    return RoutingRecord(
        repo="owner/repo",
        pr=number,
        author="ann",
        created_at=opened,
        cutoff=opened,
        truth=Truth("observed" if targets else "no_response", tuple(targets)),
        ttfr_seconds=5400.0 if targets else None,
        ttfc_seconds=None,
        declarations=Declarations(issue=True, ai_disclosure=False, provenance=False),
        merged=False,
        merged_within=None,
        answers=answers,
    )


def _waited(n, reviewed):
    hours = 5400.0 if reviewed else None
    return QueueTimes(n, reviewed, n - reviewed, hours, hours, hours, None, None, None)


def _router(figures, observed, queue, gini=0.25):
    names = [measure.name for measure in rank_measures((1, 3, 5))]
    return RouterSummary(
        metrics=dict(zip(names, figures, strict=True)),
        intervals=dict.fromkeys(names, (0.0, 0.6)),
        answered=3,
        observed_prs=2,
        observed_metrics=dict(zip(names, observed, strict=True)),
        queue=queue,
        load=Load(gini, 2 / 3, Spread(0.5, 0.5), 4, (PersonLoad("bob", 2, 1), PersonLoad("cy", 1, 1))),
    )


def routing_run():
    """Three pull requests, two routers. `first`: ranks 1, 2, none, so MRR 0.5; `=second`: rank 12 once, MRR 1/36."""
    records = [
        _routing_record(1, ["<bob>"], _answers((["<bob>", "cy"], 1, "low"), (["cy"], 0, "unknown"))),
        _routing_record(2, ["cy"], _answers((["<bob>", "cy"], 2, "high"), (["cy", "<bob>"], 12, "unknown"))),
        _routing_record(3, [], _answers((["dee"], 0, "high"), ([], 0, "unknown"))),
    ]
    empty = _waited(0, 0)
    queues = {
        "first": {"low": _waited(1, 1), "medium": empty, "high": _waited(2, 1), "unknown": empty},
        "=second": {"low": empty, "medium": empty, "high": empty, "unknown": _waited(3, 2)},
    }
    config = RoutingConfig(
        cutoff="created_at",
        truth="first_response",
        truth_window="60m",
        include_bots=False,
        include_author=False,
        k=(1, 3, 5),
        merged_within=None,
        ttfc=False,
        reviews_visible_at="event",
        since=None,
        until=None,
        repos=(),
        prs=(),
        limit=None,
        routers=("first", "=second"),
        codeowners=None,
    )
    summary = RoutingSummary(
        config=config,
        prs=3,
        truth=TruthCounts(2, 1, 0),
        routers={
            "first": _router((1 / 3, 2 / 3, 2 / 3, 0.5), (0.5, 1.0, 1.0, 0.75), queues["first"]),
            "=second": _router((0.0, 0.0, 0.0, 1 / 36), (0.0, 0.0, 0.0, 1 / 24), queues["=second"]),
        },
        declarations=dict.fromkeys(
            ("issue", "ai_disclosure", "provenance"), DeclarationRates(0, 3, MergedRates(None, 0.0))
        ),
        warnings=("codeowners left out: it needs --codeowners FILE <now>",),
    )
    manifest = Manifest("routing", {}, {}, started="2026-01-01T00:00:00+00:00", status="finished")
    return Run(ROUTING, summary, manifest, None, records)
