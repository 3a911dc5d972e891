"""Which columns of a table are joined with which others, by day."""

from __future__ import annotations

from datetime import date, timedelta

from ingestion.model import Json

PART = "joins"
_DAYS = 30
"""How long the contract has it that a join counts."""


def with_joins(kept: Json | None, given: Json) -> Json:
    """What is known of joins with what is `given` of one day: a count of that day takes the place of an earlier one."""
    days: Json = dict(kept or {})
    of_day: Json = dict(days.get(given["startDate"]) or {})
    pairs = [("", one) for one in given.get("directTableJoins") or ()]
    pairs += [(join["columnName"], one) for join in given.get("columnJoins") or () for one in join["joinedWith"]]
    for column, other in pairs:
        of_day[column] = {**of_day.get(column, {}), other["fullyQualifiedName"]: other["joinCount"]}
    days[given["startDate"]] = of_day
    return {day: days[day] for day in sorted(days) if day > _first_day()}


def answer(kept: Json) -> Json:
    """The joins of the last days as a client reads them, the most frequent first."""
    counts: dict[str, dict[str, int]] = {}
    days = [day for day in sorted(kept) if day > _first_day()]
    for day in days:
        for column, others in kept[day].items():
            for name, times in others.items():
                of_column = counts.setdefault(column, {})
                of_column[name] = of_column.get(name, 0) + times
    lists = {
        column: [
            {"fullyQualifiedName": name, "joinCount": times}
            for name, times in sorted(others.items(), key=lambda item: (-item[1], item[0]))
        ]
        for column, others in sorted(counts.items())
    }
    direct = lists.pop("", [])
    columns = [{"columnName": column, "joinedWith": others} for column, others in lists.items()]
    first = days[0] if days else date.today().isoformat()
    return {"startDate": first, "dayCount": _DAYS, "columnJoins": columns, "directTableJoins": direct}


def _first_day() -> str:
    return (date.today() - timedelta(days=_DAYS)).isoformat()
