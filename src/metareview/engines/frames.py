"""Bytes of known length over a pipe, one message after the other."""

from __future__ import annotations

from typing import IO

_LENGTH = 8


class Frames:
    """Both directions; EOFError where the other side has gone."""

    def __init__(self, received: IO[bytes], sent: IO[bytes]) -> None:
        self._received, self._sent = received, sent

    def send(self, message: bytes) -> None:
        self._sent.write(len(message).to_bytes(_LENGTH, "big"))
        self._sent.write(message)
        self._sent.flush()

    def receive(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(_LENGTH), "big"))

    def _exactly(self, count: int) -> bytes:
        message = self._received.read(count)
        if len(message) < count:
            raise EOFError
        return message
