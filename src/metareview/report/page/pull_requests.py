"""Every pull request with its comments and references side by side, as far as the page's size allows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from metareview.comments.records import CommentRecord, Comparison, ScoredComment, Verdict
from metareview.model.words import format_score, plural
from metareview.report.names import excerpt, pull_request_name
from metareview.report.numbers import count, of_all
from metareview.report.page.blocks import Section, name, numeric, only_misses, paragraph, remark, table, tag, where
from metareview.report.page.markup import Html, html, join, link
from metareview.report.page.notes import note
from metareview.runs.run import CommentsRun

MOST_SHOWN = 500
"""Pull requests with their pairs."""
MOST_LISTED = 1_000
"""Pull requests and reviewers of which, beyond that, the counts are listed."""
MOST_BYTES = 2_400_000
"""What this section may weigh, so that the page opens quickly; AACR-Bench and its like fit."""
_MOST_REVIEWERS, _MOST_REASON, _MOST_UNDECIDED = 6, 400, 3
_PULL_REQUEST = (
    '<details class="pr{}"><summary><h3>{}</h3> <span class="muted">{}</span></summary>\n<p>{}</p>\n{}</details>\n'
)
_REFERENCE = '<li{}><p class="where"><b>{}</b> {} {} {}</p>{}</li>\n'
_PAIR = '<li class="pair{}"><div><p class="where"><b>Comment</b> {}</p>{}</div>{}</li>\n'
_FOUND = Html(' class="found"')
_OTHER = '<div class="other"><p class="where"><b>{}</b> {}</p>{}</div>'


def pull_request_section(run: CommentsRun, order: Sequence[str]) -> Section:
    """`order`: the reviewers, best first."""
    known: dict[str, int] = {}
    groups: dict[str, list[CommentRecord]] = {}
    for record in run.read_records():
        if not record.skipped and known.setdefault(record.pr, len(known)) < MOST_SHOWN:
            groups.setdefault(record.pr, []).append(record)
    parts: list[Html] = []
    missed: list[int] = []
    weight = 0
    for number, records in enumerate(groups.values(), 1):
        part = _pull_request(number, sorted(records, key=lambda record: order.index(record.reviewer)))
        weight += len(part.encode())
        if weight > MOST_BYTES:
            break
        parts.append(part)
        missed.append(len(_missed(records)))
    text = paragraph(
        "Each comment is beside the reference that it was paired with, or the closest one it was compared with. "
        "References have numbers (R1, R2 …) within their pull request."
    )
    body = join(parts)
    if any(missed):
        among = plural(sum(number > 0 for number in missed), "pull request")
        what = f"Only misses: {plural(sum(missed), 'reference')} that nobody raised, in {among}"
        body = only_misses(what, body)
    rest = _listed(run, {url for url, position in known.items() if position >= len(parts)}, len(known))
    return Section("pull-requests", "Every pull request", join([text, body, rest]))


def _listed(run: CommentsRun, urls: set[str], total: int) -> Html | None:
    """The counts of the pull requests that there was no room for."""
    if not urls:
        return None
    others = (record for record in run.read_records() if not record.skipped and record.pr in urls)
    rows = []
    for record in islice(others, MOST_LISTED):
        counts = record.counts
        figures = map(count, (counts.generated, counts.matched, counts.expected, counts.covered))
        rows.append([link(record.pr, pull_request_name(record.pr)), name(record.reviewer), *figures])
    columns = [("Pull request", ""), ("Reviewer", "name"), *numeric("Comments", "Matched", "References", "Raised")]
    beyond = sum(1 for _ in others)
    more = f" Of these the first {plural(len(rows), 'row')} are listed; {count(beyond)} more are left out."
    text = remark(
        f"To keep this page light, {count(len(urls))} of {plural(total, 'pull request')} are shown without their "
        f"pairs.{more if beyond else ''} The run has it all."
    )
    return join([text, table("The other pull requests", columns, rows)])


class _References:
    """A pull request's references: their labels, and whether each has its anchor on the page yet."""

    def __init__(self, number: int, record: CommentRecord) -> None:
        self._number = number
        self.labels = {reference.position: f"R{k}" for k, reference in enumerate(record.references, 1)}
        self._anchored: set[int] = set()

    def link(self, position: int) -> Html:
        return html('<a href="#p{n}-{label}">{label}</a>', n=self._number, label=self.labels[position])

    def named(self, position: int) -> Html:
        """The label as the target of links, the first time; after that a link to it."""
        if position in self._anchored:
            return self.link(position)
        self._anchored.add(position)
        return html('<span id="p{n}-{label}">{label}</span>', n=self._number, label=self.labels[position])


