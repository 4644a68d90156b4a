"""`llm`: a chat model behind an OpenAI-compatible server."""

from metareview.judges.registry import ASKS, JudgePlugin
from metareview.judges.remote.llm import LlmJudge

PLUGIN = JudgePlugin(
    "Asks a chat model behind an OpenAI-compatible server about every pair.", scores=True, make=LlmJudge.of, asks=ASKS
)
