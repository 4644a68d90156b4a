"""A rich, invented file in each comment format, for tests that take them all: fuzzing, memory, folders."""

import json

URL = "https://github.com/octo/shop/pull/7"
FORMATS = (
    "aacr-text, aacr, jsonl, github, martian, aacr-standard, bc-bench, claude-code, codex, gitlab, "
    "gitlab-code-quality, open-code-review, pr-agent, rdjson, rdjsonl, sarif"
)
"""All of them, in the order of sniffing."""
FILE_NAME = "octo_shop_7.json"
"""Names the pull request for formats that do not."""

SARIF = {
    "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
    "version": "2.1.0",
    "inlineExternalProperties": [
        {"guid": "00001111-2222-1111-8888-555566667777", "artifacts": [{"location": {"uri": "extra.py"}}]}
    ],
    "runs": [
        {
            "tool": {
                "driver": {
                    "name": "Scanner",
                    "globalMessageStrings": {"shared": {"text": "Shared {0}."}},
                    "rules": [
                        {
                            "id": "R1",
                            "name": "Leak",
                            "guid": "11111111-1111-1111-8888-111111111111",
                            "shortDescription": {"text": "A leak."},
                            "defaultConfiguration": {"level": "note"},
                            "messageStrings": {"default": {"text": "'{0}' leaks {{twice}}, see [here](1)."}},
                        }
                    ],
                },
                "extensions": [{"name": "More", "rules": [{"id": "X1", "fullDescription": {"text": "Extra."}}]}],
            },
            "externalPropertyFileReferences": {
                "artifacts": [{"guid": "00001111-2222-1111-8888-555566667777"}],
                "results": [{"location": {"uri": "more.sarif"}}],
            },
            "invocations": [
                {
                    "executionSuccessful": True,
                    "ruleConfigurationOverrides": [{"descriptor": {"index": 0}, "configuration": {"level": "error"}}],
                    "toolExecutionNotifications": [{"message": {"text": "Slow."}, "level": "error"}],
                }
            ],
            "versionControlProvenance": [
                {
                    "repositoryUri": "https://github.com/octo/shop.git",
                    "revisionId": "0a1b2c",
                    "mappedTo": {"uriBaseId": "ROOT"},
                }
            ],
            "originalUriBaseIds": {"ROOT": {"uri": "file:///build/shop/"}, "SRC": {"uri": "src/", "uriBaseId": "ROOT"}},
            "specialLocations": {"displayBase": {"uriBaseId": "ROOT", "uri": ""}},
            "columnKind": "utf16CodeUnits",
            "artifacts": [
                {"location": {"uri": "cart.py", "uriBaseId": "SRC"}, "contents": {"text": "a\n\U0001f600b\nc\n"}},
                {"location": {"uri": "in.zip"}, "parentIndex": 0},
            ],
            "results": [
                {
                    "ruleId": "R1/sub",
                    "ruleIndex": 0,
                    "guid": "22222222-2222-1111-8888-222222222222",
                    "kind": "fail",
                    "provenance": {"invocationIndex": 0},
                    "message": {"id": "default", "arguments": ["handle"]},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "cart.py", "uriBaseId": "SRC", "index": 0},
                                "region": {"startLine": 3, "startColumn": 1, "endLine": 5, "endColumn": 1},
                            }
                        }
                    ],
                },
                {
                    "rule": {"id": "X1", "toolComponent": {"name": "More", "index": 0}},
                    "message": {"id": "shared", "arguments": ["text"]},
                    "level": "warning",
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"index": 0},
                                "region": {"charOffset": 3, "charLength": 4},
                            }
                        }
                    ],
                },
                {"message": {"text": "Gone."}, "baselineState": "absent"},
                {"message": {"text": "Known."}, "suppressions": [{"kind": "external", "status": "accepted"}]},
                {"message": {"text": "Fine."}, "kind": "pass"},
                {
                    "message": {"text": "Kept whole."},
                    "analysisTarget": {"uri": "a%20b.py"},
                    "properties": {"metareview": {"side": "left", "reactions": {"+1": 1}, "meta": {"k": [1]}}},
                },
            ],
            "properties": {"metareview": {"language": "Python", "cost": 0.5}},
        }
    ],
}
DIAGNOSTIC = {
    "message": "The coupon is applied twice.",
    "location": {"path": "src/cart.py", "range": {"start": {"line": 3, "column": 2}, "end": {"line": 5, "column": 1}}},
    "severity": "WARNING",
    "source": {"name": "lint", "url": "https://example.org"},
    "code": {"value": "E14", "url": "https://example.org/E14"},
    "suggestions": [{"text": "x", "range": {"start": {"line": 3}}}],
}
COMMENT = {"note": "The coupon is applied twice.", "path": "src/cart.py", "side": "right", "from_line": 3, "to_line": 4,
           "category": "Code Defect", "context": "Diff Level", "severity": "High", "is_ai_comment": True,
           "source_model": "m", "neutral": False, "reactions": {"+1": 2}, "meta": {"a": 1}}  # fmt: skip
