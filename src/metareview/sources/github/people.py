"""Who did it, and what it is called."""

from __future__ import annotations

from metareview.sources.node import Node

GHOST = "ghost"
"""GitHub's own name for a deleted account."""
_BOT = "[bot]"


def login(actor: Node | None) -> str | None:
    """The login as REST and `--reviewer` have it: a bot's ends in `[bot]`. None for a deleted account."""
    name = None if actor is None else actor.text("login")
    if actor is None or not name:
        return None
    is_bot = actor.text("__typename") == "Bot" and not name.casefold().endswith(_BOT)
    return name + _BOT if is_bot else name


def identity(node: Node) -> str:
    """What stands behind the `#` of its address, such as `discussion_r12`; else its id."""
    return (node.text("url") or "").partition("#")[2] or node.required("id")
