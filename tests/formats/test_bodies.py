import hashlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.formats.bodies import Parts, split
from metareview.formats.bodies.sections import code_blocks, plain, sections, unquoted, without_comments


def places(body, known_paths=()):
    return [(found.path, found.lines, found.note) for found in split(body, known_paths).findings]


# CodeRabbit's reviews

RABBIT = """**Actionable comments posted: 1**

> [!CAUTION]
> Some comments are outside the diff and can’t be posted inline due to platform limitations.
>
> <details>
> <summary>⚠️ Outside diff range comments (2)</summary><blockquote>
>
> <details>
> <summary>app/[id]/page.tsx (2)</summary><blockquote>
>
> `10-12`: _🎯 Functional Correctness_ | _🟠 Major_ | _⚡ Quick win_
>
> **Await it.**
>
> > as the docs say
>
> ```diff
> `3-4`: is code
> ```
>
> <details>
> <summary>Fix</summary>
>
> `5-6`: is collapsed
>
> </details>
>
> <!-- cr-comment:v1:a -->
>
> ---
>
> `30`: **Close the `handle`.**
>
> </blockquote></details>
>
> </blockquote></details>

<details>
<summary>♻️ Duplicate comments (1)</summary><blockquote>

<details>
<summary>`src/b.py` (1)</summary><blockquote>

`7-7`: _⚠️ Potential issue_ | _🔴 Critical_

**Still wrong.**

</blockquote></details>

</blockquote></details>

<details>
<summary>🧹 Nitpick comments (1)</summary><blockquote>

<details>
<summary>src/b.py (1)</summary><blockquote>

`9-11`: **Rename.**

Also applies to: 20-22

</blockquote></details>

</blockquote></details>

<details>
<summary>📜 Review details</summary>

**Plan**: Pro

<details>
<summary>🔇 Additional comments (1)</summary><blockquote>
<details>
<summary>src/c.py (1)</summary><blockquote>

`1-2`: LGTM!

</blockquote></details>
</blockquote></details>

</details>

<!-- This is an auto-generated comment -->
"""
AWAIT = """**Await it.**

> as the docs say

```diff
`3-4`: is code
```

<details>
<summary>Fix</summary>

`5-6`: is collapsed

</details>"""


def test_findings_stand_under_their_file_in_a_section_per_kind():
    assert places(RABBIT) == [
        ("app/[id]/page.tsx", (10, 12), AWAIT),
        ("app/[id]/page.tsx", (30, 30), "**Close the `handle`.**"),
        ("src/b.py", (7, 7), "**Still wrong.**"),
        ("src/b.py", (9, 11), "**Rename.**\n\nAlso applies to: 20-22"),
    ]


def test_category_and_severity_are_those_that_the_tool_states():
    assert [(found.category, found.severity, found.heading) for found in split(RABBIT).findings] == [
        ("Functional Correctness", "Major", "Outside diff range comments"),
        (None, None, "Outside diff range comments"),
        ("Potential issue", "Critical", "Duplicate comments"),
        ("Nitpick", None, "Nitpick comments"),
    ]


def test_praise_settings_and_headings_are_no_comment():
    assert split(RABBIT).rest == ""
    assert split("**Actionable comments posted: 0**") == Parts((), "")


@pytest.mark.parametrize(
    "around",
    [
        "<details>\n<summary>🤖 Fix all issues with AI agents</summary>\n\n```\nIn `@b.py`: close it.\n```\n</details>",
        "<details>\n<summary>🤖 Prompt for AI agents</summary>\n\n```\nIn `@b.py`: close it.\n```\n</details>",
        "---\n\n<details>\n<summary>ℹ️ Review info</summary>\n<details>\n<summary>⚙️ Run configuration</summary>\n\n"
        "**Configuration used**: defaults\n</details>\n</details>",
        "> [!NOTE]\n> Due to the large number of review comments, only the severe ones were posted inline.",
    ],
)
def test_what_stands_around_the_findings_says_nothing_of_its_own(around):
    """Instructions for agents say again what the comments on the lines say."""
    assert split(f"**Actionable comments posted: 2**\n\n{around}\n") == Parts((), "")
    beside = split(f"{RABBIT}\n{around}\n")
    assert (len(beside.findings), beside.rest) == (4, "")


