"""`embedding`: vectors from an OpenAI-compatible server."""

from __future__ import annotations

from metareview.judges.registry import JudgePlugin
from metareview.judges.remote.embedding import EmbeddingJudge
from metareview.judges.remote.judge import keywords_of

PLUGIN = JudgePlugin(
    "Compares notes by the cosine of their embeddings from an OpenAI-compatible server.",
    scores=True,
    make=lambda options: EmbeddingJudge(**keywords_of(options)),
)
