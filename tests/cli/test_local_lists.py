"""Questions in lists to a model on one's own machine, whose context or answers are too small for them."""

import json

import pytest
from test_local_models import comments

from local_server import MODEL, LocalServer

SAID = [f"The cache key {i} is stale because " + "the tenant is not part of it and so on, " * 12 for i in range(30)]
EXPECTED = [f"The cache key {i} may be old and " + "should hold the tenant as well, " * 12 for i in range(30)]


def same_key(generated, reference):
    return generated.split()[3] == reference.split()[3]


@pytest.mark.parametrize(
    "habits",
    [
        {"context": 2500, "overflow": "400"},
        {"context": 2500, "overflow": "half"},
        {"context": 2048, "overflow": "cut"},
        {"predict": 800},
    ],
    ids=str,
)
def test_a_list_that_does_not_fit_is_asked_in_parts(here, run, monkeypatch, habits):
    with LocalServer(same_key, style="thinking", schema="ignored", **habits) as server:
        monkeypatch.setenv("LLM_MODEL_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", MODEL)
        command = [*comments("llm", SAID, EXPECTED), "--ask", "review", "--no-cache", "--json"]
        code, out, err = run(*command, "--out", "run")
    summary = json.loads(out)
    assert code == 0
    assert summary["reviewers"]["bot"]["positive_match_nums"] == 30
    assert (summary["judge"]["pairs"], summary["judge"]["errors"]) == (900, 0)
    assert summary["judge"]["llm_calls"] > 1
    assert "did not fit into the context" not in err  # the parts did, and nothing stayed undecided
    assert "at its limit on tokens" not in err
