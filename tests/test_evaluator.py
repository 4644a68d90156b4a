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


def test_the_example_block_is_two_plain_dictionaries(generated):
    assert generated == [
        {
            "path": "src/main.py",
            "side": "right",
            "from_line": 10,
            "to_line": 15,
            "note": "Potential null pointer issue here",
        },
        {
            "path": "src/utils.py",
            "side": "right",
            "from_line": 20,
            "to_line": 25,
            "note": "Consider adding exception handling",
        },
    ]
    assert [type(comment) for comment in generated] == [dict, dict]


def test_a_field_that_the_file_lacks_is_there_and_empty(tmp_path):
    path = tmp_path / "comments_repo_1.txt"
    path.write_text("<note>x</note>")
    expected = {"path": "", "side": "", "from_line": None, "to_line": None, "note": "x"}
    assert mr.load_generated_comments_from_file(path) == [expected]


def test_location_only_says_nothing_about_meaning(generated):
    result = answer(generated, config=mr.EvaluatorConfig.location_only(line_distance_threshold=1))
    assert result.keys() >= KEYS
    assert result["evaluation_id"] == "repo_123"
    assert (result["positive_line_match_nums"], result["positive_line_match_rate"]) == (2, 1)
    about_meaning = ("positive_match_rate", "positive_recall_rate", "f1", "unmatched_rate")
    assert [result[name] for name in about_meaning] == [None] * 4
    assert [(each["line_match"], each["semantic_match"]) for each in result["match_details"]] == [(True, None)] * 2
    overlap = answer(generated, config=mr.EvaluatorConfig.location_only(line_distance_threshold=0))
    assert overlap["positive_line_match_nums"] == 1
    assert [each["line_match"] for each in overlap["match_details"]] == [False, True]


def test_location_only_counts_and_lists_nothing_about_meaning():
    """The second and third comment say the same, the last one what annotators rejected: words that nobody read."""
    generated = [
        {"path": "a.py", "from_line": 3, "note": "leaks memory"},
        {"path": "a.py", "from_line": 40, "note": "rename it"},
        {"path": "a.py", "from_line": 41, "note": "rename it"},
        {"path": "b.py", "from_line": 5, "note": "bad"},
    ]
    expected = [{"path": "a.py", "from_line": 3, "note": "leaks memory", "category": "Code Defect"}]
    rejected = [{"path": "b.py", "from_line": 5, "note": "bad"}]
    config = mr.EvaluatorConfig.location_only()
    found = answer(generated, expected, config=config, negatives=rejected)
    counted = {name: found[name] for name in found if name.endswith("_nums")}
    assert {name: number for name, number in counted.items() if number} == {
        "positive_expected_nums": 1,
        "total_generated_nums": 4,
        "positive_line_match_nums": 1,
        "positive_line_covered_nums": 1,
        "negative_expected_nums": 1,
    }
    assert (found["positive_line_match_rate"], found["positive_line_recall_rate"]) == (0.25, 1)
    rates = ("positive_match_rate", "positive_recall_rate", "f1", "unmatched_rate", "false_positive_rate")
    assert [found[name] for name in rates] == [None] * 5
    assert (found["judged_pairs"], found["matched_reference_comments"], found["llm_comparisons"]) == (0, [], [])
    assert found["reference_slices"]["comment_category"] == {"Code Defect": [1, 0, 1]}
    first, *others = found["match_details"]
    assert (first["line_match"], first["line_reference"]) == (True, 0)
    for each in (first, *others):
        assert (each["semantic_match"], each["reference"], each["negative"]) == (None, None, None)
        assert not each.keys() & {"score", "match", "by", "reason", "repeats"}
    [reference] = found["reference_comments"]
    assert (reference["covered"], reference["line_covered"]) == (False, True)


def test_a_match_on_the_same_lines_is_a_line_match():
    """By location alone the first comment may hold the only reference, though the second is the one that matches."""
    generated = [
        {"note": "a remark", "path": "a.py", "from_line": 3},
        {"note": "leaks", "path": "a.py", "from_line": 3},
    ]
    config = mr.EvaluatorConfig(semantic_matcher_type="exact")
    for order in (generated, generated[::-1]):
        result = answer(order, [{"note": "leaks", "path": "a.py", "from_line": 3}], config=config)
        [matched] = [each for each in result["match_details"] if each["semantic_match"]]
        assert matched["line_match"] is True
        assert result["positive_line_match_nums"] == 1


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
    skipped = answer(generated, config=config, pr_metadata=metadata | {"project_main_language": "Go"})
    assert skipped["skipped"]
    assert "Go" in skipped["skip_reason"]
    assert skipped.keys() == result.keys()
    assert (skipped["positive_match_rate"], skipped["total_generated_nums"], skipped["match_details"]) == (None,) * 3