def _missed(records: Sequence[CommentRecord]) -> set[int]:
    """The references, by position, that nobody raised."""
    raised = {each.position for record in records for each in record.references if each.covered}
    return {each.position for each in records[0].references if each.kept and each.position not in raised}


def _pull_request(number: int, records: Sequence[CommentRecord]) -> Html:
    first = records[0]
    references = _References(number, first)
    about = [first.language, first.pr_category, plural(len(references.labels), "reference"), _tally(records)]
    parts = [_reference_list(records, references), *(_Reviewer(record, references).markup() for record in records)]
    title = pull_request_name(first.pr)
    kind = "" if _missed(records) else " found"
    return html(_PULL_REQUEST, kind, title, _listing(about), link(first.pr, first.pr), parts)


def _listing(parts: Iterable[object]) -> Html:
    """Whatever there is, in one line."""
    return join([part for part in parts if part], " · ")


def _tally(records: Sequence[CommentRecord]) -> Html:
    if len(records) > _MOST_REVIEWERS:
        return html("{} reviewers", len(records))
    who = [[name(record.reviewer), " "] if len(records) > 1 else None for record in records]
    parts = zip(who, map(_matched, records), strict=True)
    return join([html("{}{} matched", *part) for part in parts], " · ")


def _matched(record: CommentRecord) -> str:
    return of_all(record.counts.matched, record.counts.generated, "comment")


def _reference_list(records: Sequence[CommentRecord], references: _References) -> Html:
    """All of them and who raised each; for a lone reviewer, whose matches have theirs beside them, what it missed."""
    raised: dict[int, list[str]] = {}
    for record in records:
        for reference in record.references:
            if reference.covered:
                raised.setdefault(reference.position, []).append(record.reviewer)
    lone, missed = len(records) == 1, _missed(records)
    items = []
    for reference in records[0].references:
        if lone and reference.share == 1:
            continue
        comment, position = reference.comment, reference.position
        verdict = tag("neutral") if comment.neutral else _raised(raised.get(position, []), len(records), reference.kept)
        if reference.kept:
            verdict = join([verdict, *(_found_in(record, position, lone=lone) for record in records)], " ")
        author = comment.author or comment.made_by
        about = _listing([comment.category, comment.context, comment.severity, author and f"by {author}"])
        kind = None if position in missed else _FOUND
        label = references.named(position)
        items.append(html(_REFERENCE, kind, label, where(comment), verdict, about, note(comment.note)))
    if not items:
        text = "Every reference was raised." if references.labels else "This pull request has no references."
        return paragraph(text, css="muted")
    title = "References that were not raised" + " in every run" * (len(records[0].runs) > 1) if lone else "References"
    return html('<h4>{}</h4><ol class="refs">{}</ol>\n', title, items)


def _found_in(record: CommentRecord, position: int, *, lone: bool) -> Html | None:
    """In how many of its runs a reviewer raised the reference, where these are repeated."""
    found = next((each for each in record.references if each.position == position), None)
    if found is None or (found.runs or 1) < 2:
        return None
    told = f"in {found.found_in} of {plural(found.runs or 1, 'run')}"
    return tag(f"found {told}") if lone else html("found by {} {} ·", name(record.reviewer), told)


def _raised(who: Sequence[str], of: int, kept: bool) -> Html:
    if not kept:
        return tag("left out by a filter")
    if not who:
        return tag("missed" if of == 1 else "missed by all", "bad")
    if of == 1:
        return tag("raised", "good")
    listed = join(map(name, who[:_MOST_REVIEWERS]), ", ")
    more = f" and {len(who) - _MOST_REVIEWERS} more" if len(who) > _MOST_REVIEWERS else ""
    return html("{} {}{} ·", tag(f"raised by {len(who)} of {of}", "good"), listed, more)


