"""Single message transforms, in their order: what becomes of the topic's name, and of the fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.kafka_connect._messages import MessageFields
from ingestion.model.lineage import Subtype, Transformation

_CAST = Transformation(Subtype.TRANSFORMATION)
MASK = Transformation(Subtype.TRANSFORMATION, masking=True)
_GROUP = re.compile(r"\$(\d)")
_NAMED_GROUP = re.compile(r"\$\{(\w+)\}")
_JAVA_GROUP = re.compile(r"\(\?<([A-Za-z]\w*)>")
_LONGEST_PATTERN = 2_000
_NESTED_REPETITION = re.compile(r"[+*}]\)[+*{]")
"""What takes a matcher like this one longer than anybody waits."""
_KEY = "$Key"
_INSERTED = ("topic.field", "partition.field", "offset.field", "timestamp.field", "static.field")
_BY_VALUE = "${"

Settings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Message:
    """A message on its way: its topic ("" where values decide on it), its fields, and what was not understood."""

    topic: str
    fields: MessageFields = field(default_factory=MessageFields)
    problems: tuple[str, ...] = ()

    def doubt(self, problem: str) -> Message:
        """The same where a step is not understood: its fields are not followed any more."""
        return replace(self, fields=self.fields.leave_unfollowed(), problems=(*self.problems, problem))

    def routed_by_value(self, problem: str) -> Message:
        """The same where what is in it decides where it goes."""
        return replace(self, topic="", problems=(*self.problems, problem))


def pattern_of(text: str) -> re.Pattern[str] | None:
    """A pattern of Java's; None for one that is none here, or that takes its time."""
    if len(text) > _LONGEST_PATTERN or _NESTED_REPETITION.search(text):
        return None
    try:
        return re.compile(_JAVA_GROUP.sub(r"(?P<\1>", text))
    except (re.error, RecursionError, OverflowError):
        return None


def transform(message: Message, config: Settings) -> Message:
    """What the transforms of a connector make of a message."""
    for name in names_in(config.get("transforms", "")):
        own = {
            key[len(prefix) :]: value
            for key, value in config.items()
            if key.startswith(prefix := f"transforms.{name}.")
        }
        applies = _applies(message, own, config)
        kind = own.get("type", "")
        if applies is None:
            message = message.doubt(f"transform {name} under a condition")
        elif applies:
            message = _step(message, name, kind, own)
        if not message.topic:
            break
    return message


def names_in(text: str) -> Iterator[str]:
    """The items of a list, as Connect writes lists."""
    yield from (item for one in text.split(",") if (item := one.strip()))


