"""What a pull request's body declares: an issue, the use of AI, where the code comes from.

Read from the body as of the cutoff, without code and HTML comments: what people see. AI and provenance are read
without quotes, too: what somebody else said declares nothing. Descriptive only: that merged pull requests name an
issue more often does not say that naming one gets them merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from metareview.routing.assistants import AI, ASSISTANT_WORDS, NAME, mentions_assistants, says_assisted
from metareview.routing.records import Declarations
from metareview.routing.visible_text import visible_text, without_quotes

LONGEST = 1_000_000
"""Characters of a body that are looked at. GitHub takes 65,536."""


def read_declarations(body: str) -> Declarations:
    """What a body declares.

    >>> read_declarations("Fixes #12\\n\\nAI disclosure: none used")
    Declarations(issue=True, ai_disclosure=True, provenance=False)
    """
    return declarations_of([body])[0]


def declarations_of(bodies: Iterable[str]) -> list[Declarations]:
    """What each of many bodies declares, in its first LONGEST characters: words that none of them has are looked for
    once."""
    texts = [visible_text(body[:LONGEST]) for body in bodies]
    own = list(map(without_quotes, texts))
    lowered = [text.lower() for text in own]
    everything = "\n".join(lowered)
    of_assistants = [word for word in ASSISTANT_WORDS if word in everything]
    of_provenance = [word for word in _PROVENANCE_WORDS if word in everything]
    declared = []
    for text, mine, small in zip(texts, own, lowered, strict=True):
        assisted = mentions_assistants(small, of_assistants) and (_declares(mine, _AI) or says_assisted(mine))
        provenance = any(word in small for word in of_provenance) and (
            _declares(mine, _PROVENANCE) or _declares(mine, _SOURCE)
        )
        declared.append(_DECLARED[has_issue(text), assisted, provenance])
    return declared


_DECLARED = {each: Declarations(*each) for each in product((False, True), repeat=3)}
"""One for all bodies that declare the same."""


# -- the issue ---------------------------------------------------------------------------------------------

_URL = re.compile(
    r"https?://(?:(?:www\.)?github\.[\w.-]+/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+"
    r"|[\w.-]{0,60}gitlab[\w.:-]{0,60}/[\w./-]{1,200}/(?:issues|merge_requests|work_items)/\d+"
    r"|[\w.:-]{1,120}/[\w./-]{1,200}/-/(?:issues|merge_requests|work_items)/\d+)",
    re.ASCII | re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"(?<![\w./-])[A-Za-z0-9][\w.-]*/[\w.-]+#[1-9]\d*(?![\w-])", re.ASCII)
_GH = re.compile(r"GH-(?<![\w-]GH-)[1-9]\d*(?![\w-])", re.ASCII)
_NUMBER = re.compile(r"#(?<![\w#&/.@-]#)([1-9]\d*)(?![\w-])", re.ASCII)
_KEY = re.compile(r"([A-Z](?<![\w.#-][A-Z])[A-Z0-9]+)-[1-9]\d*(?![\w-]|\.\d)", re.ASCII)
# Standards, encodings, licences, models, hardware, with or without a number (SHA3-256); quarters and versions (Q3-2025,
# V2-1): written like a tracker's key, and none.
_NO_TRACKER = re.compile(
    r"(?:AES|AGPL|AMD|ANSI|APACHE|ARM|ARMV|ASCII|AVX|BASE|BF|BIP|BSD|CC|CLAUDE|COVID|CP|CRC|CVE|CWE|DDR|DES|ECMA|ED|EIP|"
    r"EN|ERC|ES|FIPS|FP|GEMINI|GLM|GMT|GPL|GPT|GTX|HTTP|HTTPS|IEC|IEEE|INT|IP|IPV|ISO|JEP|JSR|KOI|LGPL|LLAMA|MD|MIT|MPEG|"
    r"MPL|NIST|OAUTH|PEP|PHI|PKCS|PSR|QWEN|RFC|RSA|RTX|SHA|SOC|SSE|SSL|TCP|TIER|TLS|TOP|UDP|USB|UTC|UTF|UUID|WCAG|WEB|"
    r"WIN)\d*|[HPR]S\d{3}|MP\d|[HPQVWX]\d{1,3}"
)
_CALLED_COLOUR = re.compile(
    r"(?:colou?rs?|background|foreground|fill|stroke|border|hex|shade|tint|rgb|accent|primary|palette)[\"')]?"
    r"\W{1,3}(?:(?:code|value|to|from|of|is|was|and|as)\W{1,3}){0,2}$",
    re.IGNORECASE,
)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$")
_REFERS = re.compile(
    r"\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|references?|issues?|bug|ticket|see|"
    r"relate[sd]?(?: to)?|part of|pr|pull request)\W{0,3}$",
    re.IGNORECASE,
)


def has_issue(text: str) -> bool:
    """Whether visible text refers to an issue or a pull request.

    `#12` in a heading counts after a word such as "fixes" only: "Step #1" is no reference. A colour is none.
    """
    if "://" in text and _URL.search(text):
        return True
    if "-" in text and (_GH.search(text) or not all(_NO_TRACKER.fullmatch(key[1]) for key in _KEY.finditer(text))):
        return True
    if "#" not in text:
        return False
    if "/" in text and _ELSEWHERE.search(text):
        return True
    for line in text.split("\n"):
        if "#" not in line:
            continue
        heading = _HEADING.match(line[:500])
        for match in _NUMBER.finditer(line):
            before = line[max(0, match.start() - 60) : match.start()]
            if heading and not _REFERS.search(before):
                continue
            if not _is_colour(match[1], before):
                return True
    return False


def _is_colour(digits: str, before: str) -> bool:
    one_digit = len(digits) == 6 and len(set(digits)) == 1
    return one_digit or (len(digits) in (3, 4, 6, 8) and _CALLED_COLOUR.search(before) is not None)


# -- AI and provenance --------------------------------------------------------------------------------------


class _Subject(NamedTuple):
    """What a declaration is about.

    Where `use` is given, a title that says more than the subject is a declaration only with a word of `use`: "AI
    assistance" is, "AI summary" is not. A key that says no more than the subject ("AI:") needs an `answer` beside it;
    where the subject's word is `vague`, so does a heading below it.
    """

    pattern: re.Pattern[str]
    use: re.Pattern[str] | None = None
    answer: re.Pattern[str] | None = None
    vague: bool = False


_AI = _Subject(
    re.compile(rf"(?<!\w)(?:{AI}|{NAME}|machine[- ]generated)(?!\w)", re.IGNORECASE),
    re.compile(
        r"(?<!\w)(?:disclos\w*|declar\w*|usage|us(?:e|ed|es|ing)|assist(?:ed|ance|s)?|aided|help(?:ed)?|generated|written|"
        r"wrote|author(?:ed|ship)|co-?author\w*|created|drafted|made|produced|tool(?:s|ing)?(?! call)|involve\w*|"
        r"contribut\w*|notes?|prompt|runs?|sessions?|statement|attribution|acknowledg\w*|transparency|credits?|without|not?)(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\W*(?:(?:yes|yep|no|nope|none|n/?a|not|never|nothing|nil|true|false|some|partial|partially|partly|mostly|minimal|"
        r"minor|little|heavy|light|used|assisted|generated|written|drafted|only|for|tests?|docs?|all|parts?|everything|"
        rf"auto-?completions?|completions?|\d{{1,3}} ?%)(?!\w)|[✓✔✅❌])|.*(?<!\w){NAME}(?!\w)",
        re.IGNORECASE,
    ),
)
_PROVENANCE = _Subject(
    re.compile(
        r"(?<![\w-])(?:provenance|origins?|source of (?:the |this )?(?:code|change|contribution)|code source|"
        r"authorship|(?:human|machine)[- ]?(?:written|authored|generated|made)|"
        r"(?:human|machine)s? or (?:human|machine)s?|"
        r"(?:written|authored|made) by (?:an? )?(?:human|machine|person|hand))(?![\w-])",
        re.IGNORECASE,
    )
)
_MAKER = (
    r"\W*(?:(?:all|an?|authored|by|code|entirely|fully|it|is|made|mostly|my|of|our|partly|the|this|was|were|written|\d{1,3})"
    rf"(?:\W+|$))*(?:humans?|machines?|persons?|people|hand|manual(?:ly)?|me|myself|own|original|generated|copied|adapted|"
    rf"ported|vendored|forked|derived|based on|upstream|third[- ]party|mixed|{AI}|{NAME})(?!\w|[/.]\w)"
)
# "Source" is about many things: alone, and with who made the code or where it was taken from, it is about this change.
_SOURCE = _Subject(
    re.compile(r"(?<![\w-])source(?![\w-])", re.IGNORECASE),
    re.compile(rf"^\W*source\W*:{_MAKER}", re.IGNORECASE),
    re.compile(_MAKER, re.IGNORECASE),
    vague=True,
)
_PROVENANCE_WORDS = ("provenance", "origin", "source", "authorship", "human", "machine", " by ")
# A title that says what a change does: "Add AI summary", "feat(ai)".
_CHANGES = re.compile(
    r"\W*(?:\w+\([^)]*\)|(?:add|fix|implement|improve|update|remove|refactor|support|bump|introduce|enable|disable|allow|"
    r"move|rename|handle|track|show|hide|replace|rework|how to|docs?|feat|chore|perf|ci|build|revert)"
    r"(?:e?[sd]|ing)?(?!\w))",
    re.IGNORECASE,
)
_LONGEST_KEY = 8
_BOX = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d+[.)])\s+\[([ xX✓✔])\]\s*(.*)")
_PAIR = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s+)?([^:\n]{1,80}?)\s*:(?!//)(.*)")
_QUESTION = re.compile(
    r"\s*(?:[-*+]\s+)?([^?\n]{1,100})\?[*_]*\s*:?\s*[*_]*((?:yes|no|none|n/a|not?)\b.*)", re.IGNORECASE
)
_BOLD = re.compile(r"\s*(?:\*\*|__)([^*_]+?)(?:\*\*|__)\s*:?\s*$")
_EMPTY = re.compile(r"[\s*_`~.…:|>-]*")
_PLACEHOLDER = re.compile(
    r"[\s*_>(-]*(?:\[[^\]]*\]|<[^>]*>|\{[^}]*\}|to ?do|tbd|tba|fill (?:me )?in|fixme|xxx|\?+|_)[\s*_.)]*+",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"[\s*_>(-]*(?:please|describe|list|explain|state|specify|indicate|disclose|declare|provide|mention|"
    r"tell us|select|tick|check (?:the|one|all|if)|delete|replace|fill|add|enter|write|choose|"
    r"if (?:you|any|applicable|so)|(?:did|do|have|has|was|were|is|are|which|what|how|who|where)\b[^.]*\?)",
    re.IGNORECASE,
)


def _declares(text: str, about: _Subject) -> bool:
    """A `key: value` line, a ticked box, or a heading with an answer below, about a subject."""
    titled = False
    mention = about.pattern.search(text)
    while mention:
        start, end = text.rfind("\n", 0, mention.start()) + 1, text.find("\n", mention.end())
        end = len(text) if end < 0 else end
        line = _tidy(text[start:end])
        if _heading(line):
            titled = True
        elif _line_declares(line, about):
            return True
        mention = about.pattern.search(text, end)
    return titled and any(_is_answered(below, title, about) for title, below in _sections(text.split("\n"), about))


def _tidy(line: str) -> str:
    """A line in single spaces, cut short: nobody declares anything in more than a few hundred characters."""
    return " ".join(line[:2_000].split())[:500]


def _line_declares(line: str, about: _Subject) -> bool:
    if box := _BOX.match(line):
        return box[1] != " " and _is_about(box[2], about) and (_is_bare(box[2], about) or _asks(box[2], about))
    for pair in (_QUESTION.match(line), _PAIR.match(line)):
        if pair and len(pair[1].split()) <= _LONGEST_KEY and _is_about(pair[1], about) and not _is_blank(pair[2]):
            return _asks(pair[1], about) or _answers(pair[2], pair[1], about)
    return False


def _is_about(title: str, about: _Subject) -> bool:
    return about.pattern.search(title) is not None and not (about.use and _CHANGES.match(title))


def _asks(title: str, about: _Subject) -> bool:
    """Whether whatever is said under this title is a declaration."""
    return about.use is None or about.use.search(title) is not None


def _is_bare(title: str, about: _Subject) -> bool:
    """Whether the title names the subject and says no more."""
    return re.search(r"\w", about.pattern.sub("", title)) is None


def _answers(text: str, title: str, about: _Subject) -> bool:
    """Whether the text answers a title that says no more than the subject."""
    return _is_bare(title, about) and about.answer is not None and about.answer.match(text) is not None


def _sections(lines: list[str], about: _Subject) -> Iterator[tuple[str, list[str]]]:
    """Each heading about the subject, and the lines below it, down to the next heading of its level or above.

    A line all in bold is a heading below the others.
    """
    open_ones: list[tuple[int, str, list[str]]] = []
    for line in map(_tidy, lines):
        heading = _heading(line)
        if heading is None:
            for *_, below in open_ones:
                below.append(line)
            continue
        level, title = heading
        while open_ones and open_ones[-1][0] >= level:
            yield open_ones.pop()[1:]
        if _is_about(title, about):
            open_ones.append((level, title, []))
    for _, title, below in open_ones:
        yield title, below


def _heading(line: str) -> tuple[int, str] | None:
    if not line.startswith(("#", "**", "__")):
        return None
    if match := _HEADING.match(line):
        return len(match[1]), match[2] or ""
    if match := _BOLD.match(line):
        return 7, match[1]
    return None


def _is_answered(lines: list[str], title: str, about: _Subject) -> bool:
    """Whether there is more than empty lines, placeholders, a template's questions and unticked boxes.

    Boxes decide where there are any: a template's text around them is no answer.
    """
    if not _asks(title, about) and not _is_bare(title, about):
        return False
    boxes = [box[1] for line in lines if (box := _BOX.match(line))]
    if boxes:
        return any(mark != " " for mark in boxes)
    return any(
        not _is_blank(line) and not _PROMPT.match(line) and (not about.vague or _answers(line, title, about))
        for line in lines
    )


def _is_blank(text: str) -> bool:
    return bool(_EMPTY.fullmatch(text) or _PLACEHOLDER.fullmatch(text))
