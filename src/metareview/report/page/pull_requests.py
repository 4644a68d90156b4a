"""Every pull request with its comments and references side by side, as far as the page's size allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metareview.report.numbers import count, plural, pull_request_name
from metareview.report.page.blocks import (
    Column,
    Section,
    excerpt,
    name,
    note,
    paragraph,
    remark,
    spot,
    table,
    tag,
)
from metareview.report.page.markup import Html, html, join, link
from metareview.report.source import Run

MOST_SHOWN = 500
"""Pull requests with their pairs."""
MOST_LISTED = 1_000
"""Pull requests and reviewers of which, beyond that, the counts are listed."""
MOST_BYTES = 2_400_000
"""What this section may weigh, so that the page opens quickly; AACR-Bench and its like fit."""
_LISTED = ("total_generated_nums", "positive_match_nums", "positive_expected_nums", "positive_covered_nums")
_MOST_REVIEWERS, _MOST_REASON, _MOST_UNDECIDED = 6, 400, 3

Record = Mapping[str, Any]


def pull_request_section(run: Run, order: Sequence[str]) -> Section:
    """`order`: the reviewers, best first."""
    known: dict[str, int] = {}
    for record in run.records():
        if not record["skipped"]:
            known.setdefault(record["github_pr_url"], len(known))
    shown = {url for url, position in known.items() if position < MOST_SHOWN}
    groups: dict[str, list[Record]] = {}
    for record in run.records():
        if not record["skipped"] and record["github_pr_url"] in shown:
            groups.setdefault(record["github_pr_url"], []).append(record)
    rank = {reviewer: position for position, reviewer in enumerate(order)}
    parts: list[Html] = []
    weight = 0
    for number, records in enumerate(groups.values(), 1):
        records.sort(key=lambda record: rank[record["reviewer"]])
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


def _listed(run: Run, urls: set[str], total: int) -> Html | None:
    """The counts of the pull requests that there was no room for."""
    if not urls:
        return None
    rows = []
    total_rows = 0
    for record in run.records():
        if record["skipped"] or record["github_pr_url"] not in urls:
            continue
        total_rows += 1
        if total_rows <= MOST_LISTED:
            url = record["github_pr_url"]
            counts = [count(record[key]) for key in _LISTED]
            rows.append([link(url, pull_request_name(url)), name(record["reviewer"]), *counts])
    columns = [Column("Pull request"), Column("Reviewer", "name")]
    columns += [Column(title, "num") for title in ("Comments", "Matched", "References", "Raised")]
    beyond = total_rows - len(rows)
    more = (
        f" Of these the first {len(rows):,} rows are listed; {beyond:,} more are left out." if beyond else ""
    )
    told = (
        f"To keep this page light, {len(urls):,} of {plural(total, 'pull request')} are shown without their pairs."
        f"{more} The run has it all."
    )
    return join([remark(told), table("The other pull requests", columns, rows)])


class _References:
    """A pull request's references: their labels, and whether each has its anchor on the page yet."""

    def __init__(self, number: int, record: Record) -> None:
        self._number = number
        self._labels = {r["reference"]: f"R{k}" for k, r in enumerate(record["reference_comments"], 1)}
        self._anchored: set[int] = set()

    def __len__(self) -> int:
        return len(self._labels)

    def link(self, reference: int) -> Html:
        label = self._labels[reference]
        return html('<a href="#p{n}-{label}">{label}</a>', n=self._number, label=label)

    def named(self, reference: int) -> Html:
        """The label as the place that links lead to, the first time; after that a link there."""
        if reference in self._anchored:
            return self.link(reference)
        self._anchored.add(reference)
        return html('<span id="p{n}-{label}">{label}</span>', n=self._number, label=self._labels[reference])


