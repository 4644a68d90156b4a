"""Every pull request with its comments and references side by side, as far as the page's size allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metareview.comments.records import CommentRecord, Comparison, ScoredComment, Verdict
from metareview.model.comment import Comment
from metareview.model.words import plural
from metareview.report.names import excerpt, pull_request_name
from metareview.report.numbers import count
from metareview.report.page.blocks import Column, Section, name, note, paragraph, remark, table, tag, where
from metareview.report.page.markup import Html, html, join, link
from metareview.runs.run import CommentsRun

MOST_SHOWN = 500
"""Pull requests with their pairs."""
MOST_LISTED = 1_000
"""Pull requests and reviewers of which, beyond that, the counts are listed."""
MOST_BYTES = 2_400_000
"""What this section may weigh, so that the page opens quickly; AACR-Bench and its like fit."""
_MOST_REVIEWERS, _MOST_REASON, _MOST_UNDECIDED = 6, 400, 3


def pull_request_section(run: CommentsRun, order: Sequence[str]) -> Section:
    """`order`: the reviewers, best first."""
    known: dict[str, int] = {}
    groups: dict[str, list[CommentRecord]] = {}
    for record in run.read_records():
        if not record.skipped and known.setdefault(record.pr, len(known)) < MOST_SHOWN:
            groups.setdefault(record.pr, []).append(record)
    rank = {reviewer: position for position, reviewer in enumerate(order)}
    parts: list[Html] = []
    weight = 0
    for number, records in enumerate(groups.values(), 1):
        records.sort(key=lambda record: rank[record.reviewer])
        part = _pull_request(number, records)
        weight += len(part.encode())
        if weight > MOST_BYTES:
            break
        parts.append(part)
    text = paragraph(
        "Each comment is beside the reference that it was paired with, or the closest one it was compared with. "
        "References have numbers (R1, R2 …) within their pull request."
    )
    rest = _listed(run, {url for url, position in known.items() if position >= len(parts)}, len(known))
    return Section("pull-requests", "Every pull request", join([text, *parts, rest]))


def _listed(run: CommentsRun, urls: set[str], total: int) -> Html | None:
    """The counts of the pull requests that there was no room for."""
    if not urls:
        return None
    rows = []
    total_rows = 0
    for record in run.read_records():
        if record.skipped or record.pr not in urls:
            continue
        total_rows += 1
        if total_rows <= MOST_LISTED:
            counts = record.counts
            figures = map(count, (counts.generated, counts.matched, counts.expected, counts.covered))
            rows.append([link(record.pr, pull_request_name(record.pr)), name(record.reviewer), *figures])
    columns = [Column("Pull request"), Column("Reviewer", "name")]
    columns += [Column(title, "num") for title in ("Comments", "Matched", "References", "Raised")]
    beyond = total_rows - len(rows)
    more = (
        f" Of these the first {count(len(rows))} rows are listed; {count(beyond)} more are left out." if beyond else ""
    )
    text = remark(
        f"To keep this page light, {count(len(urls))} of {plural(total, 'pull request')} are shown without their "
        f"pairs.{more} The run has it all."
    )
    return join([text, table("The other pull requests", columns, rows)])


class _References:
    """A pull request's references: their labels, and whether each has its anchor on the page yet."""

    def __init__(self, number: int, record: CommentRecord) -> None:
        self._number = number
        self._labels = {r.position: f"R{k}" for k, r in enumerate(record.references, 1)}
        self._anchored: set[int] = set()

    def __len__(self) -> int:
        return len(self._labels)

    def link(self, reference: int) -> Html:
        label = self._labels[reference]
        return html('<a href="#p{n}-{label}">{label}</a>', n=self._number, label=label)

    def named(self, reference: int) -> Html:
        """The label as the target of links, the first time; after that a link to it."""
        if reference in self._anchored:
            return self.link(reference)
        self._anchored.add(reference)
        return html('<span id="p{n}-{label}">{label}</span>', n=self._number, label=self._labels[reference])


