"""The viewer's application: which page answers which address. All addresses are in one table."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from metareview.errors import MetareviewError
from metareview.report.page.markup import html
from metareview.runs.comments_kind import KIND as COMMENTS
from metareview.runs.kind import Kind
from metareview.runs.labels import LabelFile
from metareview.runs.outcomes_kind import KIND as OUTCOMES
from metareview.runs.run import is_comments, is_outcomes
from metareview.runs.sound import broken_runs_told
from metareview.viewer.catalogue import FINISHED, Catalogue, Entry
from metareview.viewer.changes import changes_page
from metareview.viewer.controls import Query
from metareview.viewer.frame import Tab, page_response, problem_response
from metareview.viewer.labelling import ISSUES, Fields, Labelling, asked_name, draw_sample, keep_answer, take_back
from metareview.viewer.links import number_in
from metareview.viewer.outcome_figures import overview_page
from metareview.viewer.outcome_labelling import OutcomeLabelling, draw_outcomes, keep_outcome, take_back_outcome
from metareview.viewer.outcome_queue_page import outcome_queue_page
from metareview.viewer.outcomes_page import comments_page, outcome_pull_request_page
from metareview.viewer.page import Page
from metareview.viewer.pairs_page import pairs_page
from metareview.viewer.prs_page import prs_page
from metareview.viewer.pull_request import pull_request_page
from metareview.viewer.queue_page import issue_queue_page, pair_queue_page
from metareview.viewer.routing import routing_page
from metareview.viewer.routing_pull_request import routing_pull_request_page
from metareview.viewer.run_page import run_page, sensitivity_page
from metareview.viewer.run_view import RunView
from metareview.viewer.runs_page import runs_fragment, runs_page
from metareview.viewer.safety import Guard
from metareview.viewer.settings import Settings
from metareview.viewer.unfinished_page import unfinished_fragment, unfinished_page

STATIC = {
    "report.css": ("metareview.report.page", "style.css", "text/css"),
    "viewer.css": ("metareview.viewer.static", "viewer.css", "text/css"),
    "pages.css": ("metareview.viewer.static", "pages.css", "text/css"),
    "queue.css": ("metareview.viewer.static", "queue.css", "text/css"),
    "queue.js": ("metareview.viewer.static", "queue.js", "text/javascript"),
    "viewer.js": ("metareview.viewer.static", "viewer.js", "text/javascript"),
    "pages.js": ("metareview.viewer.static", "pages.js", "text/javascript"),
    "icon.svg": ("metareview.viewer.static", "icon.svg", "image/svg+xml"),
}
"""The only files that are served, by name: package, file and type."""
PageOf = Callable[[RunView, Query], Page]
Act = Callable[[Labelling, Fields], None]
OutcomeAct = Callable[[OutcomeLabelling, Fields], None]
_MOST_CHOICES = 200
_INSIDE = re.compile(r"/run/[!-\[\]-~]*")
"""An address of a run in plain characters; a backslash is a slash to some browsers."""


def make_app(catalogue: Catalogue, settings: Settings) -> ASGIApp:
    """The whole viewer of these runs, with its guard before it."""
    site = _Site(catalogue)
    routes = [
        Route("/", site.runs),
        Route("/live", site.live_runs),
        Route("/compare", site.compare),
        Route("/run/{run}", site.of_run(_overview)),
        Route("/run/{run}/live", site.live_run),
        Route("/run/{run}/pairs", site.of_run(pairs_page, COMMENTS)),
        Route("/run/{run}/prs", site.of_run(prs_page, COMMENTS)),
        Route("/run/{run}/comments", site.of_run(comments_page, OUTCOMES)),
        Route("/run/{run}/settings", site.of_run(lambda view, query: sensitivity_page(view), COMMENTS)),
        Route("/run/{run}/label", site.of_run(_label, COMMENTS, OUTCOMES)),
        Route("/run/{run}/unlisted", site.of_run(_queue(issue_queue_page), COMMENTS)),
        Route("/run/{run}/labels", site.write(keep_answer, keep_outcome), methods=["POST"]),
        Route("/run/{run}/undo", site.write(take_back, take_back_outcome), methods=["POST"]),
        Route("/run/{run}/draw", site.write(draw_sample, draw_outcomes), methods=["POST"]),
        Route("/run/{run}/pr/{number}", site.pull_request),
        Route("/static/{name}", _static),
    ]
    handlers = {HTTPException: _http_problem, MetareviewError: _problem, Exception: _defect}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), settings)


def tabs(view: RunView) -> list[Tab]:
    """The pages of a run, as its frame lists them."""
    base = view.address()
    compare = ("Compare", f"/compare?a={view.id}")
    if is_outcomes(view.run):
        return [("Overview", base), ("Comments", f"{base}/comments"), ("Label", f"{base}/label"), compare]
    if not is_comments(view.run):
        return []
    return [
        ("Overview", base),
        ("Pairs", f"{base}/pairs"),
        ("Pull requests", f"{base}/prs"),
        ("Label", f"{base}/label"),
        ("Unlisted", f"{base}/unlisted"),
        ("Other settings", f"{base}/settings"),
        compare,
    ]


class _Site:
    """What answers addresses, over one catalogue. Methods are run in threads, because they read files."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def runs(self, request: Request) -> Response:
        entries = self._catalogue.entries()
        return page_response(runs_page(entries, str(self._catalogue.root), dict(request.query_params)))

    def live_runs(self, request: Request) -> Response:
        return HTMLResponse(runs_fragment(self._catalogue.entries(), dict(request.query_params)))

    def of_run(self, make: PageOf, *kinds: Kind[Any, Any]) -> Callable[[Request], Response]:
        """What answers for a page of one run: the page, or what there is to say of a run that is not finished.

        `kinds`: of the runs that have such a page; none: all have.
        """

        def answer(request: Request) -> Response:
            entry = self._entry(request)
            if entry.status != FINISHED:
                return page_response(unfinished_page(entry))
            view = self._catalogue.open(entry)
            if kinds and view.run.kind not in kinds:
                raise HTTPException(404)
            with broken_runs_told(view.folder):
                return page_response(make(view, dict(request.query_params)), tabs(view), request.url.path)

        return answer

    def write(self, act: Act, of_outcomes: OutcomeAct) -> Callable[[Request], Awaitable[Response]]:
        """What answers for a form that writes: the act, by the kind of run, then the page that the form names."""

        def done(view: RunView, fields: Fields) -> None:
            if is_outcomes(view.run):
                of_outcomes(OutcomeLabelling(view, asked_name(fields)), fields)
            else:
                act(Labelling(view, asked_name(fields)), fields)

        async def answer(request: Request) -> Response:
            given = parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
            return await run_in_threadpool(self._write, request, done, dict(given))

        return answer

    def _write(self, request: Request, act: Callable[[RunView, Fields], None], fields: Fields) -> Response:
        entry = self._entry(request)
        if entry.status != FINISHED:
            raise HTTPException(404)
        view = self._catalogue.open(entry)
        if view.run.kind not in (COMMENTS, OUTCOMES):
            raise HTTPException(404)
        with broken_runs_told(view.folder):
            act(view, fields)
        queue = "unlisted" if fields.get("kind") == ISSUES else "label"
        back = fields.get("next", "")
        # Only to a page of the same run: a form must lead nobody elsewhere.
        inside = _INSIDE.fullmatch(back) and back.startswith(f"{view.address()}/")
        return RedirectResponse(back if inside else f"{view.address()}/{queue}", 303)

    def live_run(self, request: Request) -> Response:
        entry = self._entry(request)
        if entry.status == FINISHED:
            return HTMLResponse(html('<div data-done="1"></div>'))
        return HTMLResponse(unfinished_fragment(entry))

    def pull_request(self, request: Request) -> Response:
        entry = self._entry(request)
        if entry.status != FINISHED:
            return page_response(unfinished_page(entry))
        view, number = self._catalogue.open(entry), number_in(request.path_params, "number", -1)
        if not 0 <= number < len(view.prs):
            raise HTTPException(404)
        pr, query = view.prs[number], dict(request.query_params)
        with broken_runs_told(view.folder):
            if is_comments(view.run):
                labels = LabelFile(view.folder).read().pair_verdicts()
                page = pull_request_page(view, pr, query=query, labels=labels)
            elif is_outcomes(view.run):
                page = outcome_pull_request_page(view, pr, query=query)
            else:
                page = routing_pull_request_page(view, pr, query=query)
            return page_response(page, tabs(view))

    def compare(self, request: Request) -> Response:
        query = dict(request.query_params)
        entries = self._catalogue.entries()
        if not query.get("a"):
            return RedirectResponse("/", 303)
        chosen = [entries.get(query.get(name) or query["a"]) for name in ("a", "b")]
        finished = [entry for entry in chosen if entry is not None and entry.status == FINISHED]
        if len(finished) < 2:
            raise HTTPException(404)
        a, b = map(self._catalogue.open, finished)
        if a.run.kind is not b.run.kind:
            text = f"One is of {a.run.kind.name} and one of {b.run.kind.name}: choose two runs of one kind."
            return problem_response(400, "These two cannot be compared", text)
        alike = (each for each in entries.values() if each.status == FINISHED and each.kind == a.run.kind.name)
        choices = [(each.id, each.place) for each in alike][:_MOST_CHOICES]
        with broken_runs_told(a.folder, b.folder):
            return page_response(changes_page(a, b, query=query, choices=choices))

    def _entry(self, request: Request) -> Entry:
        entry = self._catalogue.entries().get(request.path_params["run"])
        if entry is None:
            raise HTTPException(404)
        return entry


