import json
from pathlib import Path

import pytest
from comment_strategies import recognised

from metareview.errors import InputError
from metareview.formats.comments import sarif
from metareview.formats.input_file import InputFile
from metareview.formats.sarif.messages import message_text
from metareview.model.comment import Comment, Review

URL = "https://github.com/octo/shop/pull/7"
SHARED = Path(__file__).parent.parent.parent.parent / "shared/data/formats/sarif"


def log(*results, driver=None, **run):
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver or {"name": "T"}}, "results": [*results], **run}]}


def read(document, *, strict=True, about=URL):
    text = document if isinstance(document, str) else json.dumps(document)
    source = InputFile.of_text(text, "r.sarif", strict=strict, named_pull_request=about)
    assert recognised(source) == ["sarif"]
    return list(sarif.read(source)), source.all_warnings()


def comments(document, **options):
    [review], warnings = read(document, **options)
    return list(review.comments), warnings


def one(result, **run):
    """The comment of a single result, in a run that has these properties."""
    [comment], warnings = comments(log({"message": {"text": "m"}, **result}, **run))
    assert warnings == []
    return comment


def at(uri=None, base=None, region=None, **location):
    artifact = {"uri": uri, "uriBaseId": base, **location}
    physical = {"artifactLocation": {key: value for key, value in artifact.items() if value is not None}}
    return {"locations": [{"physicalLocation": {**physical, **({} if region is None else {"region": region})}}]}


# Runs


def test_a_run_is_a_review_by_its_tool_and_a_result_a_comment():
    result = {
        "ruleId": "R1",
        "level": "error",
        "message": {"text": "Leaks."},
        **at("src/a.py", region={"startLine": 3}),
    }
    document = log(result)
    document["runs"].append({"tool": {"driver": {"name": "Other"}}, "results": []})
    reviews, warnings = read(document)
    leak = Comment("Leaks.", "src/a.py", None, 3, 3, category="R1", severity="error")
    assert reviews == [Review(URL, (leak,), "T", source="r.sarif"), Review(URL, (), "Other", source="r.sarif")]
    assert warnings == []


def test_no_runs_are_the_silence_of_whoever_the_file_is_named_after():
    assert read({"version": "2.1.0", "runs": []}) == ([Review(URL, source="r.sarif")], [])


FAILED = {"executionSuccessful": False}
NOTES = [{"message": {"text": text}, "level": level} for text, level in (("Slow.", "warning"), ("No memory.", "error"))]
SURVIVED = {"executionSuccessful": True, "toolExecutionNotifications": NOTES}


@pytest.mark.parametrize(
    ("run", "comments", "warning"),
    [
        *(
            (
                {"invocations": [{**SURVIVED, **FAILED}], **results},
                None,
                "has no results (No memory.); it is no silence",
            )
            for results in ({}, {"results": None}, {"results": []})
        ),
        ({}, None, "has no results; it is no silence"),
        (
            {"invocations": [FAILED], "results": [{"message": {"text": "m"}}]},
            ["m"],
            "failed (executionSuccessful is false): its results may not be all",
        ),
        ({"invocations": [SURVIVED], "results": [{"message": {"text": "m"}}]}, ["m"], "reports an error: No memory."),
    ],
)
def test_a_run_that_failed_is_no_silence_and_its_errors_are_shown(run, comments, warning):
    reviews, warnings = read({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "T"}}, **run}]})
    assert [[comment.note for comment in review.comments] for review in reviews] == (
        [] if comments is None else [comments]
    )
    assert warnings == [f"r.sarif: a run of T {warning}"]


def test_runs_that_are_null_are_a_failure():
    assert read({"version": "2.1.0", "runs": None}) == ([], ["r.sarif: runs is null: whatever was to write it failed"])


def test_the_pull_request_is_the_user_s_the_path_s_or_the_commit_s():
    provenance = [{"repositoryUri": "https://github.com/octo/shop.git", "revisionId": "0a1b"}]
    document = log({"message": {"text": "m"}}, versionControlProvenance=provenance)
    [review], _ = read(document)
    assert (review.pr, review.other_names, review.comments[0].commit) == (URL, ("octo/shop@0a1b",), "0a1b")
    assert read(document, about=None)[0][0].pr == "octo/shop@0a1b"
    source = InputFile.of_text(json.dumps(log()), "x/octo/shop/9.sarif")
    assert [review.pr for review in sarif.read(source)] == ["octo/shop#9"]
    with pytest.raises(InputError, match="nothing says which pull request it is about"):
        read(log(), about=None)


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0", 2, None])
def test_another_version_is_refused_with_the_fix(version):
    with pytest.raises(InputError, match=r"r.sarif:1: version must be \"2.1.0\", found .*Multitool"):
        read({"version": version, "runs": []})