def test_what_else_is_said_stays():
    assert split(RABBIT + "\nPlease rebase.").rest == "Please rebase."
    beside = RABBIT.replace("`9-11`: **Rename.**", "Somewhere: **Rename.**")
    assert len(split(beside).findings) == 3
    assert split(beside).rest == "Somewhere: **Rename.**\nAlso applies to: 20-22"


def test_comments_that_failed_to_post_have_bare_line_numbers():
    body = (
        "<details><summary>🛑 Comments failed to post (1)</summary><blockquote>\n"
        "<details><summary>a.js (1)</summary><blockquote>\n\n561-573: _📐 Maintainability_ | _🟠 Major_\n\n"
        "**Move it.**\n\n12-13: in its text\n</blockquote></details></blockquote></details>"
    )
    assert places(body) == [("a.js", (561, 573), "**Move it.**"), ("a.js", (12, 13), "in its text")]
    assert places(body.replace("Comments failed to post", "Nitpick comments")) == []


@pytest.mark.parametrize(
    "body",
    [
        "LGTM",
        "## Walkthrough\n\nThe cart is faster.\n\n<details><summary>Files (2)</summary>\n\n`1-2`: x\n</details>",
        "<details><summary>src/a.py (1)</summary>\n\n`1-2`: x\n\n</details>",
        "````\n" + RABBIT + "````",
        "",
    ],
)
def test_a_body_of_no_known_layout_stays_as_it_is(body):
    assert split(body) == Parts((), body)


@pytest.mark.parametrize("broken", ["`0-4`:", "`9999999999-9999999999`:", "`a-b`:", "9-11:", "lines 9-11:"])
def test_a_block_that_names_no_lines_is_not_split_and_not_lost(broken):
    parts = split(RABBIT.replace("`9-11`:", broken))
    assert len(parts.findings) == 3
    assert "**Rename.**" in parts.rest


def test_a_body_that_breaks_off_or_has_other_line_ends_keeps_its_findings():
    assert split(RABBIT.replace("\n", "\r\n")) == split(RABBIT)
    cut = RABBIT[: RABBIT.index("Also applies to")]
    assert places(cut)[-1] == ("src/b.py", (9, 11), "**Rename.**")


# PR-Agent's summaries


def link(path, lines):
    return f"https://github.com/acme/shop/pull/8/files#diff-{hashlib.sha256(path.encode()).hexdigest()}{lines}"


GUIDE = f"""## PR Reviewer Guide 🔍

Here are some key observations to aid the review process:

<table>
<tr><td>⏱️&nbsp;<strong>Estimated effort to review</strong>: 2 🔵🔵⚪⚪⚪</td></tr>
<tr><td>🧪&nbsp;<strong>No relevant tests</strong></td></tr>
<tr><td>🔒&nbsp;<strong>No security concerns identified</strong></td></tr>
<tr><td>⚡&nbsp;<strong>Recommended focus areas for review</strong><br><br>

<details><summary><a href='{link("src/cart.py", "R11-R16")}'><strong>Possible Issue</strong></a>

The price is rounded twice,<br>
once in <code>total</code>.
</summary>

```python
print("</details>")
```

</details>

<details><summary><a href='{link("src/old.py", "L3")}'><strong>Logic</strong></a>

It was right before.
</summary>

</details>

</td></tr>
</table>
"""


def test_focus_areas_are_findings_where_their_links_point():
    assert places(GUIDE, ["src/cart.py", "b.py"]) == [
        ("src/cart.py", (11, 16), "Possible Issue\n\nThe price is rounded twice, \nonce in `total`."),
        (None, (3, 3), "Logic\n\nIt was right before."),
    ]
    assert [found.side for found in split(GUIDE).findings] == ["RIGHT", "LEFT"]
    assert split(GUIDE).rest == ""


