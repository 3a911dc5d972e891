"""Which column of an input holds what: a profile put to the columns that are there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo

from connectors.platforms.generic import GENERIC
from connectors.platforms.index import PROFILES
from connectors.platforms.profile import ExportProfile
from connectors.query_log._values import NULLS
from connectors.query_log.log_columns import KEYS, SECONDS_PER_UNIT, LogColumn
from ingestion.arguments import listing, suggestion
from ingestion.errors import ConfigError
from ingestion.model.outcomes import Outcome

# Which column cannot hold the text of statements, whatever it is called.

# numbers, flags, times, and the ids that platforms give to queries: with a digit and without a blank
_NO_TEXT = re.compile(
    r"[-+]?\d[\d.,_eE+-]*|true|false|t|f|y|n|\d{4}-\d\d-\d\d[T ][\d:.]+\s*\S*|(?=\S*\d)[0-9A-Fa-f_-]{8,}|"
    r"(?=[^\s()]*\d)[0-9A-Za-z]+(?:[_-][0-9A-Za-z]+){3,}",
    re.IGNORECASE,
)


def _holds_text(values: Sequence[str]) -> bool:
    """Whether these values may be statements: not where all of them are numbers, flags, times or ids."""
    given = [value for value in values if value not in NULLS]
    return not given or not all(_NO_TEXT.fullmatch(value.strip()) for value in given)


TIME, OUTCOME = "time", "outcome"
_TIMES = frozenset({"start_time", "end_time"})
_ENDS = frozenset({"status", "failure"})
"""Fields of which every column counts that is there: each may tell of a failure."""


# A profile put to the columns that an input has.


@dataclass(frozen=True, slots=True)
class ReadingHints:
    """What is known of a log besides its columns: the service's connection type, the zone of its times, a mapping.

    `profile`: by which it is to be read, and no other.
    """

    connection_type: str | None = None
    zone: tzinfo = UTC
    columns: Mapping[str, LogColumn] = field(default_factory=dict)
    profile: ExportProfile | None = None


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """How an input's columns are read: a record's field to the positions of its columns in `names`.

    Of several the first that holds something counts. `units`: seconds in one unit, by position; `zones` likewise.
    `constants`: what a field is in all records. `mapped`: the fields whose columns the user named. `lacking`: of what
    the exporter can tell, and a run needs of each record, what it leaves out here: TIME, OUTCOME.
    """

    profile: ExportProfile
    names: tuple[str, ...]
    fields: Mapping[str, tuple[int, ...]]
    units: Mapping[int, float] = field(default_factory=dict)
    zone: tzinfo = UTC
    zones: Mapping[int, tzinfo] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    mapped: frozenset[str] = frozenset()
    lacking: tuple[str, ...] = ()

    def position(self, name: str) -> int | None:
        return self.names.index(name) if name in self.names else None

    @property
    def content(self) -> tuple[int, ...]:
        """The positions of the columns that hold what a record says: its text, or the engine's lineage."""
        lineage = self.profile.lineage.columns if self.profile.lineage is not None else ()
        inside = tuple(at for at, name in enumerate(self.names) if name in {one.column for one in self.profile.inside})
        if inside:
            return (*inside, *self.fields.get("text", ()))
        return self.fields.get("text") or tuple(at for at, name in enumerate(self.names) if name in lineage)

    @property
    def used(self) -> tuple[int, ...]:
        """The positions of all columns that are read."""
        read = {position for positions in self.fields.values() for position in positions}
        return tuple(at for at, name in enumerate(self.names) if at in read or name in self.profile.names)