# What counts


def test_suppressed_absent_and_passing_results_are_left_out_and_counted():
    def result(name, **fields):
        return {"message": {"text": name}, **fields}

    def suppressed(*states):
        return {"suppressions": [{"kind": "external", **({"status": state} if state else {})} for state in states]}

    found, warnings = comments(
        log(
            result("plain"),
            result("no suppressions", suppressions=[]),
            result("suppressed", **suppressed(None)),
            result("accepted twice", **suppressed("accepted", "accepted")),
            result("under review", **suppressed("accepted", "underReview")),
            result("rejected", **suppressed("rejected")),
            result("gone", baselineState="absent"),
            result("old", baselineState="unchanged"),
            result("pass", kind="pass"),
            result("not applicable", kind="notApplicable"),
            result("informational", kind="informational"),
            result("open", kind="open"),
            result("review", kind="review"),
            result("a kind of its own", kind="\ud800"),
        )
    )
    assert [(comment.note, comment.severity) for comment in found] == [
        ("plain", "warning"),
        ("no suppressions", "warning"),
        ("under review", "warning"),
        ("rejected", "warning"),
        ("old", "warning"),
        ("open", None),
        ("review", None),
        ("a kind of its own", None),
    ]
    assert warnings == [
        "r.sarif:1: kind holds half a surrogate pair; replaced by ?",
        "r.sarif: 2 results left out: suppressed",
        "r.sarif: 1 result left out: gone since the baseline (absent)",
        "r.sarif: 1 result left out: of kind pass, which is no problem",
        "r.sarif: 1 result left out: of kind notApplicable, which is no problem",
        "r.sarif: 1 result left out: of kind informational, which is no problem",
    ]


# Messages


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        ("plain", [], "plain"),
        ("'{0}' and '{1}', '{0}'", ["a", "b"], "'a' and 'b', 'a'"),
        ("{{0}} is {0}", ["x"], "{0} is x"),
        ("{2} is missing", ["x"], "{2} is missing"),
        ("a set {{1, 2}}", [], "a set {1, 2}"),
        ("use {} or {{x}}", [], "use {} or {{x}}"),
        ("argument {0}", ["{1}", "no"], "argument {1}"),
        ("see [here](1) and [there](sarif:/runs/0/results/2)", [], "see here and there"),
        ("see [the docs](https://example.org)", [], "see [the docs](https://example.org)"),
        (r"in [para\[0\]\\spans](1)", [], r"in para[0]\spans"),
        ("[{0}](1)", ["list[0]"], "list[0]"),
        ("a[0](x) stays, so does a\\[b", [], "a[0](x) stays, so does a\\[b"),
    ],
)
def test_placeholders_braces_and_links_are_resolved(template, arguments, text):
    assert message_text(template, arguments) == text


def test_a_hostile_message_is_looked_through_once():
    text = "[\\" * 200_000 + "]("
    assert message_text(text) == text


RULE = {
    "id": "R1",
    "name": "Leak",
    "shortDescription": {"text": "A short one."},
    "fullDescription": {"text": "A full one."},
    "messageStrings": {"default": {"text": "Rule {0}."}},
}
DRIVER = {"name": "T", "globalMessageStrings": {"all": {"text": "Global {0}."}}, "rules": [{"id": "R0"}, RULE]}


@pytest.mark.parametrize(
    ("result", "note"),
    [
        ({"ruleId": "R1", "message": {"id": "default", "arguments": ["x"]}}, "Rule x."),
        ({"ruleId": "R1/a/b", "message": {"id": "default", "arguments": ["x"]}}, "Rule x."),
        ({"ruleIndex": 1, "message": {"id": "default", "arguments": ["x"]}}, "Rule x."),
        ({"ruleId": "other", "ruleIndex": 1, "message": {"id": "default", "arguments": ["x"]}}, "Rule x."),
        ({"rule": {"id": "R1"}, "message": {"id": "default", "arguments": ["x"]}}, "Rule x."),
        ({"rule": {"index": 1}, "message": {"id": "default", "arguments": ["x"]}}, "Rule x."),
        ({"ruleId": "R0", "message": {"id": "all", "arguments": ["x"]}}, "Global x."),
        ({"ruleId": "?", "message": {"id": "all", "arguments": ["x"]}}, "Global x."),
        ({"ruleId": "R1", "message": {"text": "Own.", "id": "default"}}, "Own."),
        ({"ruleId": "R1", "message": {"markdown": "**Own.**"}}, "**Own.**"),
        ({"ruleId": "R1", "message": {"id": "none"}}, "A short one."),
        ({"ruleId": "R1", "message": {}}, "A short one."),
        ({"ruleId": "R0", "message": {}}, ""),
    ],
)
def test_a_message_is_the_result_s_own_its_rule_s_or_the_tool_s(result, note):
    assert comments(log(result, driver=DRIVER))[0][0].note == note