def test_a_guide_without_findings_says_nothing_and_other_rows_stay():
    none = GUIDE[: GUIDE.index("<details>")] + "No major issues detected</td></tr></table>"
    assert split(none) == Parts((), "")
    concern = GUIDE.replace(
        "No security concerns identified</strong>", "Security concerns</strong><br><br>\n\nA key leaks."
    )
    assert split(concern).rest == ("<tr><td>🔒&nbsp;<strong>Security concerns</strong><br><br>\nA key leaks.</td></tr>")


def test_older_guides_link_to_files():
    body = """## PR Reviewer Guide 🔍
<tr><td>⚡&nbsp;<strong>Key issues to review</strong><br><br>

<a href='https://g.org/a/b/-/blob/feature/x/run.sh?ref_type=heads#L14-L15'><strong>Bug</strong></a><br>Quote it.

<a href='https://g.org/a/b/blob/0123456789abcdef/bin/run.sh#L7'><strong>Smell</strong></a><br>No sudo.

</td></tr>"""
    assert places(body) == [(None, (14, 15), "Bug\n\nQuote it."), ("bin/run.sh", (7, 7), "Smell\n\nNo sudo.")]
    assert places(body, ["run.sh", "x/run.sh"])[0][0] == "x/run.sh"


SUGGESTIONS = f"""## PR Code Suggestions ✨

<!-- f9f1c19 -->

Explore these optional code suggestions:

<table><thead><tr><td><strong>Category</strong></td><td align=left><strong>Suggestion&nbsp; </strong></td>\
<td align=center><strong>Impact</strong></td></tr><tbody><tr><td rowspan=1>High-level</td>
<td>

<details><summary>Merge both modules</summary>

___

**They say the <br>same.**

### Examples:

<details>
<summary>
<a href="{link("src/types.rs", "R9-R17")}">src/types.rs [9-17]</a>
</summary></details>

<details><summary>Suggestion importance[1-10]: 10</summary>

__

Why: because.

</details></details></td><td align=center>High

</td></tr><tr><td rowspan=2>Possible issue</td>
<td>

<details><summary>Store the right type</summary>

___

**It should be <code>Vec&lt;T&gt;</code>.**

[app/[id]/lib.rs [109-132]]({link("app/[id]/lib.rs", "R109-R132")})

```diff
-    a
+    b
```

- [ ] **Apply / Chat** <!-- /improve --apply_suggestion=1 -->

<details><summary>Suggestion importance[1-10]: 7</summary>

__

Why: it is.

</details></details></td><td align=center>Medium

</td></tr><tr><td>

<details><summary>Say where</summary>

___

**Nowhere.**

</details></td><td align=center>Low

</td></tr>
<tr><td align="center" colspan="2">

- [ ] More <!-- /improve --more_suggestions=true -->

</td><td></td></tr></tbody></table>
"""


def test_suggestions_are_findings_with_category_and_impact():
    parts = split(SUGGESTIONS)
    assert [(found.path, found.lines, found.category, found.severity) for found in parts.findings] == [
        ("src/types.rs", (9, 17), "High-level", "High"),
        ("app/[id]/lib.rs", (109, 132), "Possible issue", "Medium"),
    ]
    assert (
        parts.findings[1].note == "Store the right type\n\n**It should be `Vec<T>`.**\n\n```diff\n-    a\n+    b\n```"
    )


def test_a_suggestion_without_a_place_stays():
    assert "**Nowhere.**" in split(SUGGESTIONS).rest
    assert "wrong type" not in split(SUGGESTIONS).rest
    without = SUGGESTIONS[: SUGGESTIONS.index("<tr><td>\n\n<details><summary>Say where")] + "</tbody></table>"
    assert split(without).rest == ""


def test_suggestions_for_earlier_commits_are_findings_too():
    table = SUGGESTIONS[SUGGESTIONS.index("<table>") :]
    body = f"## PR Code Suggestions ✨\n\n<details><summary>Previous suggestions</summary>\n\n{table}\n</details>"
    assert [found.path for found in split(body).findings] == ["src/types.rs", "app/[id]/lib.rs"]


