"""`metareview convert`: reviews from one comment format into another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from metareview.cli.options import PATH, ListingOption, comment_formats, common_options
from metareview.cli.output import Screen, warning_lines
from metareview.errors import InputError, UsageError

_STANDARD_OUTPUT = Path("-")


def writable_formats() -> list[str]:
    from metareview.formats.registry import comment_formats

    return [name for name, known in comment_formats().items() if known.write is not None]


@click.command(epilog="Example: metareview convert results.sarif --pr https://github.com/octo/shop/pull/7 "
                      "--to jsonl -o reviews.jsonl")  # fmt: skip
@click.argument("given", type=PATH, metavar="IN")
@click.option("--to", "target", cls=ListingOption, names=writable_formats, required=True, metavar="FORMAT",
              help="The format to write: {names}.")  # fmt: skip
@click.option("-o", "--output", "out", required=True, type=PATH, metavar="OUT",
              help="A file; a folder where the format has a file per pull request; - for standard output.")  # fmt: skip
@click.option("--format", "format_name", cls=ListingOption, names=comment_formats, metavar="NAME",
              help="The format of IN: {names}.  [default: found by content]")  # fmt: skip
@click.option("--pr", metavar="URL", help="The pull request, where files do not say which one they are about.")
@click.option("--name", help="The reviewer's name where the input has none.  [default: a folder's name, or none]")
@click.option("--reviewer", multiple=True, metavar="GLOB",
              help="Whose comments, where files name several: * and ? are wild, ! excludes; repeatable.")  # fmt: skip
@click.option("--strict", is_flag=True, help="A comment field that cannot be read is an error, not only a warning.")
@click.option("--overwrite", is_flag=True, help="Replace what is at OUT.")
@common_options
def command(
    given: Path,
    target: str,
    out: Path,
    format_name: str | None,
    pr: str | None,
    name: str | None,
    reviewer: tuple[str, ...],
    strict: bool,
    overwrite: bool,
    screen: Screen,
) -> None:
    """Read the comments in IN, a file or a folder, and write them in another format. Whatever that cannot hold is
    named; what figures rest on is never left out."""
    from metareview.formats.convert import convert_reviews, writable_format, written_to
    from metareview.formats.reader import ReadOptions, read_inputs, why_empty
    from metareview.model.selection import Selection
    from metareview.model.words import plural

    writable_format(target)
    if out == _STANDARD_OUTPUT and screen.as_json:
        raise UsageError("-o - and --json both print to standard output. Name a file, or leave out --json.")
    chosen = Selection(reviewer)
    options = ReadOptions(format_name, name, chosen, strict, pr, keep_answers=True, name_by_file=False)
    inputs = read_inputs(given, options)
    chosen.check([who for who in inputs.reviewers if who])
    # Said first: where nothing is left, or the target refuses, they may tell why.
    screen.say(warning_lines(inputs.warnings, inputs.skipped))
    if not inputs.reviews:
        reason = why_empty(str(given), inputs.skipped, inputs.warnings) or "it holds none"
        fix = "Name a file with comments of reviewers."
        raise InputError(f"no review is left to convert: {reason}", file=given, fix=fix)
    converted = convert_reviews(inputs.reviews, target)
    screen.say(warning_lines(converted.warnings(target)))
    warnings = [*inputs.warnings, *converted.warnings(target)]
    if out == _STANDARD_OUTPUT:
        if len(converted.files) > 1:
            raise UsageError(f"{target} takes {len(converted.files)} files here. Name a folder with -o.")
        click.echo(next(iter(converted.files.values())), nl=False)
        return
    files = written_to(out, converted)
    _place(out, files, overwrite)
    stays = [] if out in files else sorted(path.name for path in out.iterdir() if path not in files)
    if stays:
        warnings.append(f"{out} also holds {', '.join(stays[:3])}{' …' if len(stays) > 3 else ''}, which stays there")
        screen.say(warning_lines(warnings[-1:]))
    comments = sum(len(review.comments) for review in converted.reviews)
    document = {
        "schema": "metareview.convert/1",
        "from": sorted({file.format for file in inputs.files}),
        "to": target,
        "prs": len({review.key for review in converted.reviews}),
        "reviews": len(converted.reviews),
        "comments": comments,
        "files": [{"file": str(path), "bytes": len(text.encode("utf-8"))} for path, text in files.items()],
        "lost": {"comments": dict(converted.lost), "reviews": dict(converted.lost_of_reviews)},
        "warnings": warnings,
        "skipped": [asdict(item) for item in inputs.skipped],
    }
    where = f"{out} ({plural(len(files), 'file')})" if out not in files else str(out)
    reviews = f"{plural(comments, 'comment')} in {plural(len(converted.reviews), 'review')}"
    screen.show(document, remarks=[f"Wrote {where}: {reviews}"])


def _place(out: Path, files: Mapping[Path, str], overwrite: bool) -> None:
    """Every file whole or not at all, and none where one of them is in the way."""
    from metareview.runs.files import is_device, write_whole

    in_the_way = next((path for path in files if path.exists() and not is_device(path)), None)
    if in_the_way is not None and in_the_way.is_dir():
        raise UsageError(f"{in_the_way} is a folder. Name a file in it.")
    if out not in files and out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file, and {len(files)} files are to be written. Name a folder.")
    if in_the_way is not None and not overwrite:
        raise UsageError(f"{in_the_way} exists. Add --overwrite, or name another.")
    try:
        if out not in files:
            out.mkdir(parents=True, exist_ok=True)
        elif not out.parent.is_dir():
            raise UsageError(f"{out}: there is no folder {out.parent}. Make it first, or name another.")
        for path, text in files.items():
            write_whole(path, [text])
    except OSError as error:
        raise UsageError(f"Cannot write to {out}: {error.strerror}. Free space there, or name another.") from None
