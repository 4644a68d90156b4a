"""`offline`, the default: a small model that ships with the package."""

from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.registry import JudgePlugin

PLUGIN = JudgePlugin(
    "Asks a small model that ships with the package: no key, no network, no download.",
    scores=True,
    make=lambda options: OfflineJudge(options.threshold, options.examples),
)
