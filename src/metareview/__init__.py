"""metareview measures code review."""

__version__ = "0.1.0"