# Hostile bodies are long, and none may take a time that grows with the square of its length


LONG = 300_000
NITPICK = "<details><summary>Nitpick comments (1)</summary><details><summary>a (1)</summary>\n`1`:"
HOSTILE = {
    "details": "<details>",
    "pairs": "<details></details>",
    "kinds": "<details><summary>Nitpick comments (1)</summary>",
    "files": NITPICK + "x</details>",
    "comments": "<!--",
    "fences": "```\n",
    "links": "<a href='x#diff-",
    "anchors": f"<a href='x#diff-{'a' * 64}R1'>t</a>y",
    "breaks": " <br ",
    "spaces": " ",
    "quotes": ">",
    "rules": "---\n",
    "labels": "_a_|",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "start", ["", "Actionable comments posted: 1\n", "## PR Reviewer Guide\n", "## PR Code Suggestions\n", NITPICK]
)
def test_a_hostile_body_is_read_in_one_go(name, start):
    body = start + HOSTILE[name] * (LONG // len(HOSTILE[name])) + "x"
    parts = split(body)
    assert len(parts.findings) <= LONG // 80
    assert parts.findings or parts.rest


TAGS = ["<details>", "</details>", "<summary>", "</summary>", "<blockquote>", "a.py (1)", "Nitpick comments (1)",
        "`1-2`:", "\n", "```", "> ", "<!--", "-->", "<a href='#diff-", "a" * 64, "R1'>", "</a>", "</td>", "x", "---",
        "PR Reviewer Guide", "PR Code Suggestions", "[a.py [1-2]](u)", "<td rowspan=1>", "_a_ | _Minor_"]  # fmt: skip
BODIES = st.lists(st.sampled_from(TAGS), max_size=40).map("".join) | st.text()


@settings(deadline=None)
@given(BODIES)
def test_whatever_is_written_is_split_into_parts_of_it(body):
    parts = split(body, ["a.py"])
    ends = [found.span for found in parts.findings]
    assert all(0 <= start < end <= len(body) for start, end in ends)
    assert all(before[1] <= after[0] for before, after in pairwise(ends))
    assert all(found.note.strip() for found in parts.findings)
    assert set("".join(parts.rest.split())) <= set(body)


@given(BODIES)
def test_sections_lie_within_each_other(body):
    for section in sections(body):
        start, end = section.outside
        assert start < section.inside[0] <= section.inside[1] <= end <= len(body)
        assert section.parent is None or section.parent.outside[0] < start <= end <= section.parent.outside[1]


@pytest.mark.parametrize(
    ("body", "blocks"),
    [("a\n```\n~~~\n```\nb", [(2, 13)]), ("````\n```\n````", [(0, 13)]), ("```x``` y\n", []), ("> ```\n> x", [(0, 9)])],
)
def test_code_blocks_end_with_a_fence_of_their_own_kind(body, blocks):
    assert code_blocks(body) == blocks


def test_pieces_of_markup():
    assert plain("a&nbsp;<b>b</b><br>c &lt;T&gt; Vec<T>") == "a b c <T> Vec<T>"
    assert without_comments("a<!-- b -->c<!-- d") == "ac<!-- d"
    assert unquoted("> > a\n>b\nc", 1) == "> a\nb\nc"


def test_the_files_of_a_pull_request_are_hashed_once_for_all_of_its_bodies(monkeypatch):
    bodies = [f"## PR Reviewer Guide\n\n<a href='{link('src/7.py', f'R{n}')}'>Leak</a> {n}" for n in range(1, 21)]
    known = frozenset(f"src/{number}.py" for number in range(50))
    hashed, sha256 = [], hashlib.sha256
    monkeypatch.setattr(hashlib, "sha256", lambda data: hashed.append(data) or sha256(data))
    assert [split(body, known).findings[0].path for body in bodies] == ["src/7.py"] * 20
    assert len(hashed) <= 50
