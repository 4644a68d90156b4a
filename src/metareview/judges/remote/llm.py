"""`llm`: a chat model says whether two comments raise the same issue. OpenAI-compatible, temperature 0.

Each distinct pair of notes is asked about once, over all pull requests at once; what the cache knows is not asked. An
answer is in the cache before it is handed on. A pair without an answer is undecided, with the reason, and the next run
asks about it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from metareview.judges.protocol import Parameters
from metareview.judges.remote.cache import verdict_key
from metareview.judges.remote.chat import PARAMETERS, Chat, ChatModel
from metareview.judges.remote.judge import Pair, RemoteJudge
from metareview.judges.remote.prompt import RESPONSE_FORMAT, VERSION, load_prompt
from metareview.judges.remote.verdict import ModelAnswer, Verdict, check_answer, read_answer

_CHAT: Chat[Pair, ModelAnswer] = Chat(
    lambda pair: load_prompt().messages(*pair), RESPONSE_FORMAT, read_answer, check_answer
)


class LlmJudge(ChatModel, RemoteJudge):
    """Asks a chat model, one call per distinct pair of notes.

    `threshold` replaces the model's own `match`: a pair is the same where its score reaches it.
    """

    name = "llm"
    parameters: Parameters = MappingProxyType({"prompt": VERSION, **PARAMETERS})

    def _ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        outcomes = self._chat(_CHAT, {pair: self._key(pair) for pair in dict.fromkeys(pairs)})
        verdicts = {
            pair: Verdict.undecided(outcome.reason)
            if outcome.answer is None
            else Verdict.of(outcome.answer, self.threshold, outcome.by)
            for pair, outcome in outcomes.items()
        }
        return [verdicts[pair] for pair in pairs]

    def _calls(self, pairs: Sequence[Pair]) -> int:
        return self._unanswered(_CHAT, [self._key(pair) for pair in pairs])

    def _key(self, pair: Pair) -> str:
        return verdict_key(self.name, self.settings.model, VERSION, PARAMETERS, pair)
