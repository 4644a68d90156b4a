"""The rules of a SARIF run: the rule of each result, its messages and its level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from metareview.formats.record import Record
from metareview.formats.sarif.messages import message_text

Texts = Mapping[str, str]
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; one that the file does not describe has only the messages of its component."""

    id: str | None = None
    name: str | None = None
    level: str | None = None
    description: str = ""
    messages: Texts | None = None
    shared_messages: Texts | None = None
    position: tuple[int, int] | None = None
    """The indices of its component, and within that."""


class Rules:
    """The rules of a run's driver and extensions."""

    def __init__(self, run: Record, driver: Record) -> None:
        components = [driver, *run.optional_object("tool").optional_objects("extensions")]
        self._rules: list[list[Rule]] = []
        self._shared: list[Texts] = []
        self._by_id: dict[tuple[int | None, str], Rule] = {}
        self._by_guid: dict[str, Rule] = {}
        self._places: dict[str, int] = {}
        for place, component in enumerate(components):
            for name in filter(None, map(component.optional_text, ("guid", "name"))):
                self._places.setdefault(name.casefold(), place)
            # An extension's own messages come before the driver's, which some tools share with it.
            inherited = self._shared[0] if place else {}
            self._shared.append({**inherited, **_texts(component.optional_object("globalMessageStrings"))})
            self._rules.append([])
            for position, record in enumerate(component.optional_objects("rules")):
                rule = _rule(record, self._shared[place], (place, position))
                self._rules[place].append(rule)
                if rule.id is not None:
                    self._by_id.setdefault((place, rule.id), rule)
                    self._by_id.setdefault((None, rule.id), rule)
                if guid := record.optional_text("guid"):
                    self._by_guid.setdefault(guid.casefold(), rule)
        self._levels = [dict(self._overrides(invocation)) for invocation in run.optional_objects("invocations")]

    def of(self, result: Record) -> Rule:
        """The rule of a result by `rule`, `ruleIndex` or `ruleId`: the most exact that names one."""
        reference = result.optional_object("rule") if result.value.get("rule") is not None else None
        return self._find(reference, result.value.get("ruleId"), result.value.get("ruleIndex"))

    def _find(self, reference: Record | None, rule_id: object, index: object) -> Rule:
        place: int | None = None
        if reference is not None:
            place = self._component(reference)
            rule_id = reference.value.get("id") if rule_id is None else rule_id
            index = reference.value.get("index") if index is None or place else index
            guid = reference.value.get("guid")
            if isinstance(guid, str) and (rule := self._by_guid.get(guid.casefold())):
                return rule
        home = place or 0
        if type(index) is int and 0 <= index < len(self._rules[home]):
            return self._rules[home][index]
        for name in _and_its_parents(rule_id) if isinstance(rule_id, str) else ():
            if rule := self._by_id.get((place, name)):
                return rule
        return Rule(shared_messages=self._shared[home])

    def _component(self, reference: Record) -> int | None:
        """The index of the component that a reference names; None where it names none."""
        component = reference.optional_object("toolComponent").value
        index = component.get("index")
        if type(index) is int and 0 <= index < len(self._rules) - 1:
            return index + 1
        names = (name.casefold() for key in ("guid", "name") if isinstance(name := component.get(key), str))
        return next((self._places[name] for name in names if name in self._places), None)

    def _overrides(self, invocation: Record) -> Iterator[tuple[tuple[int, int], str]]:
        """The levels that an invocation sets, by the position of the rule."""
        for override in invocation.optional_objects("ruleConfigurationOverrides"):
            rule = self._find(override.optional_object("descriptor"), None, None)
            level = override.optional_object("configuration").optional_text("level")
            if level is not None and rule.position is not None:
                yield rule.position, level

    def level(self, result: Record, rule: Rule, kind: str) -> str | None:
        """error, warning or note; None where the concept does not apply."""
        level = result.optional_text("level")
        if level is None:
            if kind != "fail":
                return None
            level = self._override(result, rule) or rule.level or "warning"
        return None if level == "none" else level

    def _override(self, result: Record, rule: Rule) -> str | None:
        if not self._levels or rule.position is None:
            return None
        index = result.optional_object("provenance").value.get("invocationIndex")
        if type(index) is not int:
            index = 0 if len(self._levels) == 1 else -1
        return self._levels[index].get(rule.position) if 0 <= index < len(self._levels) else None


def result_text(result: Record, rule: Rule) -> str:
    """The text of a result: its own, that of its message's id, or else its rule's description."""
    message = result.optional_object("message")
    template = message.optional_text("text") or message.optional_text("markdown")
    if not template and isinstance(name := message.value.get("id"), str):
        found = ((texts or {}).get(name) for texts in (rule.messages, rule.shared_messages))
        template = next((text for text in found if text), None)
    if not template:
        return rule.description
    arguments = message.value.get("arguments")
    return message_text(template, list(map(str, arguments)) if isinstance(arguments, list) else ())


def _rule(record: Record, shared: Texts, position: tuple[int, int]) -> Rule:
    name = record.optional_text("name")
    descriptions = (
        record.optional_object(f"{length}Description").optional_text("text") for length in ("short", "full")
    )
    return Rule(
        id=record.optional_text("id"),
        name=name,
        level=record.optional_object("defaultConfiguration").optional_text("level"),
        description=message_text(next((text for text in descriptions if text), name or "")),
        messages=_texts(record.optional_object("messageStrings")),
        shared_messages=shared,
        position=position,
    )


def _texts(strings: Record) -> Texts:
    found = ((key, strings.optional_object(key)) for key in strings.value)
    return {key: text for key, each in found if (text := each.optional_text("text") or each.optional_text("markdown"))}


def _and_its_parents(rule_id: str) -> Iterator[str]:
    """A hierarchical id and those of its parents: `a/b/c`, `a/b`, `a`."""
    for _ in range(_DEEPEST):
        yield rule_id
        rule_id, slash, _ = rule_id.rpartition("/")
        if not slash:
            return