def _pull_request(number: int, records: Sequence[Record]) -> Html:
    first = records[0]
    references = _References(number, first)
    told = [
        first.get("language"),
        first.get("pr_category"),
        plural(len(references), "reference"),
        _tally(records),
    ]
    # A lone reviewer's matches have their references beside them, so that only the missed ones need a list.
    lone = len(records) == 1
    parts = [_reviewer(record, references) for record in records] if lone else []
    parts.append(_reference_list(records, references))
    parts += [] if lone else [_reviewer(record, references) for record in records]
    return html(
        '<details class="pr"><summary><h3>{title}</h3> <span class="muted">{told}</span></summary>\n'
        "<p>{link}</p>\n{parts}</details>\n",
        title=pull_request_name(first["github_pr_url"]),
        told=join([part for part in told if part], " · "),
        link=link(first["github_pr_url"], first["github_pr_url"]),
        parts=parts,
    )


def _tally(records: Sequence[Record]) -> Html:
    parts = [
        html(
            "{who}{matched} of {total} comments matched",
            who=html("{name} ", name=name(r["reviewer"])) if len(records) > 1 else None,
            matched=r["positive_match_nums"],
            total=count(r["total_generated_nums"]),
        )
        for r in records[:_MOST_REVIEWERS]
    ]
    if len(records) > _MOST_REVIEWERS:
        return html("{n} reviewers", n=len(records))
    return join(parts, " · ")


def _reference_list(records: Sequence[Record], references: _References) -> Html:
    """All of them and who raised each; for a lone reviewer those that it missed."""
    raised: dict[int, list[str]] = {}
    for record in records:
        for reference in record["reference_comments"]:
            if reference["covered"]:
                raised.setdefault(reference["reference"], []).append(record["reviewer"])
    lone = len(records) == 1
    items = []
    for reference in records[0]["reference_comments"]:
        if lone and reference["covered"]:
            continue
        about = [reference.get(key) for key in ("category", "context", "severity")]
        items.append(
            html(
                '<li><p class="where"><b>{label}</b> {place} {verdict} {about}</p>{note}</li>\n',
                label=references.named(reference["reference"]),
                place=spot(reference),
                verdict=_raised(raised.get(reference["reference"], []), len(records), reference["kept"]),
                about=join([part for part in about if part], " · "),
                note=note(reference["note"]),
            )
        )
    if not items:
        told = "Every reference was raised." if len(references) else "This pull request has no references."
        return paragraph(told, css="muted")
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
    return html(
        "{tag} {listed}{more} ·",
        tag=tag(f"raised by {len(who)} of {of}", "good"),
        listed=listed,
        more=more,
    )


def _reviewer(record: Record, references: _References) -> Html:
    missed = [r["reference"] for r in record["reference_comments"] if r["kept"] and not r["covered"]]
    links = [references.link(reference) for reference in missed]
    told = html(
        "{matched} of {total} comments matched a reference.{missed}",
        matched=record["positive_match_nums"],
        total=count(record["total_generated_nums"]),
        missed=html(" Missed: {links}.", links=join(links, ", ")) if links else None,
    )
    items = [
        html('<li class="pair">{comment}</li>\n', comment=_comment(d, case, references))
        for case in [_Case(record)]
        for d in case.in_order()
    ]
    return html(
        "<h4>{reviewer}</h4>{told}{items}",
        reviewer=html("Comments of {name}", name=name(record["reviewer"])),
        told=paragraph(told),
        items=html('<ul class="items">{items}</ul>', items=items) if items else None,
    )


