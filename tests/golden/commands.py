"""The command lines, by name. Only what users type: no module of the package is named here.

`{shared}` is the folder of published data, `{demo}` the sample benchmark that ships with the package; `made/…` is
written by `inputs.py`. `runs/NAME` and `caches/NAME` come from the command NAME, which then runs first. The runner adds
`--json -q`, and to `comments`, `outcomes`, `routing` and `demo` also `--out runs/{name}`; reports are written to
`reports/`.
"""

_GOLDEN = " ".join(
    f"--reference {{shared}}/martian/golden_{project}.json" for project in ("sentry", "grafana", "keycloak")
)
_DEMO = "comments {demo}/reviews --reference {demo}/references.jsonl"
_DEMO_NEGATIVES = f"{_DEMO} --negatives {{demo}}/negatives.jsonl"
_AACR = "--reference {shared}/aacr/positive_samples.json"
_AACR_NEGATIVES = f"{_AACR} --negatives {{shared}}/aacr/negative_samples.json"
_AACR_ITSELF = f"comments {{shared}}/aacr/positive_samples.json {_AACR} --force"
_AACR_MADE = f"comments made/aacr-reviews.jsonl {_AACR_NEGATIVES}"
_MARTIAN = f"comments {{shared}}/martian/candidates.json {_GOLDEN}"
_GITHUB = "routing {shared}/routing/github-events.jsonl"
_ANDROID = "routing {shared}/routing/gerrit-android.jsonl"
_STORY = "routing made/history.jsonl"
_ALL_ROUTERS = " ".join(
    f"--router {name}" for name in ("mentions", "popularity", "recency", "codeowners", "revfinder", "chrev")
)
_REPORTS = " ".join(f"-o reports/{{name}}.{suffix}" for suffix in ("csv", "json", "xml", "md", "html"))

_SAMPLE = {
    "demo": "demo",
    "demo-none": f"{_DEMO_NEGATIVES} --judge none",
    "demo-none-coverage": f"{_DEMO_NEGATIVES} --judge none --alignment coverage",
    "demo-none-greedy": f"{_DEMO_NEGATIVES} --judge none --alignment greedy",
    "demo-exact": f"{_DEMO_NEGATIVES} --judge exact",
    "demo-rouge": f"{_DEMO_NEGATIVES} --judge rouge",
    "demo-rouge-coverage": f"{_DEMO_NEGATIVES} --judge rouge --threshold 0.3 --alignment coverage",
    "demo-rouge-greedy": f"{_DEMO_NEGATIVES} --judge rouge --threshold 0.3 --alignment greedy",
    "demo-offline-without-negatives": f"{_DEMO} --judge offline",
    "demo-offline-coverage": f"{_DEMO_NEGATIVES} --alignment coverage",
    "demo-offline-greedy": f"{_DEMO_NEGATIVES} --alignment greedy",
    "demo-ignore-location": f"{_DEMO_NEGATIVES} --ignore-location",
    "demo-ignore-location-greedy": f"{_DEMO} --ignore-location --alignment greedy --judge rouge",
    "demo-line-distance-0": f"{_DEMO_NEGATIVES} --line-distance 0",
    "demo-line-distance-5": f"{_DEMO_NEGATIVES} --line-distance 5",
    "demo-line-distance-30": f"{_DEMO_NEGATIVES} --line-distance 30 --judge rouge",
    "demo-threshold": f"{_DEMO_NEGATIVES} --threshold 0.8",
    "demo-languages": f"{_DEMO_NEGATIVES} --language Python --language Go",
    "demo-pr-category": f'{_DEMO_NEGATIVES} --pr-category "Bug Fix"',
    "demo-comment-category": f'{_DEMO_NEGATIVES} --comment-category "Code Defect"',
    "demo-comment-category-greedy": f'{_DEMO} --comment-category "Code Defect" --alignment greedy',
    "demo-context-coverage": f'{_DEMO_NEGATIVES} --context "Diff Level" --alignment coverage',
    "demo-all-filters": f'{_DEMO} --language Python --pr-category "Bug Fix" --comment-category "Code Defect"'
    ' --context "Diff Level" --context "File Level"',
    "demo-limit": f"{_DEMO_NEGATIVES} --limit 5 --seed 3",
    "demo-one-reviewer": "comments {demo}/reviews/terse --reference {demo}/references.jsonl --name brief",
    "demo-all-prs": "comments {demo}/reviews/noisy/comments_mapsync_518.txt --reference {demo}/references.jsonl"
    " --all-prs --seed 1",
    "demo-references-as-comments": "comments {demo}/references.jsonl --reference {demo}/references.jsonl --force"
    " --judge exact",
    "demo-github-format": "comments made/github.json --reference {demo}/references.jsonl",
    "demo-format-named": f"{_DEMO} --format aacr-text --reference-format jsonl --judge exact",
    "demo-dry-run": f"{_DEMO_NEGATIVES} --dry-run",
    "demo-gate-missed": f"{_DEMO} --fail-under f1=0.5",
    "demo-gates-met": f"{_DEMO} --fail-under f1=0.1 --fail-over unmatched_rate=0.9",
    "demo-unknown-judge": f"{_DEMO} --judge nobody",
    "demo-threshold-without-score": f"{_DEMO} --judge exact --threshold 0.5",
    "demo-nothing-left": f"{_DEMO} --language Cobol",
    "repeated": "comments made/repeated.jsonl --reference {demo}/references.jsonl --repeat --judge rouge",
    "repeated-greedy": "comments made/repeated.jsonl --reference {demo}/references.jsonl --repeat --alignment greedy",
    "costs": "comments made/costs.jsonl --reference {demo}/references.jsonl --judge exact",
}

