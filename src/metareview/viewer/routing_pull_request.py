"""The page of a pull request in a routing run: what happened when, and whom each router named, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from metareview.model.event import fold
from metareview.report.names import clean, excerpt
from metareview.report.numbers import count, ranked
from metareview.report.page.blocks import Section, behind, facts, name, paragraph, tag
from metareview.report.page.markup import Html, html, join
from metareview.routing.records import RouterAnswer, RoutingRecord
from metareview.runs.run import RoutingRun
from metareview.viewer.links import steps
from metareview.viewer.page import Page
from metareview.viewer.routing import STATES, rank_tag
from metareview.viewer.run_view import RunView
from metareview.viewer.timeline import moments, timeline

MOST_EVIDENCE, MOST_NOTES, _NOTE = 20_000, 20, 400
_ROUTER = '<article class="card"><div class="head"><h3>{}</h3> {}</div>\n{}</article>\n'
_PERSON = '<li{}><bdi>{}</bdi>{}<span class="muted">{}</span></li>'
_RIGHT = Html(' class="right"')
_DECLARED = {"issue": "Names an issue", "ai_disclosure": "Discloses the use of AI", "provenance": "Declares provenance"}


def routing_pull_request_page(run: RunView, pr: str, *, query: Mapping[str, str]) -> Page:
    """`pr` is `owner/name#7`; nothing of the query is needed."""
    crumbs = [("Runs", "/"), (run.title, run.address())]
    found = run.record_of(pr)
    if not isinstance(found, RoutingRecord):
        return Page(pr, paragraph("This run has nothing on this pull request."), crumbs)
    routing: RoutingRun = run.run
    config = routing.result.config
    routers = ranked(routing.metrics, "mrr")
    cards = [_router(routing, found, router) for router in routers if router in found.answers]
    text = paragraph(
        "Each list as it was at the cutoff, without the author, bots and whoever else is not eligible; "
        "the right person is marked."
    )
    lists = html('{}<div class="lists">{}</div>\n', text, cards)
    parts = [
        steps(run, pr, {}),
        _facts(found),
        Section("timeline", "What happened when", timeline(found, moments(found, config))).markup(),
        Section("routers", "Whom each router named", lists).markup(),
    ]
    return Page(pr, join(parts), crumbs)


def _facts(record: RoutingRecord) -> Html:
    truth = record.truth
    right = name(", ".join(truth.targets)) if truth.targets else html("{}", STATES[truth.state].capitalize())
    figures: list[tuple[str, object]] = [("Right person", right), ("Author", name(record.author or "unknown"))]
    figures += [(title, "yes" if getattr(record.declarations, key) else "no") for key, title in _DECLARED.items()]
    figures += [("Merged by the cutoff", "yes" if record.merged else "no")]
    if record.merged_within is not None:
        figures.append(("Merged in time", "yes" if record.merged_within else "no"))
    return facts(*figures)


def _router(routing: RoutingRun, record: RoutingRecord, router: str) -> Html:
    answer = record.answers[router]
    tags = [rank_tag(routing, record, router, max(routing.result.config.k))]
    if answer.risk != "unknown":
        tags.append(tag(f"{answer.risk} risk", {"high": "bad", "medium": "warn"}.get(answer.risk, "")))
    return html(_ROUTER, name(router), join(tags, " "), list(_answer(record, answer)))


def _answer(record: RoutingRecord, answer: RouterAnswer) -> Iterator[Html]:
    right = {fold(target) for target in record.truth.targets}
    people = []
    scores = answer.scores or ()
    for position, person in enumerate(answer.candidates):
        score = f" {scores[position]:.3g}" if position < len(scores) else ""
        is_right = fold(person) in right
        told = html(" {}", tag("right person", "good")) if is_right else None
        people.append(html(_PERSON, _RIGHT if is_right else None, person, told, score))
    yield html('<ol class="people">{}</ol>', people) if people else paragraph("Nobody.", css="muted")
    if answer.listed > len(people):
        beyond = f" The right person is at rank {answer.rank:,}." if answer.rank > len(people) else ""
        yield paragraph(f"{count(answer.listed - len(people))} more on the list.{beyond}", css="where")
    if answer.notes:
        notes = [html("<li>{}</li>", name(excerpt(each, _NOTE))) for each in answer.notes[:MOST_NOTES]]
        yield html("<h4>Notes</h4><ul>{}</ul>", notes)
    if answer.evidence is not None:
        written = clean(json.dumps(answer.evidence, ensure_ascii=False, indent=1))
        more = " …" if len(written) > MOST_EVIDENCE else ""
        yield behind("Evidence", html('<pre class="evidence" tabindex="0">{}{}</pre>', written[:MOST_EVIDENCE], more))