def plain_name(column: str) -> str:
    """A column's name without the accidents of an export: `Query Text`, `queryText`, `QUERY-TEXT` are `query_text`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", column.strip())
    return re.sub(r"[^a-z0-9µ]+", "_", spaced.lower()).strip("_")


def column_reading(names: Sequence[str], samples: Sequence[Sequence[str]], hints: ReadingHints) -> ColumnReading | None:
    """How columns of these `plain_name`s are read; None where none of them holds a text.

    `samples`: some values of each column, which show that a column holds no text. Raises ConfigError where a mapped
    column is not among them, or those are not that the given profile needs.
    """
    if hints.profile is not None:
        return _of_given_profile(hints.profile, names)
    mapped = {name: one for name, one in hints.columns.items() if one.column is not None}
    for name, one in mapped.items():
        _check_mapped(name, one.column or "", names)
    profile = _recognise(frozenset(names), hints.connection_type)
    given, names = len(names), _with_inner_names(profile, names)
    if profile.without_text and not mapped and not _may_have_text(profile, names[:given]):
        raise ConfigError(f"{profile.name}: {profile.without_text}")
    texts = [name for at, name in enumerate(names) if _holds_text(samples[at] if samples and at < given else ())]
    for candidate in (profile,) if profile is GENERIC else (profile, GENERIC):
        fields = _fields(candidate, names, texts)
        fields |= {name: (names.index(plain_name(one.column or "")),) for name, one in mapped.items()}
        if not _tells_something(candidate, fields, names, texts):
            continue
        reading = ColumnReading(candidate, tuple(names), fields, _units(candidate, names, fields), hints.zone)
        reading = _with_mapping(reading, hints.columns)
        _check_shown(reading, samples)
        return replace(reading, lacking=tuple(_lacking(reading)))
    return None


def _may_have_text(profile: ExportProfile, names: Sequence[str]) -> bool:
    return any(name in names for name in profile.columns["text"])


def reading_by(profile: ExportProfile, names: Sequence[str], hints: ReadingHints) -> ColumnReading:
    """How the columns of these `names` are read by a profile of which it is known that it fits."""
    names = _with_inner_names(profile, names)
    fields = _fields(profile, names, names)
    reading = ColumnReading(profile, tuple(names), fields, _units(profile, names, fields), hints.zone)
    return replace(reading, lacking=tuple(_lacking(reading)))


def _with_inner_names(profile: ExportProfile, names: Sequence[str]) -> list[str]:
    """Also those of the fields that some of the columns have in them."""
    prefixes = tuple(one.prefix for one in profile.inside if one.column in names)
    return [*names, *(name for name in profile.names if prefixes and name not in names and name.startswith(prefixes))]


def _check_shown(reading: ColumnReading, samples: Sequence[Sequence[str]]) -> None:
    """Raises ConfigError where the exporter shows none of the texts."""
    withheld = reading.profile.withheld
    positions = [at for at in reading.fields.get("text", ()) if at < len(samples)]
    texts = [value for at in positions for value in samples[at] if value not in NULLS]
    if withheld is not None and texts and all(map(withheld.pattern.fullmatch, texts)):
        raise ConfigError(f"{reading.profile.name} does not show the texts of its statements: {withheld.instead}")


def _of_given_profile(profile: ExportProfile, names: Sequence[str]) -> ColumnReading:
    """What the profile reads of these columns, and nothing that others would take them for."""
    if not any(mark <= set(names) for mark in profile.marks):
        needed = " and ".join(sorted(profile.marks[0]))
        raise ConfigError(f"{profile.name} needs columns such as {needed}; there are {listing(names)}")
    assert profile.lineage is not None
    twice = next((name for name in profile.lineage.columns if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{profile.name}: two columns are called {twice}, and which is meant is not known")
    return ColumnReading(profile, tuple(names), {})


def _lacking(reading: ColumnReading) -> Iterator[str]:
    given, profile = {*reading.fields, *reading.constants}, reading.profile
    if given.isdisjoint(_TIMES) and not profile.columns.keys().isdisjoint(_TIMES):
        yield TIME
    if profile.only_begun:
        yield OUTCOME
        return
    by_column = (name for name, states in profile.states.items() if Outcome.FAILED in states.values())
    if given.isdisjoint(_ENDS) and not profile.only_ran and set(by_column).isdisjoint(reading.names):
        yield OUTCOME


def _tells_something(
    profile: ExportProfile, fields: Mapping[str, tuple[int, ...]], names: Sequence[str], texts: Sequence[str]
) -> bool:
    """Whether there is a text, or lineage where the exporter gives no texts."""
    if "text" not in fields:
        return profile.lineage is not None and "text" not in profile.columns
    return names[fields["text"][0]] in texts


def _check_mapped(name: str, column: str, names: Sequence[str]) -> None:
    if plain_name(column) in names:
        return
    near = suggestion(plain_name(column), names)
    key = f"headwater.queryLogColumns.{KEYS.get(name, name)}"
    raise ConfigError(f"{key}: no column {column}{near}; there are {listing(names)}")


def _with_mapping(reading: ColumnReading, mapping: Mapping[str, LogColumn]) -> ColumnReading:
    units, zones, constants = dict(reading.units), dict(reading.zones), dict(reading.constants)
    fields = dict(reading.fields)
    for name, one in mapping.items():
        if one.column is None:
            fields.pop(name, None)
            constants[name] = one.value or ""
            continue
        position = fields[name][0]
        if one.unit is not None:
            units[position] = one.unit
        if one.zone is not None:
            zones[position] = one.zone
    return replace(reading, fields=fields, units=units, zones=zones, constants=constants, mapped=frozenset(mapping))


def with_unseen(reading: ColumnReading) -> ColumnReading:
    """For records that need not have every column: also those of the exporter that no sample had, after the others."""
    profile = reading.profile
    unseen = GENERIC.columns["failure"] if profile is GENERIC else profile.names
    names = tuple(dict.fromkeys((*reading.names, *unseen)))
    fields = dict(reading.fields)
    for name, columns in profile.columns.items():
        if (
            name not in reading.constants
            and name not in reading.mapped
            and (profile is not GENERIC or name == "failure")
        ):
            positions = tuple(names.index(column) for column in columns)
            fields[name] = tuple(dict.fromkeys((*fields.get(name, ()), *positions)))
    units = {**_units(profile, names, fields), **reading.units}
    return replace(reading, names=names, fields=fields, units=units)


def _recognise(names: frozenset[str], connection_type: str | None) -> ExportProfile:
    """The exporter that some of these columns tell: the service's own, and of several the one with most columns."""
    best, rank = GENERIC, (False, 0)
    for profile in PROFILES:
        own = connection_type in profile.services
        found = (own, len(names.intersection(profile.names)))
        if found > rank and any(mark <= names for mark in (*profile.marks, *(profile.own_marks if own else ()))):
            best, rank = profile, found
    return best