class _Case:
    """A record with its parts by position."""

    def __init__(self, record: Record) -> None:
        self.references = {r["reference"]: r for r in record["reference_comments"]}
        self.negatives = {n["negative"]: n for n in record["negative_comments"]}
        self.details = record["match_details"]
        self.compared: dict[int, list[Record]] = {}
        for pair in record["llm_comparisons"]:
            self.compared.setdefault(pair["generated"], []).append(pair)
        self.matched: dict[int, list[int]] = {}
        for pair in record["matched_reference_comments"]:
            self.matched.setdefault(pair["generated"], []).append(pair["reference"])

    def in_order(self) -> Iterator[Record]:
        """Matches first, then what needs a look, then noise; within each in the order of the input."""
        return iter(sorted(self.details, key=self._kind))

    def _kind(self, detail: Record) -> int:
        if detail["semantic_match"]:
            return 0
        if self.undecided(detail):
            return 1
        return 2 if detail["negative"] is not None else 4 if detail["left_out"] else 3

    def undecided(self, detail: Record) -> list[Record]:
        return [pair for pair in self.compared.get(detail["generated"], []) if pair["match"] is None]

    def closest(self, detail: Record) -> Record | None:
        pairs = self.compared.get(detail["generated"], [])
        return max(pairs, key=lambda pair: -1.0 if pair["score"] is None else pair["score"], default=None)

    def verdict_on(self, detail: Record, reference: int) -> Record:
        """The pair's own verdict; the comment's where the judge compared nothing."""
        pairs = self.compared.get(detail["generated"], [])
        return next((pair for pair in pairs if pair["reference"] == reference), detail)


def _comment(detail: Record, case: _Case, references: _References) -> Html:
    left = html(
        '<div><p class="where"><b>Comment</b> {place}</p>{note}</div>',
        place=spot(detail),
        note=note(detail["note"]),
    )
    return join([left, *_other_side(detail, case, references)])


def _other_side(detail: Record, case: _Case, references: _References) -> Iterator[Html]:
    """What a comment was held against, and the verdict."""
    near = tag("right place") if detail["line_match"] and not detail["semantic_match"] else None
    if detail["semantic_match"]:
        for reference in case.matched.get(detail["generated"], [detail["reference"]]):
            yield _reference("Reference", case.references[reference], references, whole=True)
            yield _verdict(tag("same issue", "good"), case.verdict_on(detail, reference))
    elif undecided := case.undecided(detail):
        for pair in undecided[:_MOST_UNDECIDED]:
            yield _reference("Reference", case.references[pair["reference"]], references, whole=False)
            yield _verdict(join([tag("undecided", "warn"), near], " "), pair)
        if len(undecided) > _MOST_UNDECIDED:
            yield _verdict(tag(f"and {len(undecided) - _MOST_UNDECIDED} more undecided", "warn"), {})
    elif detail["negative"] is not None:
        rejected = case.negatives[detail["negative"]]
        yield html(
            '<div class="other"><p class="where"><b>Rejected by annotators</b> {place}</p>{note}</div>',
            place=spot(rejected),
            note=note(rejected["note"]),
        )
        yield _verdict(join([tag("repeats a rejected comment", "bad"), near], " "), detail)
    elif detail["left_out"]:
        yield html('<p class="where other">About a reference that a filter of this run leaves out.</p>')
        yield _verdict(tag("not counted"), {})
    elif best := case.closest(detail):
        closest = case.references[best["reference"]]
        # The judge may well call a pair the same that the one-to-one alignment could not count.
        taken = html(" The judge calls them the same, but the reference is paired with another comment.")
        yield _reference("Closest reference", closest, references, whole=False)
        yield _verdict(join([tag("no match"), near], " "), best, taken if best["match"] else None)
    else:
        yield html('<p class="where other">No reference is at this place.</p>')
        yield _verdict(tag("no match"), {})


def _reference(title: str, reference: Record, references: _References, *, whole: bool) -> Html:
    position = reference["reference"]
    return html(
        '<div class="other"><p class="where"><b>{title} {label}</b> {place}</p>{note}</div>',
        title=title,
        label=references.named(position) if whole else references.link(position),
        place=spot(reference),
        note=note(reference["note"] if whole else excerpt(reference["note"], 240)),
    )


def _verdict(tags: Html, verdict: Record, more: Html | None = None) -> Html:
    told = []
    if verdict.get("score") is not None:
        told.append(html("score {score}", score=f"{verdict['score']:.2f}"))
    if verdict.get("by"):
        told.append(html("by {by}", by=verdict["by"]))
    if verdict.get("reason"):
        told.append(html("<bdi>{reason}</bdi>", reason=excerpt(verdict["reason"], _MOST_REASON)))
    return html('<p class="verdict">{tags} {told}{more}</p>', tags=tags, told=join(told, " · "), more=more)