def test_filters_of_pull_requests_need_metadata(generated):
    config = mr.EvaluatorConfig.with_filter(
        project_languages=["Python"], comment_categories=["Code Defect"], semantic_matcher_type="rouge"
    )
    with pytest.warns(UserWarning, match="filters of pull requests are not applied without pr_metadata"):
        result = answer(generated, config=config)
    assert (result["skipped"], result["filtered_good_comments_count"]) == (False, 1)
    assert len(result["warnings"]) == 1
    assert answer(generated, config=config, pr_metadata={"project_main_language": "Python"})["warnings"] == []


@pytest.mark.parametrize("metadata", [None, {"project_main_language": "Go"}])
def test_filter_values_that_nobody_knows_are_refused(generated, metadata):
    config = mr.EvaluatorConfig.with_filter(project_languages=["Pyton"], semantic_matcher_type="rouge")
    with pytest.raises(mr.UsageError, match=r"Unknown language 'Pyton'\. Did you mean 'Python'"):
        answer(generated, config=config, pr_metadata=metadata)


def test_the_alignment_is_a_setting():
    """One comment within reach of two references: coverage counts both, the others one."""
    good = [{"note": "leaks", "path": "a.py", "from_line": line} for line in (3, 4)]
    generated = [{"note": "leaks", "path": "a.py", "from_line": 3}]

    def covered(**settings):
        config = mr.EvaluatorConfig(semantic_matcher_type="exact", **settings)
        return answer(generated, good, config=config)["positive_covered_nums"]

    assert [covered(), covered(alignment="greedy"), covered(alignment="coverage")] == [1, 1, 2]
    assert mr.EvaluatorConfig.location_only(alignment="greedy").alignment == "greedy"
    with pytest.raises(mr.UsageError, match=r"Unknown alignment 'gredy'\. Did you mean 'greedy'"):
        mr.EvaluatorConfig(alignment="gredy")


def test_negatives_are_an_argument(generated):
    config = mr.EvaluatorConfig(semantic_matcher_type="exact")
    rejected = [{"note": "Consider adding exception handling", "path": "src/utils.py", "from_line": 22}]
    result = answer(generated, config=config, negatives=rejected)
    assert (result["negative_match_nums"], result["false_positive_rate"]) == (1, 0.5)
    assert answer(generated, config=config)["false_positive_rate"] is None
    with pytest.raises(mr.InputError, match=r"negatives\[0\]"):
        answer(generated, config=config, negatives=[{"note": 5}])


def test_the_runners_names_of_enum_members_work():
    assert mr.PRCategory.REFACTORING == "Code Refactoring / Architectural Improvement"
    levels = (mr.CommentContext.DIFF_LEVEL, mr.CommentContext.FILE_LEVEL, mr.CommentContext.REPO_LEVEL)
    assert levels == ("Diff Level", "File Level", "Repo Level")
    assert len(mr.CommentContext) == 3


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
    with pytest.raises(mr.InputError, match=r"generated_comments\[0\].*note is missing, and 'body' is not known"):
        answer([{"body": "x", "path": "a.py"}], config=mr.EvaluatorConfig.location_only())
    with pytest.raises(mr.UsageError, match="Valid: llm"):
        mr.EvaluatorConfig(semantic_matcher_type="oracle")
    with pytest.raises(mr.UsageError, match=r"must be a list.*\['Bug Fix'\]"):
        mr.FilterConfig(pr_categories="Bug Fix")


def test_one_object_on_both_sides_is_told():
    same = [{"note": "leak", "path": "a.py", "from_line": 1, "to_line": 1}]
    given = {"github_pr_url": "https://github.com/o/r/pull/1", "generated_comments": same, "good_comments": same}
    found = asyncio.run(mr.get_evaluator_ans_from_json(**given, config=mr.EvaluatorConfig.location_only()))
    assert found["positive_line_match_nums"] == 1
    assert found["warnings"] == [
        "generated_comments and good_comments are the same object: it is scored against itself"
    ]
    given["good_comments"] = list(same)
    found = asyncio.run(mr.get_evaluator_ans_from_json(**given, config=mr.EvaluatorConfig.location_only()))
    assert found["warnings"] == []