def _pull_request(number: int, records: Sequence[CommentRecord]) -> Html:
    first = records[0]
    references = _References(number, first)
    about = [first.language, first.pr_category, plural(len(references), "reference"), _tally(records)]
    # A lone reviewer's matches have their references beside them, so that only the missed ones need a list.
    lone = len(records) == 1
    parts = [_reviewer(record, references) for record in records] if lone else []
    parts.append(_reference_list(records, references))
    parts += [] if lone else [_reviewer(record, references) for record in records]
    return html(
        '<details class="pr"><summary><h3>{title}</h3> <span class="muted">{about}</span></summary>\n'
        "<p>{link}</p>\n{parts}</details>\n",
        title=pull_request_name(first.pr),
        about=join([part for part in about if part], " · "),
        link=link(first.pr, first.pr),
        parts=parts,
    )


def _tally(records: Sequence[CommentRecord]) -> Html:
    if len(records) > _MOST_REVIEWERS:
        return html("{n} reviewers", n=len(records))
    parts = [
        html(
            "{who}{matched} of {total} comments matched",
            who=html("{name} ", name=name(record.reviewer)) if len(records) > 1 else None,
            matched=record.counts.matched,
            total=count(record.counts.generated),
        )
        for record in records
    ]
    return join(parts, " · ")


def _reference_list(records: Sequence[CommentRecord], references: _References) -> Html:
    """All of them and who raised each; for a lone reviewer those that it missed."""
    raised: dict[int, list[str]] = {}
    for record in records:
        for reference in record.references:
            if reference.covered:
                raised.setdefault(reference.position, []).append(record.reviewer)
    lone = len(records) == 1
    items = []
    for reference in records[0].references:
        if lone and reference.covered:
            continue
        comment = reference.comment
        about = (comment.category, comment.context, comment.severity)
        items.append(
            html(
                '<li><p class="where"><b>{label}</b> {where} {verdict} {about}</p>{note}</li>\n',
                label=references.named(reference.position),
                where=where(comment),
                verdict=_raised(raised.get(reference.position, []), len(records), reference.kept),
                about=join([part for part in about if part], " · "),
                note=note(comment.note),
            )
        )
    if not items:
        text = "Every reference was raised." if len(references) else "This pull request has no references."
        return paragraph(text, css="muted")
    title = "References that were not raised" if lone else "References"
    return html('<h4>{title}</h4><ol class="refs">{items}</ol>\n', title=title, items=items)


def _raised(who: Sequence[str], of: int, kept: bool) -> Html:
    if not kept:
        return tag("left out by a filter")
    if not who:
        return tag("missed" if of == 1 else "missed by all", "bad")
    if of == 1:
        return tag("raised", "good")
    listed = join([name(reviewer) for reviewer in who[:_MOST_REVIEWERS]], ", ")
    more = f" and {len(who) - _MOST_REVIEWERS} more" if len(who) > _MOST_REVIEWERS else ""
    return html("{tag} {listed}{more} ·", tag=tag(f"raised by {len(who)} of {of}", "good"), listed=listed, more=more)


def _reviewer(record: CommentRecord, references: _References) -> Html:
    links = [references.link(r.position) for r in record.references if r.kept and not r.covered]
    summary = html(
        "{matched} of {total} comments matched a reference.{missed}",
        matched=record.counts.matched,
        total=count(record.counts.generated),
        missed=html(" Missed: {links}.", links=join(links, ", ")) if links else None,
    )
    evidence = _Evidence(record)
    items = [
        html('<li class="pair">{comment}</li>\n', comment=_comment(scored, evidence, references))
        for scored in evidence.in_order()
    ]
    return html(
        "<h4>{reviewer}</h4>{summary}{items}",
        reviewer=html("Comments of {name}", name=name(record.reviewer)),
        summary=paragraph(summary),
        items=html('<ul class="items">{items}</ul>', items=items) if items else None,
    )