SAMPLES = {
    "aacr-text": "<path>src/cart.py</path>\n<side>right</side>\n<from>3</from>\n<to>4-6</to>\n"
    "<note>The coupon\nis applied twice.</note>\n<notesplit />\n<path>a.py</path><note>No tests.</note>\n",
    "aacr": json.dumps(
        [{"githubPrUrl": URL, "category": "Bug Fix", "project_main_language": "Python", "comments": [COMMENT]}]
    ),
    "jsonl": json.dumps(
        {
            "pr": URL,
            "reviewer": "bot",
            "run": 1,
            "merged_at": "2025-06-01T12:00:00Z",
            "cost": 0.1,
            "comments": [COMMENT],
            "commits": [{"sha": "a", "at": "2025-06-01", "parents": ["b"], "files": [{"path": "a", "patch": "@@"}]}],
        }
    ),
    "github": json.dumps(
        [
            {
                "id": 1,
                "body": "Leaks.",
                "pull_request_url": URL,
                "path": "a.py",
                "line": 3,
                "start_line": None,
                "side": "RIGHT",
                "user": {"login": "o"},
            }
        ]
    ),
    "martian": json.dumps(
        [{"url": URL, "comments": [{"comment": "Race.", "severity": "High", "category": "bug", "neutral": False}]}]
    ),
    "gitlab": json.dumps(
        {
            "web_url": "https://gitlab.com/octo/shop/-/merge_requests/7",
            "discussions": [
                {
                    "id": "d1",
                    "individual_note": False,
                    "notes": [
                        {
                            "id": 1,
                            "type": "DiffNote",
                            "body": "Leaks.",
                            "author": {"username": "ann"},
                            "created_at": "2025-06-01T12:00:00Z",
                            "system": False,
                            "resolvable": True,
                            "resolved": True,
                            "position": {
                                "new_path": "a.py",
                                "old_path": "a.py",
                                "new_line": 4,
                                "head_sha": "0a1b2c",
                                "line_range": {
                                    "start": {"line_code": "a_3_3", "type": "new", "new_line": 3},
                                    "end": {"line_code": "a_4_4", "type": "new", "new_line": 4},
                                },
                            },
                        },
                        {"id": 2, "body": "Good catch.", "author": {"username": "ben"}, "system": False},
                    ],
                }
            ],
        }
    ),
    "sarif": json.dumps(SARIF),
    "rdjson": json.dumps({"source": {"name": "all"}, "severity": "ERROR", "diagnostics": [DIAGNOSTIC]}),
    "rdjsonl": "\n".join([json.dumps(DIAGNOSTIC), json.dumps({**DIAGNOSTIC, "severity": 1})]),
    "codex": json.dumps(
        {
            "findings": [
                {
                    "title": "[P1] Applied twice",
                    "body": "The coupon is applied twice.",
                    "confidence_score": 0.8,
                    "priority": 1,
                    "code_location": {
                        "absolute_file_path": "/home/me/shop/src/cart.py",
                        "line_range": {"start": 3, "end": 4},
                    },
                }
            ],
            "overall_correctness": "patch is incorrect",
        }
    ),
    "claude-code": json.dumps(
        [
            {
                "file": "src/cart.py",
                "line": "3-4",
                "summary": "Applied twice.",
                "failure_scenario": "Two coupons.",
                "category": "bug",
            }
        ]
    ),
    "open-code-review": json.dumps(
        {
            "comments": [
                {
                    "path": "a.py",
                    "content": "Leaks.",
                    "start_line": 3,
                    "end_line": 4,
                    "category": "bug",
                    "severity": "high",
                }
            ]
        }
    ),
    "pr-agent": json.dumps(
        {
            "review": {
                "key_issues_to_review": [
                    {
                        "relevant_file": "a.py",
                        "issue_header": "Possible Bug",
                        "issue_content": "Leaks.",
                        "start_line": 3,
                        "end_line": 4,
                    }
                ]
            },
            "code_suggestions": [
                {
                    "relevant_file": "a.py",
                    "one_sentence_summary": "Close it",
                    "suggestion_content": "Close the handle.",
                    "relevant_lines_start": 3,
                    "relevant_lines_end": 4,
                    "label": "bug",
                }
            ],
        }
    ),
    "gitlab-code-quality": json.dumps(
        [
            {
                "description": "Leaks.",
                "check_name": "leak",
                "fingerprint": "f1",
                "severity": "major",
                "location": {"path": "a.py", "lines": {"begin": 3, "end": 4}},
            },
            {
                "description": "Too long.",
                "check_name": "size",
                "location": {"path": "b.py", "positions": {"begin": {"line": 9, "column": 2}, "end": {"line": 7}}},
            },
        ]
    ),
    "bc-bench": json.dumps(
        {
            "repo": "octo/shop",
            "instance_id": "octo__shop-7",
            "base_commit": "0a1b2c",
            "metadata": {"area": "style"},
            "expected_comments": [
                {
                    "file": "a.al",
                    "line_start": 3,
                    "line_end": 4,
                    "severity": "high",
                    "domain": "style",
                    "body": "Leaks.",
                }
            ],
            "ignored_comments": [{"file": "a.al", "line_start": 9, "body": "Long."}],
        }
    ),
    "aacr-standard": json.dumps(
        [{"repo": "octo/shop", "head_commit": "0a1b2c", "language": "Go", "reference_comments": [COMMENT]}]
    ),
}
COMMENTS = dict.fromkeys(SAMPLES, 1) | {
    "aacr-text": 2,
    "sarif": 3,
    "rdjsonl": 2,
    "pr-agent": 2,
    "gitlab-code-quality": 2,
    "bc-bench": 2,
}
"""How many each of them holds."""
