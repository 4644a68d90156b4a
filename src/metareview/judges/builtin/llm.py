"""`llm`: a chat model behind an OpenAI-compatible server."""

from __future__ import annotations

from metareview.judges.registry import JudgePlugin
from metareview.judges.remote.judge import keywords_of
from metareview.judges.remote.llm import LlmJudge

PLUGIN = JudgePlugin(
    "Asks a chat model behind an OpenAI-compatible server about every pair.",
    scores=True,
    make=lambda options: LlmJudge(**keywords_of(options)),
)