_OUTCOMES = {
    "outcomes": "outcomes made/outcomes.jsonl --by severity --by week",
    "outcomes-bots": "outcomes made/outcomes.jsonl --reviewer *[bot] --since 2026-02-01 --fail-under lines_changed=0.9",
    "outcomes-dry-run": "outcomes made/outcomes.jsonl --judge cascade --dry-run",
}

_PUBLISHED_COMMENTS = {
    "aacr-itself-none": f"{_AACR_ITSELF} --judge none",
    "aacr-itself-none-greedy": f"{_AACR_ITSELF} --judge none --alignment greedy",
    "aacr-itself-exact": f"{_AACR_ITSELF} --judge exact",
    "aacr-itself-exact-greedy": f"{_AACR_ITSELF} --judge exact --alignment greedy",
    "aacr-itself-rouge-coverage": f"{_AACR_ITSELF} --judge rouge --alignment coverage",
    "aacr-itself-offline": f"{_AACR_ITSELF} --negatives {{shared}}/aacr/negative_samples.json",
    "aacr-rejected": f"comments {{shared}}/aacr/negative_samples.json {_AACR_NEGATIVES} --judge exact --all-prs",
    "aacr-rejected-rouge": f"comments {{shared}}/aacr/negative_samples.json {_AACR} --judge rouge --threshold 0.25",
    "aacr-made-none": f"{_AACR_MADE} --judge none",
    "aacr-made-none-coverage": f"{_AACR_MADE} --judge none --alignment coverage --line-distance 5",
    "aacr-made-exact-line-distance-0": f"{_AACR_MADE} --judge exact --line-distance 0",
    "aacr-made-exact-line-distance-5": f"{_AACR_MADE} --judge exact --line-distance 5",
    "aacr-made-rouge-greedy": f"{_AACR_MADE} --judge rouge --threshold 0.4 --alignment greedy",
    "aacr-made-offline": _AACR_MADE,
    "aacr-made-language": f"{_AACR_MADE} --judge rouge --language Rust --language C#",
    "aacr-made-pr-category": f'{_AACR_MADE} --judge rouge --pr-category "Security Patches / Vulnerability Fixes"',
    "aacr-made-comment-category": f"{_AACR_MADE} --judge exact --comment-category Performance --alignment coverage",
    "aacr-made-context": f'{_AACR_MADE} --judge exact --context "Repo Level" --context "File Level"',
    "aacr-made-ignore-location": f"{_AACR_MADE} --judge rouge --ignore-location --limit 60",
    "aacr-made-limit": f"{_AACR_MADE} --judge exact --limit 40 --seed 11",
    "aacr-made-dry-run": f"{_AACR_MADE} --dry-run --line-distance 3",
    "aacr-made-early": f"comments made/aacr-early.jsonl {_AACR} --judge exact",
    "aacr-made-late": f"comments made/aacr-late.jsonl {_AACR} --judge exact",
    "martian": _MARTIAN,
    "martian-exact": f"{_MARTIAN} --judge exact",
    "martian-rouge": f"{_MARTIAN} --judge rouge --threshold 0.35",
    "martian-rouge-greedy": f"{_MARTIAN} --judge rouge --threshold 0.35 --alignment greedy",
    "martian-offline-coverage": f"{_MARTIAN} --alignment coverage --threshold 0.3",
    "martian-all-prs": f"{_MARTIAN} --all-prs --judge rouge --limit 12 --seed 5",
}

