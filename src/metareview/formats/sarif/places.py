"""Locations of SARIF results: paths from URIs and their bases, lines from regions."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Mapping
from urllib.parse import unquote

from metareview.formats.record import Record

# One letter before a colon is a drive, not a scheme.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVE = re.compile(r"/[A-Za-z]:(?:/|\Z)")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")
_UNCLEAN = re.compile(r"//|(?:\A|/)\.{1,2}(?:/|\Z)")
_MANY_ROOTS = 100
_DEEPEST = 10
"""Levels of artifacts within artifacts, and of bases of bases, that are followed."""
Lines = tuple[int | None, int | None]


class Places:
    """The artifacts of a run, and the bases of their URIs."""

    def __init__(self, run: Record) -> None:
        self._artifacts = run.optional_objects("artifacts")
        bases = run.optional_object("originalUriBaseIds")
        self._bases: Mapping[str, Record] = {name: bases.optional_object(name) for name in bases.value}
        self._paths: dict[tuple[object, object, object], str | None] = {}
        self._line_ends: dict[int, list[int]] = {}
        self._utf_16 = run.value.get("columnKind") == "utf16CodeUnits"
        self._by_path: dict[str | None, int] = {}
        roots = [details.optional_object("mappedTo") for details in run.optional_objects("versionControlProvenance")]
        roots.append(run.optional_object("specialLocations").optional_object("displayBase"))
        self._root_bases: set[str] = set()
        self._roots: tuple[str, ...] = ()
        for root in roots:
            uri, base = root.optional_text("uri") or "", root.optional_text("uriBaseId")
            path = _joined(self._chain(uri, base))
            if not uri and base:
                self._root_bases.add(base)
            if _ABSOLUTE.match(path):
                self._roots = tuple(dict.fromkeys((*self._roots, f"{path.rstrip('/')}/")))[:_MANY_ROOTS]

    def path(self, location: Record) -> str | None:
        """The path of an `artifactLocation`, relative to the repository's root where the file names that."""
        value = location.value
        uri, base, index = value.get("uri"), value.get("uriBaseId"), value.get("index")
        try:
            return self._paths[uri, base, index]
        except KeyError:
            self._paths[uri, base, index] = path = self._path(location, index)
            return path
        except TypeError:  # One of them is a list or an object.
            return self._path(location, index)

    def _path(self, location: Record, index: object) -> str | None:
        place = index if type(index) is int and 0 <= index < len(self._artifacts) else None
        uri = location.optional_text("uri")
        if place is not None and (uri is None or self._parent(place) is not None):
            return self._artifact_path(place)
        return None if uri is None else self._resolved(uri, location.optional_text("uriBaseId"))

    def _parent(self, place: int) -> int | None:
        index = self._artifacts[place].value.get("parentIndex")
        return index if type(index) is int and 0 <= index < len(self._artifacts) else None

    def _artifact_path(self, place: int) -> str | None:
        """Its path behind those of the artifacts that it is in, such as an archive."""
        pieces: list[str] = []
        seen: set[int] = set()
        at: int | None = place
        while at is not None and at not in seen and len(seen) < _DEEPEST:
            seen.add(at)
            location = self._artifacts[at].optional_object("location")
            uri = location.optional_text("uri")
            if uri is not None:
                pieces.append(self._resolved(uri, location.optional_text("uriBaseId")))
            at = self._parent(at)
        pieces.reverse()
        return "/".join([*pieces[:1], *(piece.lstrip("/") for piece in pieces[1:])]) or None

    def _resolved(self, uri: str, base: str | None) -> str:
        path = _joined(self._chain(uri, base, up_to_root=True))
        root = next((root for root in self._roots if path.startswith(root)), "")
        return path[len(root) :] or path

    def _chain(self, uri: str, base: str | None, *, up_to_root: bool = False) -> list[str]:
        """A URI and its bases, outermost last, up to a base that is missing or repeats, or, with `up_to_root`, to the
        root of the repository.
        """
        pieces, seen = [uri], set[str]()
        while base is not None and base not in seen and len(seen) < _DEEPEST and not _SCHEME.match(pieces[-1]):
            seen.add(base)
            entry = self._bases.get(base)
            if entry is None or (up_to_root and self._is_root(base)):
                break
            if piece := entry.optional_text("uri"):
                pieces.append(piece)
            base = entry.optional_text("uriBaseId")
        return pieces

    def _is_root(self, base: str) -> bool:
        """Whether a base is the repository's root: as the file states, or else by an outermost base's name, such as
        `%SRCROOT%` or `PROJECTROOT`.
        """
        if self._roots or self._root_bases:
            return base in self._root_bases
        letters = "".join(filter(str.isalpha, base)).casefold()
        outermost = self._bases[base].value.get("uriBaseId") is None
        return outermost and letters.endswith("root") and letters != "root"

    def lines(self, physical: Record) -> Lines:
        """The first and last line of a `physicalLocation`; (None, None) if they are unknown, or it is the file."""
        if physical.value.get("region") is None:
            return None, None
        region = physical.optional_object("region")
        start, end = region.lines("startLine", "endLine")
        if start is None:
            return self._lines_of_offset(physical.optional_object("artifactLocation"), region)
        last = start if end is None else end
        # The end is exclusive: column 1 is the end of the line before.
        return start, last - 1 if last > start and region.value.get("endColumn") == 1 else last

    def _lines_of_offset(self, location: Record, region: Record) -> Lines:
        """Lines by offsets of characters, where the file holds the artifact's text."""
        offset, length = region.value.get("charOffset"), region.value.get("charLength")
        place = self._place(location)
        ends = [] if place is None else self._ends(place)
        if type(offset) is not int or offset < 0 or not ends:
            return None, None
        size = length if type(length) is int and length > 0 else 1
        first, last = (min(bisect_left(ends, at) + 1, len(ends)) for at in (offset, offset + size - 1))
        return first, last

    def _place(self, location: Record) -> int | None:
        """The index of the artifact of a location."""
        index = location.value.get("index")
        if type(index) is int and 0 <= index < len(self._artifacts):
            return index
        if not self._by_path:
            self._by_path = {self._artifact_path(at): at for at in reversed(range(len(self._artifacts)))}
        return self._by_path.get(self.path(location))

    def _ends(self, place: int) -> list[int]:
        """The offsets of line ends in the artifact's text, and of its end; empty if the file does not hold it."""
        if place not in self._line_ends:
            text = self._artifacts[place].optional_object("contents").optional_text("text")
            wide, ends = 0, []
            for found in re.finditer("\n|[\U00010000-\U0010ffff]", text or ""):
                if found[0] == "\n":
                    ends.append(found.start() + wide)
                elif self._utf_16:
                    wide += 1
            self._line_ends[place] = [] if text is None else [*ends, len(text) + wide]
        return self._line_ends[place]


def _joined(pieces: list[str]) -> str:
    """The path of a URI whose last piece is its outermost base."""
    *rest, path = [_as_path(piece) for piece in pieces]
    for piece in reversed(rest):
        path = f"{path.rstrip('/')}/{piece.lstrip('/')}" if path else piece
    return posixpath.normpath(path) + ("/" if path.endswith("/") else "") if _UNCLEAN.search(path) else path


def _as_path(uri: str) -> str:
    """The path in a URI or a relative reference, percent signs decoded.

    >>> _as_path("file:///C:/my%20code/a.c")
    'C:/my code/a.c'
    """
    scheme = _SCHEME.match(uri)
    path = uri[scheme.end() :] if scheme else uri
    if scheme and path.startswith("//"):
        host, slash, rest = path[2:].partition("/")
        shared = scheme[1].casefold() == "file" and host not in ("", "localhost")
        path = f"//{host}/{rest}" if shared else slash + rest
    path = unquote(path, errors="replace") if "%" in path else path
    return path[1:] if scheme and _DRIVE.match(path) else path
