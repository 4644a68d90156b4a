"""Text, paths, titles and addresses of megabytes, made to be looked through again and again.

What takes a time that grows with the square of such a text takes hours: a process of its own is given a minute for all.
"""

import subprocess
import sys

import pytest

CASES = {
    "addresses of a pull request": """
from metareview.model.address import parse_address, pull_request_of_path, repository_key
assert parse_address("/pull/1" * 20_000 + "\\nx") is None
assert parse_address("a:1/" * 100_000) is None
assert repository_key("a" + "/" * 1_000_000 + "x").endswith("/x")
assert pull_request_of_path("tool/" + "a" * 500_000 + "!/7.json") is None
assert pull_request_of_path("_" * 500_000 + "!.json") is None
assert pull_request_of_path("octo__shop-7.json") == "octo__shop-7"
""",
    "patterns and owners of CODEOWNERS": """
from metareview.formats.codeowners import CodeOwners
assert CodeOwners("a" * 300_000 + " @ada").owners("a" * 300_000) == ("ada",)
assert CodeOwners("\\\\\\\\" * 150_000 + " @ada").owners("\\\\" * 150_000) == ("ada",)
assert CodeOwners("* a@" + "." * 2_900_000 + "@").invalid == [1]
assert CodeOwners("* a@b.org").owners("x") == ("a@b.org",)
assert CodeOwners("* a@.b").invalid == [1] and CodeOwners("* a@..b").owners("x") == ("a@..b",)
""",
    "bodies of tools": """
from metareview.formats.bodies import pr_agent
impact = pr_agent._IMPACT
assert impact.match("</td><td>" + " " * 1_000_000 + "x") is None
assert impact.match("</td>\\n<td align=center>  \\n Very high \\n</td>")["impact"] == "Very high"
""",
    "repositories in files of other tools": """
from metareview.formats.comments import aacr_standard
assert aacr_standard._HOST.sub("", "b" * 1_000_000) == "b" * 1_000_000
assert aacr_standard._HOST.sub("", "git@" * 300_000) == "git@" * 300_000
assert aacr_standard._HOST.sub("", "git@host.org:octo/shop") == "octo/shop"
""",
    "sentences and emphasis": """
from metareview.routing.assistants import mentions_assistants, says_assisted
from metareview.text.sentences import sentences
assert len("".join(sentences("\\u3002" * 1_000_000))) == 1_000_000
assert sentences("\\u597d\\u3002\\u3002\\u3002\\u597d") == ["\\u597d\\u3002\\u3002\\u3002", "\\u597d"]
assert not says_assisted("written a" + "_" * 1_000_000 + "a")
assert says_assisted("__Drafted__ with _ChatGPT_.")
assert not mentions_assistants(" clinex" * 700_000)
assert mentions_assistants("by clinex") and mentions_assistants("a cline.")
""",
    "placeholders below a heading": """
from metareview.routing.declarations import read_declarations
assert not read_declarations("## AI disclosure\\n" + ("_" * 450 + " please\\n") * 300).ai_disclosure
assert not read_declarations("## AI disclosure\\n(____)").ai_disclosure
assert read_declarations("## AI disclosure\\n_none_").ai_disclosure
""",
    "names that a pattern chooses": """
from metareview.model.selection import Selection
assert "-" * 100_000 not in Selection(("*-*-*-*x",))
assert "a-bot-2" in Selection(("*bot*",)) and "ab" in Selection(("a?",)) and "b" not in Selection(("a*",))
assert "abcbc" in Selection(("a*bc",)) and "bc" in Selection(("*bc",)) and "bcd" not in Selection(("*bc",))
""",
    "fences in a note": """
from metareview.report.plain_notes import _COMMENT
for _ in range(200):
    _COMMENT.sub(r"\\1", "`" * 8_000)
assert _COMMENT.sub(r"\\1", "```\\n<!-- a -->\\n```\\n<!-- b -->c") == "```\\n<!-- a -->\\n```\\nc"
""",
}


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_text_is_read_in_a_time_that_grows_with_its_length(case):
    subprocess.run([sys.executable, "-c", CASES[case]], check=True, timeout=60)