# The verdicts of a real model, served over HTTP by the tests' own server; each command keeps a cache of its own.
_MODEL = {
    "llm": f"{_MARTIAN} --limit 4 --judge llm --cache caches/llm.sqlite",
    "llm-from-the-cache": f"{_MARTIAN} --limit 4 --judge llm --cache caches/llm.sqlite",
    "llm-partly-cached-dry-run": f"{_MARTIAN} --limit 5 --judge llm --cache caches/llm.sqlite --dry-run",
    "llm-limited": f"{_MARTIAN} --limit 3 --judge llm --cache caches/llm-limited.sqlite --max-llm-calls 20",
    "llm-refused": f"{_DEMO_NEGATIVES} --judge llm --concurrency 1 --cache caches/llm-refused.sqlite",
    "llm-coverage": f"{_DEMO_NEGATIVES} --judge llm --alignment coverage --cache caches/llm-coverage.sqlite --limit 6",
    "cascade": f"{_MARTIAN} --judge cascade --cache caches/cascade.sqlite",
    "cascade-dry-run": f"{_MARTIAN} --judge cascade --dry-run --cache caches/cascade-dry-run.sqlite",
    "embedding": f"{_DEMO_NEGATIVES} --judge embedding --threshold 0.5 --cache caches/embedding.sqlite",
    "calibrate-llm": "calibrate made/labels-ungrouped.jsonl --judge llm --cache caches/calibrate-llm.sqlite",
    "calibrate-cascade": "calibrate made/labels.jsonl --judge cascade --cache caches/calibrate-cascade.sqlite",
    "cache-info": "cache info --cache caches/llm.sqlite",
    "cache-info-embedding": "cache info --cache caches/embedding.sqlite",
    "cache-info-empty": "cache info --cache no-such-cache.sqlite",
}

_ROUTING = {
    "android-revfinder": f"{_ANDROID} --router revfinder --truth all_reviewers --truth-window none"
    " --reviews-visible-at creation --k 1,3,5,10",
    "android-others": f"{_ANDROID} --router chrev --router popularity --router recency --router codeowners"
    " --codeowners made/CODEOWNERS-android --truth first_approval --truth-window 7d --k 1,5,10 --limit 2500",
    "github": _GITHUB,
    "github-recency": f"{_GITHUB} --router recency",
    "github-approval": f"{_GITHUB} --truth first_approval --truth-window none",
    "github-all-reviewers": f"{_GITHUB} --truth all_reviewers --truth-window 7d --k 2,4 --merged-within 7d",
    "github-cutoff": f"{_GITHUB} --cutoff created_at+30m --truth-window 1d --ttfc",
    "github-ready": f"{_GITHUB} --cutoff ready_for_review --truth-window 1d --include-author",
    "github-bots": f"{_GITHUB} --router popularity --router mentions --include-bots --include-author",
    "github-creation": f"{_GITHUB} --reviews-visible-at creation --truth-window 7d",
    "github-predictions": f"{_GITHUB} --predictions made/predictions.jsonl --truth-window 7d",
    "github-predictions-and-routers": f"{_GITHUB} --predictions made/predictions.jsonl --router recency"
    " --truth-window 7d --merged-within 1d --ttfc",
    "github-time": f"{_GITHUB} --from 2025-06-01 --to 2025-07-01T12:00:00Z --router recency --truth-window 7d",
    "github-repositories": f"{_GITHUB} --repo oven-sh/bun --repo promptfoo/promptfoo --truth-window 7d --limit 90",
    "story": f"{_STORY} {_ALL_ROUTERS} --codeowners made/CODEOWNERS --truth-window 1d --merged-within 2d --ttfc",
    "story-without-codeowners": f"{_STORY} --truth all_reviewers --truth-window none",
    "story-all-reviewers": f"{_STORY} {_ALL_ROUTERS} --codeowners made/CODEOWNERS --truth all_reviewers"
    " --truth-window 3d --fail-under popularity.map=0.9",
    "story-codeowners-by-commit": f"{_STORY} --router codeowners --codeowners made/owners --truth first_approval"
    " --truth-window 3d",
    "story-ready": f"{_STORY} {_ALL_ROUTERS} --codeowners made/CODEOWNERS --cutoff ready_for_review --include-bots",
    "story-one-pull-request": f"{_STORY} --pr 7 --pr 12 --router revfinder --router popularity --k 1",
    "story-gate-missed": f"{_STORY} --router popularity --fail-under mrr=0.9",
    "story-unknown-truth": f"{_STORY} --truth nobody",
}

