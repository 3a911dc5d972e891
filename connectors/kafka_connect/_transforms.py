"""Single message transforms, in their order: what becomes of the topic's name, and of the fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.kafka_connect._messages import MessageFields
from ingestion.model.lineage import Subtype, Transformation

CHANGED = Transformation(Subtype.TRANSFORMATION)
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
    """A message on its way: its topic ("" where values decide on it), its fields, and what was not understood.

    `doubted`: what was not understood may have given it another topic.
    """

    topic: str
    fields: MessageFields = field(default_factory=MessageFields)
    problems: tuple[str, ...] = ()
    doubted: bool = False

    def doubt(self, problem: str, *, of_topic: bool = False) -> Message:
        """The same where a step is not understood: its fields are not followed any more."""
        fields, problems = self.fields.leave_unfollowed(), (*self.problems, problem)
        return replace(self, fields=fields, problems=problems, doubted=self.doubted or of_topic)

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
            message = _under_condition(message, _step(message, name, kind, own), name)
        elif applies:
            message = _step(message, name, kind, own)
        if not message.topic:
            break
    return message


def _under_condition(message: Message, after: Message, name: str) -> Message:
    """A message that may have taken a step or not: where that gives it another topic, values decide on its topic."""
    problem = f"transform {name} under a condition"
    if after.topic != message.topic:
        return message.routed_by_value(problem)
    return message.doubt(problem, of_topic=after.doubted)


def names_in(text: str) -> Iterator[str]:
    """The items of a list, as Connect writes lists."""
    yield from (item for one in text.split(",") if (item := one.strip()))


def pairs_in(text: str, mark: str = ":") -> Iterator[tuple[str, str]]:
    """The pairs of a list: `a:b,c:d`."""
    for one in names_in(text):
        left, found, right = one.rpartition(mark)
        if found and left.strip() and right.strip():
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
    step = _STEPS.get(simple.partition("$")[0])
    if (simple.endswith(_KEY) and step is not _route_by_field) or simple in _WITHOUT_EFFECT:
        return message
    if step is not None:
        return step(message, own)
    # The class is the vendor's word and no value of a user's.
    problem = f"transform {name} ({simple or 'no type'})"
    return message.doubt(problem, of_topic=simple.partition("$")[0] not in _OF_FIELDS)


def _route(message: Message, own: Settings) -> Message:
    """RegexRouter and ByLogicalTableRouter: a name that the pattern matches as a whole gets another."""
    text = own.get("regex") or own.get("topic.regex") or ""
    replacement = own.get("replacement") if "replacement" in own else own.get("topic.replacement", "")
    if pattern_of(text) is None:
        return message.routed_by_value("pattern of a router")
    topic = route_by_pattern(message.topic, text, replacement or "")
    return replace(message, topic=topic) if topic else message.routed_by_value("replacement of a router")


def route_by_pattern(topic: str, text: str, replacement: str) -> str:
    """The name of a topic after a pattern that matches it as a whole; "" for one that cannot be carried out."""
    pattern = pattern_of(text)
    if pattern is None:
        return ""
    found = pattern.fullmatch(topic)
    return topic if found is None else replacement_for(found, replacement)


def replacement_for(found: re.Match[str], replacement: str) -> str:
    """What a replacement of Java's makes of a match, "" where it names a group that is none."""
    written = _NAMED_GROUP.sub(r"\\g<\1>", _GROUP.sub(r"\\g<\1>", replacement.replace("\\", "\\\\")))
    try:
        return found.expand(written)
    except (re.error, IndexError):
        return ""


def _route_by_field(message: Message, _own: Settings) -> Message:
    """ContentBasedRouter, ExtractTopic: a value of the message is the topic, or decides on it."""
    return message.routed_by_value("a value of the message names the topic")


def _replace_field(message: Message, own: Settings) -> Message:
    fields = message.fields
    fields = fields.without(names_in(own.get("exclude") or own.get("blacklist") or ""))
    if kept := own.get("include") or own.get("whitelist"):
        fields = fields.only(names_in(kept))
    return replace(message, fields=fields.rename(dict(pairs_in(own.get("renames", "")))))


def _cast(message: Message, own: Settings) -> Message:
    names = [name for name, _type in pairs_in(own.get("spec", ""))]
    return replace(message, fields=message.fields.change(names, CHANGED))


def _convert_time(message: Message, own: Settings) -> Message:
    return replace(message, fields=message.fields.change(names_in(own.get("field", "")), CHANGED))


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
    "TopicRegexRouter": _route,
    "ByLogicalTableRouter": _route,
    "ContentBasedRouter": _route_by_field,
    "ExtractTopic": _route_by_field,
    "ExtractTopicFromSchemaName": _route_by_field,
    "ExtractTopicFromValueSchema": _route_by_field,
    "MessageTimestampRouter": _route_by_time,
    "MongoEventRouter": _route_outbox,
    "TimestampRouter": _route_by_time,
    "EventRouter": _route_outbox,
    "ReplaceField": _replace_field,
    "Cast": _cast,
    "TimestampConverter": _convert_time,
    "MaskField": _mask,
    "InsertField": _insert,
    "ExtractNewRecordState": _unwrap,
    "UnwrapFromEnvelope": _unwrap,  # until 0.10
    "TimestampNowField": _headers_to,
    "ExtractNewDocumentState": _unwrap,
    "ExtractField": _extract_field,
    "HeaderFrom": _headers_from,
    "HeaderToValue": _headers_to,
}
"""By the name of the class, without Key and Value."""

_OF_FIELDS = frozenset(
    {"HoistField", "ExtractField", "SetSchemaMetadata", "ConcatFields", "ExtractTimestamp", "ExtractNestedField"}
    | {"ExtractChangedRecordState", "BytesToString", "FromXml", "ChangeCase", "AdjustPrecisionAndScale", "KeyToValue"}
)
"""What is not carried out here and changes fields alone; any other class may give a message another topic."""

_WITHOUT_EFFECT = frozenset(
    {
        "ValueToKey",
        "Filter",
        "InsertHeader",
        "DropHeaders",
        "SetSchemaMetadata$Value",
        "Flatten$Value",
        "Filter$Value",
        "TombstoneHandler",
    }
    | {"PartitionRouting", "TimezoneConverter", "SchemaChangeEventFilter", "ConvertCloudEventToSaveableForm"}
)
"""What changes neither a topic's name nor which column a top-level field is; Flatten takes nested ones apart."""