@pytest.mark.parametrize(
    "reference",
    [
        {"index": 0, "toolComponent": {"index": 1}},
        {"id": "R1", "toolComponent": {"guid": "AAAA"}},
        {"id": "R1", "toolComponent": {"name": "second"}},
        {"guid": "bbbb"},
    ],
)
def test_a_rule_may_be_an_extension_s(reference):
    second = {"id": "R1", "guid": "BBBB", "messageStrings": {"default": {"text": "Of the second."}}}
    extensions = [{"name": "first", "rules": []}, {"name": "second", "guid": "aaaa", "rules": [second]}]
    document = log({"rule": reference, "message": {"id": "default"}})
    document["runs"][0]["tool"] = {"driver": DRIVER, "extensions": extensions}
    assert comments(document)[0][0].note == "Of the second."


def test_a_rule_of_no_driver_is_looked_for_in_the_extensions():
    document = log({"ruleId": "X1", "message": {}})
    document["runs"][0]["tool"]["extensions"] = [{"name": "e", "rules": [{"id": "X1", "name": "Extra"}]}]
    assert comments(document)[0] == [Comment("Extra", category="X1", severity="warning")]


# Severity


@pytest.mark.parametrize(
    ("result", "severity"),
    [
        ({"level": "note"}, "note"),
        ({"level": "none"}, None),
        ({}, "warning"),
        ({"ruleId": "R1"}, "error"),
        ({"ruleId": "R1", "level": "note"}, "note"),
        ({"ruleId": "R1", "kind": "review"}, None),
        ({"ruleId": "R2"}, "note"),
        ({"ruleId": "R2", "provenance": {"invocationIndex": 0}}, "note"),
        ({"ruleId": "R2", "provenance": {"invocationIndex": 7}}, "warning"),
    ],
)
def test_the_level_is_the_result_s_the_invocation_s_the_rule_s_or_warning(result, severity):
    rules = [{"id": "R1", "defaultConfiguration": {"level": "error"}}, {"id": "R2"}]
    override = {"descriptor": {"id": "R2"}, "configuration": {"level": "note"}}
    invocations = [{"executionSuccessful": True, "ruleConfigurationOverrides": [override]}]
    assert one(result, driver={"name": "T", "rules": rules}, invocations=invocations).severity == severity


# Places

BASES = {
    "SRCROOT": {"uri": "file:///C:/code/shop/"},
    "SRC": {"uri": "src/", "uriBaseId": "SRCROOT"},
    "LIB": {"uri": "lib", "uriBaseId": "SRC"},
    "HOME": {"uri": "file:///home/me/"},
    "LOOP": {"uri": "a/", "uriBaseId": "POOL"},
    "POOL": {"uri": "b/", "uriBaseId": "LOOP"},
    "BARE": {"description": {"text": "taken out"}},
    "IN_BARE": {"uri": "in/", "uriBaseId": "BARE"},
}


@pytest.mark.parametrize(
    ("uri", "base", "path"),
    [
        ("a.c", None, "a.c"),
        ("my%20code/%C3%A9.c", None, "my code/é.c"),
        ("file:///C:/x/a.c", None, "C:/x/a.c"),
        ("file:///home/x/a.c", None, "/home/x/a.c"),
        ("file://server/share/a.c", None, "//server/share/a.c"),
        ("file:/home/x/a.c", None, "/home/x/a.c"),
        ("https://github.com/o/r/blob/1/a.c", None, "/o/r/blob/1/a.c"),
        ("./x/../a.c", None, "a.c"),
        ("a.c", "SRCROOT", "a.c"),
        ("a.c", "SRC", "src/a.c"),
        ("a.c", "LIB", "src/lib/a.c"),
        ("a.c", "HOME", "/home/me/a.c"),
        ("a.c", "MISSING", "a.c"),
        ("a.c", "LOOP", "b/a/a.c"),
        ("a.c", "IN_BARE", "in/a.c"),
        ("file:///x/a.c", "SRC", "/x/a.c"),
    ],
)
def test_a_uri_is_followed_through_its_bases(uri, base, path):
    assert one(at(uri, base), originalUriBaseIds=BASES).path == path


