"""Whether a text says in plain words that an assistant had, or had not, a part in a change.

Sentences only: "written primarily by Claude Code", "I used Copilot for the tests", "no AI was used". Whatever follows a
name decides whether it is one: "created by Claude." is, "created by Claude Dupont" and "the copilot controls" are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

AI = (
    r"(?:gen(?:erative)?[ -]?ai|a\.i\.|(?<![.@/\\])ai(?!\.\w)|llms?|(?:large )?language models?|"
    r"artificial intelligence)"
)
"""AI by any general name, as a whole word."""
_PLAIN = (
    r"(?:github )?copilot|chat-?gpt|gpt-?\d[\w.]*|openai codex|claude|codex|gemini|cursor|devin|windsurf|codeium|aider|"
    r"tabnine|amazon q|codewhisperer|jules|cody|deepseek|openhands|cline|sweep ai|junie|augment code"
)
NAME = rf"(?:{_PLAIN})"
"""An assistant by its name."""
ASSISTANT_WORDS = (
    *(
        "llm",
        "llms",
        "genai",
        "generativeai",
        "language model",
        "language models",
        "artificial",
        "copilot",
        "gpt",
        "chatgpt",
        "claude",
    ),
    *("codex", "gemini", "cursor", "devin", "windsurf", "codeium", "aider", "tabnine", "amazon q", "codewhisperer"),
    *("jules", "cody", "deepseek", "openhands", "cline", "junie", "augment", "machine", "sweep ai"),
)
_AI_WORD = re.compile(r"a(?:i|\.i)(?<![\w.@/]ai)(?!\w)")

_VERSION = (
    r"(?:[ -](?:ai|code|opus|sonnet|haiku|pro|flash|agent|chat|cli|max|mini|turbo|workspace|assistants?|agents?|tools?|"
    r"models?|completions?|v?\d[\w.]*)){0,3}"
)
# The phrase is over, or goes on with a word that cannot belong to a name: no surname, nothing that the name describes.
_END = (
    r"(?=\W*$|\s*[^\w\s'’-]|\s+(?:a|an|and|as|at|after|based|before|but|by|during|for|from|here|i|in|it|on|or|over|so|then|"
    r"through|to|under|via|when|where|which|while|who|with|without)\b|\s+[-–—])"
)
_ASSISTANT = rf"(?:(?:an? |the |any |some |our )?(?:{AI})|(?<!a )(?<!the ){NAME}){_VERSION}"
_BY_ASSISTANT = rf"{_ASSISTANT}(?:['’]s (?:help|assistance|aid|suggestions?|completions?))?{_END}"

_ADVERB = (
    r"(?:(?:not|also|all|almost|first|fully|entirely|mostly|mainly|primarily|largely|partly|partially|completely|heavily|"
    r"initially|originally|just|only|solely|purely|automatically|in (?:large )?part|for the most part|\d{1,3} ?%)\s+)"
)
_MADE = (
    r"(?:(?:re-?|co-?)?(?:written|generated|drafted|created|authored|produced|developed|implemented|coded|designed|made|"
    r"prepared|composed|translated|refactored|ported|optimi[sz]ed|scaffolded|documented|polished|assisted|aided)|"
    r"done|vibe[- ]coded|pair[- ]programmed)"
)
_HELP = r"(?:help|assistance|aid)"
_BY = (
    rf"(?:by|via|through|using|without(?:\s+using)?|(?:together\s+|in\s+collaboration\s+)?with"
    rf"(?:(?:out)?\s+(?:the\s+|some\s+|a\s+lot\s+of\s+|lots\s+of\s+|any\s+)?{_HELP}\s+(?:of|from|by))?)"
)
_CHANGE = r"(?:prs?|pull requests?|mrs?|merge requests?|changes?|code|commits?|patch|branch|contribution|work|diff)"
_PART = rf"(?:{_CHANGE}|implementation|summary|description|tests?|test cases|docs|documentation|boilerplate)"
_THIS = rf"(?:this|these|the)\s+{_CHANGE}"
_CLAUSE = r"(?:^|[^\w\s'’/-])[^\w\n]{0,9}"
_BY_AI = rf"(?:{AI}|{NAME}){_VERSION}[ -](?:generated|assisted|written|authored|aided)"
_USED_END = r"(?=\W*$|\s*[^\w\s'’-]|\s+(?:and|but|during|for|here|in|on|throughout|to|when|while)\b)"
_SENTENCES = (
    # was written by X, has been drafted with the help of X; at the start of a clause without a verb before it.
    rf"(?:\b(?:was|were|been|be)\s+|{_THIS}\s+(?:is|are)\s+|{_CLAUSE}(?:{_PART}\s+)?){_ADVERB}{{0,3}}{_MADE}\s+"
    rf"{_ADVERB}{{0,3}}{_BY}\s+{_BY_ASSISTANT}",
    # with the help of X, whatever was done with it
    rf"\bwith(?:out)?\s+(?:the\s+|some\s+|any\s+)?{_HELP}\s+(?:of|from|by)\s+{_BY_ASSISTANT}",
    # I used X to …; we did not use any AI; I had X write it
    rf"(?:\b(?:i|we)\s+(?:have\s+|had\s+|did\s+not\s+|didn['’]t\s+|have\s+not\s+|haven['’]t\s+)?|{_CLAUSE}){_ADVERB}{{0,2}}"
    rf"(?:used|(?<=not\s)use|(?<=n['’]t\s)use|leaned\s+on|relied\s+on)\s+{_ASSISTANT}{_USED_END}",
    rf"\b(?:i|we)\s+(?:had|let|asked|prompted)\s+{_ASSISTANT}\s+(?:to\s+)?"
    r"(?:write|draft|generate|do|help|implement|create|fix|refactor|translate)\b",
    # X wrote, drafted … it
    rf"(?:{_CLAUSE}|\b(?:and|but|that)\s+){_ASSISTANT}\s+{_ADVERB}{{0,2}}(?:wrote|drafted|generated|authored|co-?wrote|"
    r"co-?authored|helped\s+(?:me\s+|us\s+)?(?:to\s+)?(?:write|with|draft))\b",
    # no AI was used, no LLMs involved; AI was not used
    rf"\bno\s+(?:use\s+of\s+)?(?:{AI}|{NAME}){_VERSION}\s+(?:(?:assistance|help|code)\s+)?"
    r"(?:was\s+|were\s+|has\s+been\s+)?(?:used|involved)\b",
    rf"{_CLAUSE}(?:{AI}|{NAME}){_VERSION}\s+(?:was|were|has\s+been|have\s+been)\s+(?:not\s+)?used\b",
    rf"\b(?:without\s+(?:any\s+|the\s+)?(?:use\s+of|using)|no\s+use\s+of)\s+{_BY_ASSISTANT}",
    # by hand, no AI.
    rf"{_CLAUSE}no\s+(?:{AI}|{NAME}){_VERSION}\s*(?:[.!)]|$)",
    # this pull request is AI-generated, contains AI-generated code; AI-assisted.
    rf"{_THIS}\s+(?:is|are|was|were)\s+{_ADVERB}{{0,3}}(?:an?\s+)?{_BY_AI}\b",
    rf"{_THIS}\s+(?:contains|includes|has)\s+(?:some\s+)?{_BY_AI}\s+{_PART}",
    rf"{_CLAUSE}{_ADVERB}{{0,2}}{_BY_AI}(?:\s+{_CHANGE})?{_END}",
    # Disclosure: X …
    rf"\bdisclosure\s*[:,–—-]\s*(?:[^.\n]{{0,60}}\s)?{_ASSISTANT}\b",
    # Co-authored-by: X
    rf"^[^\w\n]{{0,20}}(?:co-?authored|assisted|generated|written|created|drafted)[- ]by:\s*{NAME}{_VERSION}"
    rf"(?:[-\[<(@\w]*\[bot\]|[-\w]*\s*(?:[<(@,.;]|$)|{_END})",
)
_SAYS = (
    *("writ", "wrote", "generated", "drafted", "created", "authored", "produced", "developed", "implemented", "coded"),
    *("designed", "made", "prepared", "composed", "translated", "refactored", "ported", "optimi", "scaffolded"),
    *("documented", "polished", "assist", "done", "programmed", "help", "leaned", "relied", "involved", "asked"),
    *("prompted", "disclosure"),
)
_SAYS_SHORTLY = re.compile(r"aided\b|\b(?:aid|had|let|no|used?|using)\b")
"""One of these is in everything that `_SAID` finds."""
_SAID = re.compile("|".join(_SENTENCES), re.IGNORECASE | re.MULTILINE)
_UNTICKED = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[ ?\].*$", re.MULTILINE)
_EMPHASIS = re.compile(r"[*~]+|\[(?!bot\])|(?<!\[bot)\]|(?<!\w)_+|(?<!_)_++(?!\w)")


def mentions_assistants(lowered: str, words: Iterable[str] = ASSISTANT_WORDS) -> bool:
    """Whether a text in small letters may be about AI at all: most are not, and this tells quickly.

    `words` are those of ASSISTANT_WORDS that it may have. They count as whole words, so that nobody declines a cline;
    but after "by" a name may go on, as in "Co-authored-by: cursoragent".
    """
    may_go_on = "by" in lowered
    return any(_has_word(lowered, word, may_go_on) for word in words) or _AI_WORD.search(lowered) is not None


def _has_word(lowered: str, word: str, may_go_on: bool) -> bool:
    at = lowered.find(word)
    while at >= 0:
        end = at + len(word)
        if not lowered[at - 1 : at].isalnum() and (may_go_on or not lowered[end : end + 1].isalpha()):
            return True
        at = lowered.find(word, end)
    return False


def says_assisted(text: str) -> bool:
    """Whether a sentence, but for boxes that nobody ticked, says that an assistant helped, or that none did.

    >>> says_assisted("Drafted with ChatGPT, then edited."), says_assisted("Rows are fetched with a cursor.")
    (True, False)
    """
    plain = _UNTICKED.sub("", text) if "[" in text else text
    if any(mark in plain for mark in "*~[]_"):
        plain = _EMPHASIS.sub("", plain)
    return _may_say(plain.lower()) and _SAID.search(plain) is not None


def _may_say(lowered: str) -> bool:
    return any([word in lowered for word in _SAYS]) or _SAYS_SHORTLY.search(lowered) is not None  # noqa: C419 (quicker)