def pairs_in(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of a list: `a:b,c:d`."""
    for one in names_in(text):
        left, colon, right = one.rpartition(":")
        if colon and left.strip() and right.strip():
            yield left.strip(), right.strip()


def _applies(message: Message, own: Settings, config: Settings) -> bool | None:
    """Whether a step is taken; None where what is in a message decides."""
    name = own.get("predicate")
    if not name:
        return True
    kind = config.get(f"predicates.{name}.type", "").rpartition(".")[2]
    negated = own.get("negate", "").lower() == "true"
    if kind == "RecordIsTombstone":  # no row
        return negated
    pattern = pattern_of(config.get(f"predicates.{name}.pattern", "")) if kind == "TopicNameMatches" else None
    return None if pattern is None else (pattern.fullmatch(message.topic) is not None) != negated


def _step(message: Message, name: str, kind: str, own: Settings) -> Message:
    simple = kind.rpartition(".")[2]
    if simple.endswith(_KEY) or simple in _WITHOUT_EFFECT:
        return message
    step = _STEPS.get(simple.partition("$")[0])
    # The class is the vendor's word and no value of a user's.
    return step(message, own) if step is not None else message.doubt(f"transform {name} ({simple or 'no type'})")


def _route(message: Message, own: Settings) -> Message:
    """RegexRouter and ByLogicalTableRouter: a name that the pattern matches as a whole gets another."""
    text = own.get("regex") or own.get("topic.regex") or ""
    replacement = own.get("replacement") if "replacement" in own else own.get("topic.replacement", "")
    pattern = pattern_of(text)
    if pattern is None:
        return message.routed_by_value("pattern of a router")
    found = pattern.fullmatch(message.topic)
    if found is None:
        return message
    written = _NAMED_GROUP.sub(r"\\g<\1>", _GROUP.sub(r"\\g<\1>", (replacement or "").replace("\\", "\\\\")))
    try:
        return replace(message, topic=found.expand(written))
    except (re.error, IndexError):
        return message.routed_by_value("replacement of a router")


def _replace_field(message: Message, own: Settings) -> Message:
    fields = message.fields
    fields = fields.without(names_in(own.get("exclude") or own.get("blacklist") or ""))
    if kept := own.get("include") or own.get("whitelist"):
        fields = fields.only(names_in(kept))
    return replace(message, fields=fields.rename(dict(pairs_in(own.get("renames", "")))))


def _cast(message: Message, own: Settings) -> Message:
    names = [name for name, _type in pairs_in(own.get("spec", ""))]
    return replace(message, fields=message.fields.change(names, _CAST))


def _convert_time(message: Message, own: Settings) -> Message:
    return replace(message, fields=message.fields.change(names_in(own.get("field", "")), _CAST))


def _mask(message: Message, own: Settings) -> Message:
    return replace(message, fields=message.fields.change(names_in(own.get("fields", "")), MASK))


def _insert(message: Message, own: Settings) -> Message:
    added = (own[key].rstrip("!?") for key in _INSERTED if own.get(key))
    return replace(message, fields=message.fields.add(added))


def _unwrap(message: Message, own: Settings) -> Message:
    """ExtractNewRecordState: the row of a change event, which is what counts already, and what is added to it."""
    if own.get("route.by.field"):
        return message.routed_by_value("route.by.field")
    prefix = own.get("add.fields.prefix", "__")
    added = [f"{prefix}{one.rpartition(':')[2].replace('.', '_')}" for one in names_in(own.get("add.fields", ""))]
    deleted = own.get("delete.handling.mode") == "rewrite" or own.get("delete.tombstone.handling.mode", "").startswith(
        "rewrite"
    )
    return replace(message, fields=message.fields.add([*added, *(["__deleted"] if deleted else [])]))


def _extract_field(message: Message, own: Settings) -> Message:
    """`after` of a change event is its row; of any other field nothing with names is left."""
    if own.get("field") == "after":
        return message
    return message.doubt("transform ExtractField")


def _headers_from(message: Message, own: Settings) -> Message:
    moved = names_in(own.get("fields", "")) if own.get("operation") == "move" else ()
    return replace(message, fields=message.fields.without(moved))


def _headers_to(message: Message, own: Settings) -> Message:
    return replace(message, fields=message.fields.add(names_in(own.get("fields", ""))))


def _route_by_time(message: Message, own: Settings) -> Message:
    """A topic for each day is no one topic, unless the format leaves the day out."""
    written = own.get("topic.format", "${topic}-${timestamp}")
    if "${timestamp}" in written:
        return message.routed_by_value("a topic for each span of time")
    return replace(message, topic=written.replace("${topic}", message.topic))


def _route_outbox(message: Message, own: Settings) -> Message:
    """Debezium's outbox: a value of the row names the topic, unless its replacement is a plain name."""
    to = own.get("route.topic.replacement", "outbox.event.${routedByValue}")
    if _BY_VALUE in to:
        return message.routed_by_value("the outbox router")
    return replace(message, topic=to).doubt("transform EventRouter")


_STEPS: Mapping[str, Callable[[Message, Settings], Message]] = {
    "RegexRouter": _route,
    "ByLogicalTableRouter": _route,
    "TimestampRouter": _route_by_time,
    "EventRouter": _route_outbox,
    "ReplaceField": _replace_field,
    "Cast": _cast,
    "TimestampConverter": _convert_time,
    "MaskField": _mask,
    "InsertField": _insert,
    "ExtractNewRecordState": _unwrap,
    "ExtractNewDocumentState": _unwrap,
    "ExtractField": _extract_field,
    "HeaderFrom": _headers_from,
    "HeaderToValue": _headers_to,
}
"""By the name of the class, without Key and Value."""

_WITHOUT_EFFECT = frozenset(
    {
        "ValueToKey",
        "Filter",
        "InsertHeader",
        "DropHeaders",
        "SetSchemaMetadata$Value",
        "Flatten$Value",
        "TombstoneHandler",
    }
    | {"PartitionRouting", "TimezoneConverter", "SchemaChangeEventFilter", "ConvertCloudEventToSaveableForm"}
)
"""What changes neither a topic's name nor which column a top-level field is; Flatten takes nested ones apart."""
