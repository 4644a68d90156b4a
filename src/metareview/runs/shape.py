"""Whether what was read from a run's files is what its types say: a stranger's folder may hold anything."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

Check = Callable[[Any, str], None]
_MOST = 1 << 62
"""No whole number of a run is as large, and none of these overflows."""


def check_shape(thing: object) -> None:
    """TypeError with the name of the first field that holds something else than it says, at any depth."""
    kind: Any = type(thing)
    _of_type(kind)(thing, "")


def _refuse(value: object, name: str) -> None:
    raise TypeError(f"{name.lstrip('.') or 'the whole'} cannot be {str(value)[:40]!r}")


@cache
def _of_type(wanted: Any) -> Check:
    """The check of a type, made once."""
    origin, inside = get_origin(wanted), get_args(wanted)
    if wanted in (Any, object):
        return lambda value, name: None
    if origin in (Union, types.UnionType):
        return _of_union([each for each in inside if each is not type(None)], type(None) in inside)
    if origin is Literal:
        return lambda value, name: None if value in inside else _refuse(value, name)
    if isinstance(wanted, type) and is_dataclass(wanted):
        return _of_fields(wanted, [each.name for each in fields(wanted)])
    if isinstance(wanted, type) and issubclass(wanted, Struct):
        return _of_fields(wanted, wanted.__struct_fields__)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _of_mapping(*map(_of_type, inside))
    if origin is tuple and Ellipsis not in inside:
        return _of_tuple([_of_type(each) for each in inside])
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return _of_sequence(_of_type(inside[0]))
    return _PLAIN.get(wanted) or (lambda value, name: None if isinstance(value, wanted) else _refuse(value, name))


def _whole(value: object, name: str) -> None:
    if type(value) is not int or abs(value) >= _MOST:
        _refuse(value, name)


def _real(value: object, name: str) -> None:
    if not (isinstance(value, float) or type(value) is int) or not -_MOST < value < _MOST:
        _refuse(value, name)


_PLAIN: Mapping[Any, Check] = {int: _whole, float: _real}


def _of_union(kinds: Sequence[Any], may_lack: bool) -> Check:
    checks = [_of_type(kind) for kind in kinds]

    def check(value: Any, name: str) -> None:
        if value is None and may_lack:
            return
        for each in checks[:-1]:
            with suppress(TypeError):
                each(value, name)
                return
        checks[-1](value, name)

    return check


def _of_fields(kind: type, names: Sequence[str]) -> Check:
    hints = get_type_hints(kind)
    checks = [(name, _of_type(hints[name])) for name in names]

    def check(value: Any, name: str) -> None:
        if not isinstance(value, kind):
            _refuse(value, name)
        for field, of_field in checks:
            of_field(getattr(value, field), f"{name}.{field}")

    return check


def _of_mapping(of_key: Check, of_value: Check) -> Check:
    def check(value: Any, name: str) -> None:
        if not isinstance(value, Mapping):
            _refuse(value, name)
        for key, held in value.items():
            of_key(key, name)
            of_value(held, f"{name}.{str(key)[:40]}")

    return check


def _of_tuple(checks: Sequence[Check]) -> Check:
    def check(value: Any, name: str) -> None:
        if not isinstance(value, tuple | list) or len(value) != len(checks):
            _refuse(value, name)
        for each, held in zip(checks, value, strict=True):
            each(held, name)

    return check


def _of_sequence(of_item: Check) -> Check:
    def check(value: Any, name: str) -> None:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            _refuse(value, name)
        for item in value:
            of_item(item, name)

    return check