@pytest.mark.parametrize(
    "root",
    [
        {"specialLocations": {"displayBase": {"uri": "", "uriBaseId": "PACKAGE"}}},
        {"versionControlProvenance": [{"repositoryUri": "https://x.org/o/r", "mappedTo": {"uriBaseId": "PACKAGE"}}]},
        {
            "versionControlProvenance": [
                {"repositoryUri": "https://x.org/o/r", "mappedTo": {"uri": "file:///home/me/p/"}}
            ]
        },
    ],
)
@pytest.mark.parametrize(("uri", "base"), [("f.c", "SRC"), ("src/f.c", "PACKAGE"), ("file:///home/me/p/src/f.c", None)])
def test_paths_are_relative_to_the_root_that_the_file_names(root, uri, base):
    bases = {
        "ROOT": {"uri": "file:///"},
        "HOME": {"uri": "/home/me/", "uriBaseId": "ROOT"},
        "PACKAGE": {"uri": "p/", "uriBaseId": "HOME"},
        "SRC": {"uri": "src/", "uriBaseId": "PACKAGE"},
    }
    assert one(at(uri, base), originalUriBaseIds=bases, **root).path == "src/f.c"


def test_a_place_may_be_an_artifact_and_that_within_another():
    artifacts = [
        {"location": {"uri": "app.zip"}},
        {"location": {"uri": "/docs/intro.txt"}, "parentIndex": 0},
        {"location": {"uri": "loop"}, "parentIndex": 2},
    ]
    assert one(at(index=0), artifacts=artifacts).path == "app.zip"
    assert one(at(index=1), artifacts=artifacts).path == "app.zip/docs/intro.txt"
    assert one(at("/docs/intro.txt", index=1), artifacts=artifacts).path == "app.zip/docs/intro.txt"
    assert one(at(index=2), artifacts=artifacts).path == "loop"
    assert one(at(index=9), artifacts=artifacts).path is None


