"""The lists of evidence in words: what each is called, and what an entry says of its two notes. The same everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.records import Verdict
from metareview.comparison.evidence import Evidence
from metareview.comparison.evidence_search import ListName
from metareview.comparison.quotes import Entry, Quoted
from metareview.model.comment import Comment, normal_path
from metareview.model.words import format_score, plural
from metareview.report.names import location
from metareview.report.numbers import count

NAMES: Mapping[ListName, str] = {
    "missed": "Missed",
    "noise": "Noise",
    "near": "Near misses",
    "matched": "Matched",
    "undecided": "Undecided",
}
_MOST_NAMES = 6


@dataclass(frozen=True)
class Sides:
    """An entry as it is read: what it is about, and what that was compared with."""

    entry: Entry
    main: Quoted
    partner: Quoted | None
    list: ListName

    @property
    def about_reference(self) -> bool:
        """Whether it is about the reference, as what was missed is."""
        return self.list == "missed"


def sides(name: ListName, entry: Entry) -> Sides:
    main, partner = (entry.other, entry.comment) if name == "missed" else (entry.comment, entry.other)
    assert main is not None
    return Sides(entry, main, partner, name)


def whose(evidence: Evidence) -> str:
    """Whose comments a list is about: `nobody raised`, `terse did not raise`."""
    if evidence.everybody:
        return "nobody raised" if len(evidence.reviewers) > 1 else f"{evidence.reviewers[0]} did not raise"
    names = listed(evidence.reviewers)
    return f"{names} did not raise" if len(evidence.reviewers) == 1 else f"none of {names} raised"


def listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def title(name: ListName, evidence: Evidence) -> str:
    """What the list holds and how much of it: `Missed: 8 references that nobody raised`."""
    number = evidence.counts[name]
    of = "" if evidence.everybody else f" of {listed(evidence.reviewers)}"
    runs = " in every run" if evidence.run.result.config.repeat else ""
    what = {
        "missed": f"{plural(number, 'reference')} that {whose(evidence)}{runs}",
        "noise": f"{plural(number, 'comment')}{of} without a partner",
        "near": f"{plural(number, 'pair')}{of} that may match by location and that the judge calls different",
        "matched": f"{plural(number, 'pair')}{of} that {'was' if number == 1 else 'were'} counted",
        "undecided": f"{plural(number, 'pair')}{of} without a verdict",
    }
    return f"{NAMES[name]}: {what[name]}"


def ordering(name: ListName, evidence: Evidence) -> str:
    """Why the first entry is the first."""
    threshold = evidence.threshold
    fewest = "those found in the fewest runs first, then " if evidence.run.result.config.repeat else ""
    under = "the highest score first" if threshold is None else f"those just under the threshold of {threshold:g} first"
    return {
        "missed": f"{fewest}the most severe{'' if fewest else ' first'}, then those that a comment came nearest to",
        "noise": "what repeats a rejected comment first, then what claims to be most severe, then what is furthest "
        "from any reference",
        "near": under,
        "matched": "the most doubtful first",
        "undecided": "by pull request",
    }[name]


def about(comment: Comment) -> list[str]:
    """What is known of it besides the location and the note."""
    return [text for text in (comment.severity, comment.category) if text]


def partner_name(each: Sides) -> str:
    """What stands beside the note: `nearest comment, by noisy`."""
    if each.about_reference:
        return f"nearest comment, by {each.entry.by}"
    if each.entry.rejected:
        return "rejected by annotators"
    return "nearest reference" if each.list == "noise" else "reference"


def partner_title(each: Sides) -> str:
    """The same with its location: `nearest comment, by noisy, at lines 3–4`."""
    at = partner_location(each)
    return f"{partner_name(each)}, at {at}" if at else partner_name(each)


def partner_location(each: Sides) -> str:
    """Where the partner points; only the lines where the file is the same."""
    if each.partner is None:
        return ""
    main, other = each.main.comment, each.partner.comment
    at = location(other)
    path = other.path or ""
    if not path or normal_path(path) != normal_path(main.path) or not at.startswith(f"{path}:"):
        return "the same file" if path and at == location(main) else at
    if at == location(main):
        return "the same place"
    return f"{'lines' if '–' in at[len(path) :] else 'line'} {at[len(path) + 1 :]}"


def nothing_near(each: Sides) -> str:
    return "no comment is near it" if each.about_reference else "no reference is near it"


def verdict_words(verdict: Verdict) -> str:
    """`score 0.41, different`."""
    called = {True: "same issue", False: "different", None: "undecided"}[verdict.match]
    return called if verdict.score is None else f"score {format_score(verdict.score)}, {called}"


def marks(each: Sides) -> list[str]:
    """Why two notes that the judge calls the same are no match, or what else each of them is counted for."""
    entry, said = each.entry, []
    if entry.verdict is None or (each.list == "noise" and not entry.verdict.match):
        return []
    if not entry.eligible:
        apart = "not at the same location" if entry.gap is None else f"{plural(entry.gap, 'line')} apart"
        said.append(f"{apart}, too far to match")
    if entry.comment_raises is not None:
        said.append(f"the comment is counted for {_the('reference', entry.comment_raises)}")
    if entry.raised_instead is not None:
        said.append(f"the reference is raised by {_the('comment', entry.raised_instead)}")
    return said


def _the(what: str, quoted: Quoted) -> str:
    """Which one: by its location, and by its position in the input, which counts from 0."""
    at = location(quoted.comment)
    return f"{what} {quoted.position}" + (f" ({at})" if at else "")


def found_in(each: Sides, evidence: Evidence) -> list[str]:
    """In how many runs a missed reference was raised, and where there are several reviewers by whom; or nothing."""
    found = each.entry.found_in
    if found is None:
        return []
    by = f" of {found.reviewer}" if len(evidence.reviewers) > 1 else ""
    return [f"found in {found.found} of {plural(found.runs, 'run')}{by}"]


def raised(each: Sides, evidence: Evidence) -> str:
    """Who else raised the reference, nothing where nobody else could have; of noise, what it says again."""
    entry, everybody = each.entry, evidence.run.result.reviewers
    if each.list == "noise" and entry.repeats is not None:
        return f"says again what {_the('comment', entry.repeats)} says"
    if each.list == "noise" or entry.other is None or len(everybody) < 2:
        return ""
    asked = set(evidence.reviewers) if each.about_reference else {entry.reviewer}
    others = [name for name in entry.raised_by if name not in asked]
    if each.about_reference:
        return (
            f"raised by {listed(others)} ({count(len(others))} of {plural(len(everybody) - len(asked), 'other')})"
            if others
            else ""
        )
    if not others:
        return f"nobody{' else' if entry.raised_by else ''} raises the reference"
    also = " also" if entry.reviewer in entry.raised_by else ""
    of_all = f"{count(len(others))} of {plural(len(everybody) - 1, 'other')}"
    return f"the reference is{also} raised by {listed(others)} ({of_all})"
