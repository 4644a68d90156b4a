"""Write references out of one's own history, and beside them the negatives."""

from __future__ import annotations

from pathlib import Path

from metareview.errors import UsageError
from metareview.formats.comments import jsonl
from metareview.model.words import plural
from metareview.outcomes.references import own_references
from metareview.runs.files import write_whole
from metareview.runs.run import OutcomesRun


def negatives_beside(target: Path) -> Path:
    """`references.jsonl`: `references.negatives.jsonl`."""
    return target.with_name(f"{target.stem}.negatives{target.suffix or '.jsonl'}")


def check_target(target: Path, *, overwrite: bool = False) -> None:
    """UsageError, before anything was paid for, where the files cannot be written or would take others' place."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise UsageError(f"{target}: there is no folder {target.parent}. Make it first, or name another.")
    for each in (target, negatives_beside(target)):
        if each.exists() and not overwrite:
            raise UsageError(
                f"{each} exists. Name another file, so that no reference set is lost, or pass --overwrite."
            )


def write_references(run: OutcomesRun, target: Path) -> list[str]:
    """Write both files, the second only where there are negatives; lines on what was written, and what to do next."""
    found = own_references(run.read_records())
    references, negatives = (
        sum(len(review.comments) for review in side) for side in (found.references, found.negatives)
    )
    if not references:
        beside_them = f" {plural(negatives, 'negative')} alone would be no reference set." if negatives else ""
        return [f"No comment of a person led to a change, so that {target} is not written.{beside_them}"]
    beside = negatives_beside(target)
    try:
        write_whole(target, [jsonl.write(found.references)[""]])
        if negatives:
            write_whole(beside, [jsonl.write(found.negatives)[""]])
        else:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"Cannot write {target}: {error.strerror}. Name another file.") from None
    rejected = f", {plural(negatives, 'negative')}: {beside}" if negatives else ", and nothing that people rejected"
    option = f" --negatives {beside}" if negatives else ""
    return [
        f"{plural(references, 'reference')} on {plural(len(found.references), 'pull request')}: {target}{rejected}",
        f"Next: metareview check --reference {target}{option}",
    ]