class _Reviewer:
    """One reviewer's comments on a pull request, each beside what it was compared with."""

    def __init__(self, record: CommentRecord, labels: _References) -> None:
        self._record, self._labels = record, labels
        self._references = {each.position: each.comment for each in record.references}
        self._negatives = {each.position: each.comment for each in record.negatives}
        self._compared: dict[int, list[Comparison]] = defaultdict(list)
        for pair in record.comparisons:
            self._compared[pair.generated].append(pair)

    def markup(self) -> Html:
        record = self._record
        links = [self._labels.link(each.position) for each in record.references if each.kept and not each.covered]
        missed = html(" Missed: {}.", join(links, ", ")) if links else None
        runs = f", on average over {plural(len(record.runs), 'run')}" if len(record.runs) > 1 else ""
        comments = sorted(record.comments, key=self._kind)
        items = [
            html(
                _PAIR,
                " found" if each.matched else None,
                _listing([where(each.comment), name(each.run) if each.run and len(record.runs) > 1 else None]),
                note(each.comment.note),
                self._other_side(each),
            )
            for each in comments
        ]
        return html(
            "<h4>Comments of {}</h4>{}{}",
            name(record.reviewer),
            paragraph(f"{_matched(record)} matched a reference{runs}.", missed),
            html('<ul class="items">{}</ul>', items) if items else None,
        )

    def _kind(self, scored: ScoredComment) -> int:
        """Matches first, then what needs a look, then noise; within each in the order of the input."""
        if scored.matched:
            return 0
        if self._undecided(scored):
            return 1
        return 2 if scored.negative is not None else 4 if scored.left_out else 3

    def _undecided(self, scored: ScoredComment) -> list[Comparison]:
        return [pair for pair in self._compared[scored.position] if pair.verdict.match is None]

    def _matches(self, scored: ScoredComment) -> list[tuple[int, Verdict | None]]:
        """The references it is aligned with, and the verdict on each; its own where the judge compared nothing."""
        verdicts = {pair.reference: pair.verdict for pair in self._compared[scored.position]}
        aligned = [reference for generated, reference in self._record.matches if generated == scored.position]
        if not aligned and scored.reference is not None:
            aligned = [scored.reference]
        return [(reference, verdicts.get(reference, scored.verdict)) for reference in aligned]

    def _reference(self, title: str, position: int, *, whole: bool) -> Html:
        comment = self._references[position]
        label = self._labels.named(position) if whole else self._labels.link(position)
        text = comment.note if whole else excerpt(comment.note, 240)
        return html(_OTHER, join([title, label], " "), where(comment), note(text))

    def _other_side(self, scored: ScoredComment) -> Iterator[Html]:
        near = tag("right location") if scored.line_match and not scored.matched else None
        if scored.matched:
            for position, verdict in self._matches(scored):
                yield self._reference("Reference", position, whole=True)
                yield _verdict(tag("same issue", "good"), verdict)
        elif undecided := self._undecided(scored):
            for pair in undecided[:_MOST_UNDECIDED]:
                yield self._reference("Reference", pair.reference, whole=False)
                yield _verdict(join([tag("undecided", "warn"), near], " "), pair.verdict)
            if len(undecided) > _MOST_UNDECIDED:
                yield _verdict(tag(f"and {len(undecided) - _MOST_UNDECIDED} more undecided", "warn"))
        elif scored.negative is not None:
            rejected = self._negatives[scored.negative]
            yield html(_OTHER, "Rejected by annotators", where(rejected), note(rejected.note))
            yield _verdict(join([tag("repeats a rejected comment", "bad"), near], " "), scored.verdict)
        elif scored.left_out:
            text = "About a reference that is neutral, or that a filter of this run leaves out."
            yield html('<p class="where other">{}</p>', text)
            yield _verdict(tag("not counted"))
        elif compared := self._compared[scored.position]:
            best = max(compared, key=lambda pair: -1.0 if pair.verdict.score is None else pair.verdict.score)
            # The judge may well call a pair the same that the one-to-one alignment could not count.
            taken = " The judge calls them the same, but the reference is paired with another comment."
            yield self._reference("Closest reference", best.reference, whole=False)
            yield _verdict(join([tag("no match"), near], " "), best.verdict, taken if best.verdict.match else "")
        else:
            yield html('<p class="where other">No reference is at this location.</p>')
            yield _verdict(tag("no match"))


def _verdict(tags: Html, verdict: Verdict | None = None, more: str = "") -> Html:
    parts: list[object] = []
    if verdict is not None:
        parts = [
            "" if verdict.score is None else f"score {format_score(verdict.score)}",
            verdict.by and f"by {verdict.by}",
        ]
        parts += [verdict.reason and name(excerpt(verdict.reason, _MOST_REASON))]
    return html('<p class="verdict">{} {}{}</p>', tags, _listing(parts), more)
