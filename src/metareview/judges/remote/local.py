"""Fixes for servers on one's own machine: how to start Ollama and llama.cpp, and get their models."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from metareview.judges.remote.settings import ModelSettings

_OLLAMA_PORT, _LLAMA_CPP_PORT = 11434, 8080
_HERE = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - read from a setting, not listened on
_NO_MODEL = re.compile(r"model.{0,300}not found", re.DOTALL)


def how_to_start(settings: ModelSettings) -> str:
    """The command that starts the server of a local address; empty for any other."""
    parts = urlsplit(settings.url)
    if parts.hostname not in _HERE:
        return ""
    if parts.port == _OLLAMA_PORT:
        return "To start Ollama: ollama serve."
    if parts.port == _LLAMA_CPP_PORT:
        return f"To start llama.cpp: llama-server -m MODEL.gguf --port {_LLAMA_CPP_PORT}."
    return ""


def missing(settings: ModelSettings, data: bytes) -> str:
    """The fix for a server without this model, or without this address; empty where it is not known."""
    parts, kind = urlsplit(settings.url), settings.kind
    words = data[:10_000].decode("utf-8", "replace").lower()
    if _NO_MODEL.search(words):
        if parts.port == _OLLAMA_PORT or "pull" in words:
            return (
                f"It does not have {settings.model}. Fetch it: ollama pull {settings.model}; ollama list shows others."
            )
        return f"It does not have {settings.model}. Set {kind}_MODEL to a model that it has."
    if parts.hostname in _HERE and not parts.path.rstrip("/").endswith("/v1"):
        return f"Set {kind}_MODEL_URL to {parts.scheme}://{parts.netloc}/v1."
    return ""