@pytest.mark.parametrize(
    ("region", "lines"),
    [
        ({"startLine": 3}, (3, 3)),
        ({"startLine": 3, "endLine": 5}, (3, 5)),
        ({"startLine": 3, "endLine": 5, "endColumn": 1}, (3, 4)),
        ({"startLine": 3, "endLine": 5, "endColumn": 2}, (3, 5)),
        ({"startLine": 3, "endColumn": 1}, (3, 3)),
        ({"charOffset": 10, "charLength": 3}, (None, None)),
        ({"byteOffset": 10}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_a_region_is_its_lines_and_ends_before_column_1(region, lines):
    context = at("a.c", region=region)
    context["locations"][0]["physicalLocation"]["contextRegion"] = {"startLine": 1, "endLine": 99}
    comment = one(context)
    assert (comment.from_line, comment.to_line) == lines


@pytest.mark.parametrize(
    ("kind", "offset", "length", "lines"),
    [
        # "ab\n😀c\n\nd": lines end at 2, 5, 6 and the text at 7; counted in UTF-16, one further from the face on.
        ("unicodeCodePoints", 0, 2, (1, 1)),
        ("unicodeCodePoints", 1, 3, (1, 2)),
        ("unicodeCodePoints", 6, None, (3, 3)),
        ("unicodeCodePoints", 7, 1, (4, 4)),
        ("unicodeCodePoints", 900, 5, (4, 4)),
        ("utf16CodeUnits", 6, None, (2, 2)),
        ("utf16CodeUnits", 7, 2, (3, 4)),
    ],
)
def test_an_offset_is_a_line_where_the_text_is_there(kind, offset, length, lines):
    region = {"charOffset": offset, **({} if length is None else {"charLength": length})}
    artifacts = [{"location": {"uri": "a.c"}, "contents": {"text": "ab\n\U0001f600c\n\nd"}}]
    for location in (at("a.c", region=region), at(index=0, region=region)):
        comment = one(location, artifacts=artifacts, columnKind=kind)
        assert (comment.from_line, comment.to_line) == lines


def test_the_first_location_with_a_file_is_the_place_and_else_the_file_looked_at():
    logical = {"logicalLocations": [{"fullyQualifiedName": "a::b"}]}
    second, third = at("b.c", region={"startLine": 2})["locations"][0], at("c.c")["locations"][0]
    assert one({"locations": [logical, second, third]}).content_key[:3] == ("b.c", 2, 2)
    assert one({"analysisTarget": {"uri": "t.c"}}).path == "t.c"
    assert one({"locations": [logical]}).path is None


# What is kept elsewhere


@pytest.mark.parametrize("reference", [{"guid": "g"}, {"location": {"uri": "sarif:/inlineExternalProperties/0"}}])
def test_what_is_kept_beside_the_runs_is_read(reference):
    document = log(at(index=0) | {"message": {"id": "a"}, "ruleIndex": 0})
    inline = {"guid": "g", "artifacts": [{"location": {"uri": "a.c"}}], "results": [{"message": {"text": "more"}}],
              "driver": {"name": "T", "rules": [{"id": "R", "messageStrings": {"a": {"text": "Found."}}}]}}  # fmt: skip
    document["inlineExternalProperties"] = [inline]
    references = {"artifacts": [reference], "results": [reference], "driver": reference}
    document["runs"][0]["externalPropertyFileReferences"] = references
    found, warnings = comments(document)
    assert found == [Comment("Found.", "a.c", category="R", severity="warning"), Comment("more", severity="warning")]
    assert warnings == []


@pytest.mark.parametrize("strange", [5, "x", {}, [5]])
def test_what_is_kept_beside_may_be_anything(strange):
    document = log({"message": {"text": "m"}})
    document["inlineExternalProperties"] = [
        {"guid": "g", "artifacts": strange, "extensions": strange, "driver": strange}
    ]
    reference = {"guid": "g"}
    references = {"artifacts": [reference], "extensions": [reference], "driver": reference}
    document["runs"][0] |= {"externalPropertyFileReferences": references, "artifacts": strange}
    document["runs"][0]["tool"]["extensions"] = strange
    [comment], _ = comments(document, strict=False)
    assert comment.note == "m"


def test_other_files_are_not_read_and_told_of():
    document = log({"message": {"text": "m"}})
    other = {"location": {"uri": "more.sarif-external-properties"}}
    document["runs"][0]["externalPropertyFileReferences"] = {"results": [other, other], "driver": other}
    assert comments(document)[1] == ["r.sarif: results, driver of a run are in other files, which are not read"]


# What is wrong


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"version": "2.1.0", "runs": [3]}, "a run must be an object"),
        ({"version": "2.1.0", "runs": {}}, "runs must be a list, found an object"),
        ({"version": "2.1.0", "runs": "x"}, "runs must be a list"),
        (log(3), "a result must be an object"),
        (log({"message": "m"}), "message must be an object, found a string"),
        (log({"message": {"text": 3}}), "text must be a string, found a number"),
        (log({"message": {"text": "m"}, **at("a", region={"startLine": 0})}), "startLine must be a line number"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(document, message):
    with pytest.raises(InputError, match=rf"r.sarif:1: {message}"):
        read(document)


def test_unless_strict_a_field_that_cannot_be_read_is_left_out():
    result = {"message": {"text": "m"}, "level": 3, **at("a.c", region={"startLine": "N/A"})}
    [comment], warnings = comments(log(result), strict=False)
    assert comment == Comment("m", "a.c", severity="warning")
    assert warnings == [
        "r.sarif:1: startLine must be a line number from 1 to 2147483647, found 'N/A'; the field is left out",
        "r.sarif:1: level must be a string, found a number; the field is left out",
    ]


# The standard's own samples


@pytest.mark.skipif(not SHARED.is_dir(), reason="no published SARIF files beside the checkout")
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Catastrophic-execution-error", []),
        ("Notifications", []),
        ("Empty-runs", [(None, [])]),
        ("One-run-with-results", [("CodeScanner", [(None, 1, 2**31 - 1, "warning")])]),
        ("ResultStacks", [("SarifSamples", [("collections/list.h", 15, 15, "warning")])]),
        (
            "Taxonomies",
            [
                (
                    "SarifSamples",
                    [
                        ("C:/code/myProject/io/kb.c", 1, 2**31 - 1, "error"),
                        ("C:/code/myProject/io/file.c", 1, 2**31 - 1, "warning"),
                    ],
                )
            ],
        ),
        ("link-to-location", [("PythonScanner", [("3-Beyond-basics/bad-eval.py", 4, 4, "warning")])]),
        ("standard-taxonomy", [("CodeScanner", [(None, 1, 2**31 - 1, "warning")])]),
    ],
)
def test_published_files_are_read(name, found):
    source = InputFile(SHARED / f"{name}.sarif", named_pull_request=URL)
    assert recognised(source) == ["sarif"]
    places = [(r.reviewer, [(c.path, *c.span, c.severity) for c in r.comments]) for r in sarif.read(source)]
    assert places == found