def _fields(profile: ExportProfile, names: Sequence[str], texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    fields: dict[str, tuple[int, ...]] = {}
    for name, columns in profile.columns.items():
        here = [column for column in columns if column in (texts if name == "text" else names)]
        kept = here[:1] if profile is GENERIC and name not in _ENDS else here
        if kept:
            fields[name] = tuple(names.index(column) for column in kept)
    known = {names[position] for positions in fields.values() for position in positions} | set(profile.names)
    for name, aliases in GENERIC.columns.items():
        others = [alias for alias in aliases if alias in names and alias not in known]
        kept = others if name in _ENDS else others[:1]
        if name not in fields and name != "text" and kept:
            fields[name] = tuple(names.index(column) for column in kept)
    for name in ("start_time", "end_time", "duration"):
        if name not in fields and (position := _column_with_unit(name, names, known)) is not None:
            fields[name] = (position,)
    return fields


def _column_with_unit(field: str, names: Sequence[str], known: Collection[str]) -> int | None:
    """A time or duration whose unit is in its column's name: `elapsed_us`, `query_start_time_ms`."""
    stems = [("", "", "") if name in known else name.rpartition("_") for name in names]
    return next(
        (at for at, (stem, _, unit) in enumerate(stems) if stem in GENERIC.columns[field] and _is_unit(unit)), None
    )


def _is_unit(name: str) -> bool:
    return bool(name) and name in SECONDS_PER_UNIT


def _units(profile: ExportProfile, names: Sequence[str], fields: Mapping[str, tuple[int, ...]]) -> dict[int, float]:
    units: dict[int, float] = {}
    for position in {position for positions in fields.values() for position in positions}:
        name = names[position]
        if name in profile.units:
            units[position] = profile.units[name]
    for position in fields.get("duration", ()):
        stem, _, unit = names[position].rpartition("_")
        own = GENERIC.units.get(names[position])
        if position not in units and own is not None and names[position] not in profile.columns.get("duration", ()):
            units[position] = own
        elif position not in units and stem in GENERIC.columns["duration"] and _is_unit(unit):
            units[position] = SECONDS_PER_UNIT[unit]
    return units
