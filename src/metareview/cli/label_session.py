"""A labelling session in the terminal: question after question, whatever they are about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from metareview.cli.asking import Asking

if TYPE_CHECKING:
    from metareview.model.label import Label, Labels
    from metareview.runs.run import AnyRun

ALSO = {"j": "later", "u": "undo", "q": "quit"}
"""Keys that every session has beside its own."""


class Numbered(Protocol):
    """A question, by its number in the order of asking."""

    @property
    def number(self) -> int: ...


Question = TypeVar("Question", bound=Numbered)


def session(
    run: AnyRun,
    asking: Asking,
    keys: dict[str, str],
    prompt: str,
    ask: Callable[[Labels, set[int]], Question | None],
    answer: Callable[..., Label],
    last: Callable[[Labels], Label | None],
) -> None:
    """Question after question, each answer on the disk before the next. What is put off is asked by the next session.

    `last`: what this person said last, to be taken back.
    """
    from metareview.comparison.queue import taken_back
    from metareview.runs.labels import LabelFile

    file = LabelFile(folder_of(run))
    put_off: set[int] = set()
    try:
        while True:
            labels = file.read()
            question = ask(labels, put_off)
            if question is None:
                break
            key = asking.key(prompt, keys)
            if key == "q":
                return
            if key == "j":
                put_off.add(question.number)
            elif key == "u":
                held = last(labels)
                asking.show(["Nothing to undo." if held is None else "Taken back."])
                if held is not None:
                    file.append([taken_back(held)])
                    put_off.clear()
            else:
                file.append([answer(question, key)])
    except (KeyboardInterrupt, click.Abort):
        click.echo("\nInterrupted. Every answer is kept; the same command goes on.", err=True)
        raise click.exceptions.Exit(130) from None
    asking.show([f"{len(put_off)} put off; the same command asks again." if put_off else "Nothing is left to ask."])


def folder_of(run: AnyRun) -> Path:
    assert run.folder is not None  # it was loaded from one
    return run.folder
