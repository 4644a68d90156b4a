"""Names of accounts on GitHub and GitLab."""

GHOST = "ghost"
"""The name that both give a deleted account."""
BOT = "[bot]"
"""The end of a bot's name, as GitHub's REST API writes it."""
