"""How fast metareview is, beside others on the same work, and how well its statistics hold to a known truth.

Each benchmark is a module with `run() -> Result`. One that compares with a peer has `ratios() -> Result` too, with
nothing else in it: what `make bench-check` repeats.
"""

SPEED = {
    "rouge": "ROUGE-L",
    "ranks": "Measures of rankings",
    "location": "Pairs by location",
    "alignment": "Alignment",
    "crowded": "A crowd on one line",
    "offline": "Offline judge",
    "model": "Model judge",
    "formats": "Reading comments",
    "histories": "Reading histories",
    "routing": "Routing",
    "outcomes": "Outcomes",
    "statistics": "Statistics",
    "hostile": "Data made to be slow",
    "viewer": "Viewer",
    "startup": "Start-up",
    "scale": "Scale",
    "spark": "Spark",
}
"""What is measured, and what people call it; the largest last."""

TRUTH = (
    "simulation",
    "equal_reviewers",
    "equal_routers",
    "repeats",
    "unpaired",
    "agreement",
    "labels",
    "outcome_labels",
    "unlisted",
    "cascade",
)
"""Simulations, and verdicts replayed: they say how far figures are off, not how fast they come."""

GROWTH = ("growth",)
"""A quarter of an hour of whole commands, for docs/scale.md."""
