"""`embedding`: vectors from an OpenAI-compatible server."""

from metareview.judges.registry import JudgePlugin
from metareview.judges.remote.embedding import EmbeddingJudge

PLUGIN = JudgePlugin(
    "Compares notes by the cosine of their embeddings from an OpenAI-compatible server.",
    scores=True,
    make=EmbeddingJudge.of,
)