_AFTER_RUNS = {
    "compare-reviewers": "compare runs/demo --reviewer noisy --reviewer terse",
    "compare-tools": "compare runs/martian --reviewer coderabbit --reviewer augment",
    "compare-runs": "compare runs/aacr-made-early runs/aacr-made-late --alpha 0.1",
    "compare-line-distance-5": "compare runs/demo-line-distance-5 --reviewer noisy --reviewer repetitive",
    "compare-samples": "compare runs/demo-limit runs/demo --reviewer terse --common",
    "compare-different-settings": "compare runs/demo-none runs/demo-rouge --reviewer terse",
    "compare-worse": "compare runs/demo --reviewer repetitive --reviewer noisy --fail-if-worse f1",
    "compare-undecided": "compare runs/llm-refused --reviewer noisy --reviewer terse",
    "compare-routers": "compare runs/github-all-reviewers --reviewer popularity --reviewer recency",
    "compare-predictions": "compare runs/github-predictions-and-routers --reviewer recency --reviewer echo",
    "compare-routing-runs": "compare runs/github runs/github-recency --reviewer popularity --reviewer recency",
    "compare-story": "compare runs/story --reviewer revfinder --reviewer chrev",
    "compare-all-reviewers": "compare runs/story-all-reviewers --reviewer popularity --reviewer chrev",
    "compare-repeated": "compare runs/repeated --reviewer shaky --reviewer steady",
    "compare-costs": "compare runs/costs --reviewer dear --reviewer cheap",
    "compare-outcomes": "compare runs/outcomes --reviewer first[bot] --reviewer dora --by severity",
    "compare-outcomes-paired": "compare runs/outcomes --reviewer first[bot] --reviewer second[bot] --common",
    "leaderboard-demo": "leaderboard runs/demo",
    "leaderboard-tools": "leaderboard runs/martian",
    "leaderboard-tools-beta": "leaderboard runs/martian --beta 2",
    "leaderboard-tools-sorted": "leaderboard runs/martian-rouge --sort unmatched_rate",
    "leaderboard-two-runs": "leaderboard runs/aacr-made-early runs/aacr-made-late --sort positive_recall_rate",
    "leaderboard-routers": "leaderboard runs/github-all-reviewers",
    "leaderboard-routers-sorted": "leaderboard runs/story --sort hit@3",
    "leaderboard-lists": "leaderboard runs/story-all-reviewers --sort map",
    "leaderboard-repeated": "leaderboard runs/repeated",
    "leaderboard-outcomes": "leaderboard runs/outcomes",
    "report-demo": f"report runs/demo {_REPORTS}",
    "report-tools": f"report runs/martian {_REPORTS}",
    "report-filtered": f"report runs/demo-all-filters {_REPORTS}",
    "report-undecided": f"report runs/llm-refused {_REPORTS} --fail-under f1=0.5",
    "report-github": f"report runs/github-all-reviewers {_REPORTS}",
    "report-story-gates": f"report runs/story {_REPORTS} --fail-under hit@1=0.2 --fail-over mrr=0.9",
    "report-repeated": f"report runs/repeated {_REPORTS}",
    "report-costs": f"report runs/costs {_REPORTS}",
    "report-outcomes": f"report runs/outcomes {_REPORTS} --fail-over first[bot].repeated=0.1",
}

_OTHERS = {
    **{
        f"text-{strategy}": f"text made/text.jsonl --strategy {strategy}"
        for strategy in ("exact-chunk", "exact-sentence", "rouge-chunk", "rouge-sentence")
    },
    "text-threshold": "text made/text.jsonl --strategy rouge-sentence --threshold 0.4",
    "text-published": "text made/text-aacr.jsonl --strategy rouge-sentence --threshold 0.3",
    "text-unknown-strategy": "text made/text.jsonl --strategy guess",
    "check-demo": "check --reference {demo}/references.jsonl --negatives {demo}/negatives.jsonl --line-distance 5",
    "check-aacr": f"check {_AACR_NEGATIVES}",
    "check-martian": f"check {_GOLDEN}",
    "check-unsound": "check --reference {demo}/references.jsonl --negatives made/unsound.jsonl",
    "calibrate-exact": "calibrate made/labels.jsonl --judge exact",
    "calibrate-rouge": "calibrate made/labels.jsonl --judge rouge --threshold 0.4",
    "calibrate-offline": "calibrate made/labels.jsonl --judge offline",
    "calibrate-offline-ungrouped": "calibrate made/labels-ungrouped.jsonl",
}

COMMANDS = {**_SAMPLE, **_OUTCOMES, **_PUBLISHED_COMMENTS, **_MODEL, **_ROUTING, **_AFTER_RUNS, **_OTHERS}
