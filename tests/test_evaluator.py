"""The names and keys of AACR-Bench's evaluator runner."""

import asyncio

import pytest

import metareview as mr

URL = "https://github.com/owner/repo/pull/123"
BLOCK = """
<path>src/main.py</path>
<side>right</side>
<from>10</from>
<to>15</to>
<note>Potential null pointer issue here</note>
<notesplit />
<path>src/utils.py</path>
<side>right</side>
<from>20</from>
<to>25</to>
<note>Consider adding exception handling</note>
<notesplit />
"""
GOOD = [
    {"id": "1", "note": "Potential null pointer issue", "path": "src/main.py", "side": "right", "from_line": 16,
     "to_line": 20, "category": "Code Defect", "context": "Diff Level"},
    {"note": "Something else", "path": "src/utils.py", "side": "right", "from_line": 25, "to_line": 25,
     "category": "Performance", "context": "File Level"},
]  # fmt: skip
KEYS = {
    "github_pr_url", "evaluation_id", "positive_expected_nums", "total_generated_nums", "positive_line_match_nums",
    "positive_match_nums", "positive_line_match_rate", "positive_line_recall_rate", "positive_match_rate",
    "positive_recall_rate", "match_details", "matched_reference_comments", "llm_comparisons",
}  # fmt: skip


@pytest.fixture
def generated(tmp_path):
    path = tmp_path / "comments_repo_123.txt"
    path.write_text(BLOCK)
    return mr.load_generated_comments_from_file(str(path))


def answer(generated, good=GOOD, **options):
    return asyncio.run(
        mr.get_evaluator_ans_from_json(github_pr_url=URL, generated_comments=generated, good_comments=good, **options)
    )


def test_the_example_block_is_two_comments(generated):
    assert [(c.path, c.side, c.from_line, c.to_line, c.note) for c in generated] == [
        ("src/main.py", "right", 10, 15, "Potential null pointer issue here"),
        ("src/utils.py", "right", 20, 25, "Consider adding exception handling"),
    ]
    assert generated[0]["note"] == generated[0].get("note") == "Potential null pointer issue here"
    assert dict(generated[1])["from_line"] == 20


def test_location_only(generated):
    result = answer(generated, config=mr.EvaluatorConfig.location_only(line_distance_threshold=1))
    assert result.keys() >= KEYS
    assert result["evaluation_id"] == "repo_123"
    assert result["positive_line_match_nums"] == result["positive_match_nums"] == 2
    assert result["positive_line_match_rate"] == 1
    overlap = answer(generated, config=mr.EvaluatorConfig.location_only(line_distance_threshold=0))
    assert overlap["positive_line_match_nums"] == 1


def test_a_judge_of_ours(generated):
    config = mr.EvaluatorConfig(semantic_matcher_type=mr.SemanticMatcherType.ROUGE)
    result = answer(generated, config=config)
    assert (result["positive_line_match_nums"], result["positive_match_nums"]) == (2, 1)
    assert result["matched_reference_comments"][0]["id"] == "1"
    assert [c["match"] for c in result["llm_comparisons"]] == [True, False]
    assert [d["semantic_match"] for d in result["match_details"]] == [True, False]


def test_filters_skip_and_count(generated):
    config = mr.EvaluatorConfig.with_filter(
        pr_categories=["Bug Fix"],
        project_languages=["Python"],
        comment_categories=["Code Defect"],
        semantic_matcher_type="rouge",
    )
    metadata = {"category": "Bug Fix", "project_main_language": "Python"}
    result = answer(generated, config=config, pr_metadata=metadata)
    assert not result["skipped"]
    assert (result["original_good_comments_count"], result["filtered_good_comments_count"]) == (2, 1)
    assert result["positive_recall_rate"] == 1
    result = answer(generated, config=config, pr_metadata=metadata | {"project_main_language": "Go"})
    assert result["skipped"]
    assert "Go" in result["skip_reason"]


def test_shortcuts_keep_the_runners_defaults():
    config = mr.EvaluatorConfig()
    assert (config.line_distance_threshold, config.enable_semantic_match) == (1, True)
    assert config.semantic_matcher_type is mr.SemanticMatcherType.LLM
    embedding = mr.EvaluatorConfig.with_embedding(line_distance_threshold=2)
    assert embedding.semantic_matcher_type is mr.SemanticMatcherType.EMBEDDING
    assert embedding.line_distance_threshold == 2
    assert mr.EvaluatorConfig.with_filter(pr_categories=["Bug Fix"]).filter_config.pr_categories == ("Bug Fix",)


def test_bad_arguments_say_what_is_wrong(generated):
    with pytest.raises(mr.InputError, match=r"good_comments\[0\].*from_line must be a line number"):
        answer(generated, [{"note": "x", "from_line": -1}], config=mr.EvaluatorConfig.location_only())
    with pytest.raises(mr.UsageError, match="good_comments must be a list"):
        answer(generated, "text", config=mr.EvaluatorConfig.location_only())
    with pytest.raises(mr.UsageError, match="Valid: llm"):
        mr.EvaluatorConfig(semantic_matcher_type="oracle")
    with pytest.raises(mr.UsageError, match=r"must be a list.*\['Bug Fix'\]"):
        mr.FilterConfig(pr_categories="Bug Fix")