class _Evidence:
    """A record's parts by position."""

    def __init__(self, record: CommentRecord) -> None:
        self.references = {each.position: each.comment for each in record.references}
        self.negatives = {each.position: each.comment for each in record.negatives}
        self._comments = record.comments
        self._compared: dict[int, list[Comparison]] = {}
        for pair in record.comparisons:
            self._compared.setdefault(pair.generated, []).append(pair)
        self._matched: dict[int, list[int]] = {}
        for generated, reference in record.matches:
            self._matched.setdefault(generated, []).append(reference)

    def in_order(self) -> list[ScoredComment]:
        """Matches first, then what needs a look, then noise; within each in the order of the input."""
        return sorted(self._comments, key=self._kind)

    def _kind(self, scored: ScoredComment) -> int:
        if scored.matched:
            return 0
        if self.undecided(scored):
            return 1
        return 2 if scored.negative is not None else 4 if scored.left_out else 3

    def compared(self, scored: ScoredComment) -> list[Comparison]:
        return self._compared.get(scored.position, [])

    def undecided(self, scored: ScoredComment) -> list[Comparison]:
        return [pair for pair in self.compared(scored) if pair.verdict.match is None]

    def closest(self, scored: ScoredComment) -> Comparison | None:
        def score(pair: Comparison) -> float:
            return -1.0 if pair.verdict.score is None else pair.verdict.score

        return max(self.compared(scored), key=score, default=None)

    def matches(self, scored: ScoredComment) -> Iterator[tuple[int, Verdict | None]]:
        """The references it is aligned with, and the verdict on each; its own where the judge compared nothing."""
        verdicts = {pair.reference: pair.verdict for pair in self.compared(scored)}
        for reference in self._matched.get(scored.position, [scored.reference]):
            if reference is not None:
                yield reference, verdicts.get(reference, scored.verdict)


def _comment(scored: ScoredComment, evidence: _Evidence, references: _References) -> Html:
    left = html(
        '<div><p class="where"><b>Comment</b> {where}</p>{note}</div>',
        where=where(scored.comment),
        note=note(scored.comment.note),
    )
    return join([left, *_other_side(scored, evidence, references)])


def _other_side(scored: ScoredComment, evidence: _Evidence, references: _References) -> Iterator[Html]:
    """What a comment was compared with, and the verdict."""

    def reference(title: str, position: int, *, whole: bool) -> Html:
        comment = evidence.references[position]
        label = references.named(position) if whole else references.link(position)
        text = comment.note if whole else excerpt(comment.note, 240)
        return _other(html("{title} {label}", title=title, label=label), comment, text)

    near = tag("right location") if scored.line_match and not scored.matched else None
    if scored.matched:
        for position, verdict in evidence.matches(scored):
            yield reference("Reference", position, whole=True)
            yield _verdict(tag("same issue", "good"), verdict)
    elif undecided := evidence.undecided(scored):
        for pair in undecided[:_MOST_UNDECIDED]:
            yield reference("Reference", pair.reference, whole=False)
            yield _verdict(join([tag("undecided", "warn"), near], " "), pair.verdict)
        if len(undecided) > _MOST_UNDECIDED:
            yield _verdict(tag(f"and {len(undecided) - _MOST_UNDECIDED} more undecided", "warn"))
    elif scored.negative is not None:
        rejected = evidence.negatives[scored.negative]
        yield _other(html("Rejected by annotators"), rejected, rejected.note)
        yield _verdict(join([tag("repeats a rejected comment", "bad"), near], " "), scored.verdict)
    elif scored.left_out:
        yield html('<p class="where other">About a reference that a filter of this run leaves out.</p>')
        yield _verdict(tag("not counted"))
    elif best := evidence.closest(scored):
        # The judge may well call a pair the same that the one-to-one alignment could not count.
        taken = html(" The judge calls them the same, but the reference is paired with another comment.")
        yield reference("Closest reference", best.reference, whole=False)
        yield _verdict(join([tag("no match"), near], " "), best.verdict, taken if best.verdict.match else None)
    else:
        yield html('<p class="where other">No reference is at this location.</p>')
        yield _verdict(tag("no match"))


def _other(title: Html, comment: Comment, text: str) -> Html:
    return html(
        '<div class="other"><p class="where"><b>{title}</b> {where}</p>{note}</div>',
        title=title,
        where=where(comment),
        note=note(text),
    )


def _verdict(tags: Html, verdict: Verdict | None = None, more: Html | None = None) -> Html:
    parts = []
    if verdict is not None:
        if verdict.score is not None:
            parts.append(html("score {score}", score=f"{verdict.score:.2f}"))
        if verdict.by:
            parts.append(html("by {by}", by=verdict.by))
        if verdict.reason:
            parts.append(html("<bdi>{reason}</bdi>", reason=excerpt(verdict.reason, _MOST_REASON)))
    return html('<p class="verdict">{tags} {parts}{more}</p>', tags=tags, parts=join(parts, " · "), more=more)