def _overview(view: RunView, query: Query) -> Page:
    if is_outcomes(view.run):
        return overview_page(view)
    return run_page(view) if is_comments(view.run) else routing_page(view, query=query)


def _label(view: RunView, query: Query) -> Page:
    if is_outcomes(view.run):
        return outcome_queue_page(OutcomeLabelling(view, asked_name(query)), query)
    return pair_queue_page(Labelling(view, asked_name(query)), query)


def _queue(make: Callable[[Labelling, Query], Page]) -> PageOf:
    return lambda view, query: make(Labelling(view, asked_name(query)), query)


async def _static(request: Request) -> Response:
    if request.path_params["name"] not in STATIC:
        raise HTTPException(404)
    package, file, kind = STATIC[request.path_params["name"]]
    return Response((files(package) / file).read_bytes(), media_type=kind)


def _http_problem(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 404:
        return problem_response(404, "There is nothing here", "The run may have been moved or deleted since.")
    if status == 405:
        return problem_response(405, "This is not done here", "This page is only read.", {"allow": "GET, HEAD"})
    return problem_response(status, "This cannot be answered", "The request is not one that the viewer knows.")


def _problem(request: Request, error: Exception) -> Response:
    """A file that is wrong, or a request: the message says what, where and how to mend it."""
    return problem_response(422, "This cannot be shown", str(error))


def _defect(request: Request, error: Exception) -> Response:
    return problem_response(500, "A defect of the viewer", "What happened is in the terminal that it was started from.")
